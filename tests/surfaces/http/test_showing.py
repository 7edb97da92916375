"""Secrets in what callers have said are not handed on to whoever reads events; everything else is."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.http.serving import Served, served

SECRETS = ("hunter2", "dt_0123456789abcdef_", "s3cr3t", "p4ss", "m1ne")
MESSAGE = (
    "login failed: password=hunter2, Authorization: Bearer s3cr3t, postgresql://u:p4ss@db/x, my_pin: m1ne, "
    "dt_0123456789abcdef_0123456789012345678901234567890123456789012"
)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, reconcile_s=None, redact=("my_pin",)) as one:
        yield one


def failed(service: Served) -> dict[str, Any]:
    job = service.claimed()
    who = {"worker": "w1", "attempt": 1}
    service.ask("POST", f"/v1/jobs/{job['id']}/start", who)
    error = {"type": "PermanentError", "message": MESSAGE}
    answer = service.ask("POST", f"/v1/jobs/{job['id']}/fail", who | {"error": error, "reason": MESSAGE})
    assert answer.status == 200, answer.body
    late = service.ask("POST", f"/v1/jobs/{job['id']}/complete", who | {"result": {"api_key": "m1ne", "pages": 3}})
    assert late.status == 409
    return job


@pytest.mark.parametrize("path", ["/v1/events", "/v1/events/recent", "/v1/jobs/{id}/events", "/v1/stories"])
def test_events_are_shown_without_secrets(service: Served, path: str) -> None:
    job = failed(service)
    said = service.ask("GET", path.format(id=job["id"])).said
    shown = str(said["events"] if "events" in said else [story["events"] for story in said["stories"]])

    assert "login failed" in shown
    assert [secret for secret in SECRETS if secret in shown] == []


def test_notes_are_shown_without_secrets_and_with_the_rest(service: Served) -> None:
    job = failed(service)
    (note,) = service.ask("GET", f"/v1/jobs/{job['id']}/notes").said["notes"]

    assert note["payload"]["result"] == {"api_key": "[redacted]", "pages": 3}


def test_pointer_of_an_artifact_stays_whole(service: Served) -> None:
    job = service.claimed()
    who = {"worker": "w1", "attempt": 1}
    service.ask("POST", f"/v1/jobs/{job['id']}/start", who)
    pointer = "https://files.example/a?token=abc"
    service.ask("POST", f"/v1/jobs/{job['id']}/artifact", who | {"name": "a", "pointer": pointer})
    (artifact,) = service.ask("GET", f"/v1/jobs/{job['id']}/artifacts").said["artifacts"]

    assert artifact["pointer"] == pointer


def test_record_keeps_what_was_said(service: Served) -> None:
    job = failed(service)

    assert service.ask("GET", f"/v1/jobs/{job['id']}").said["error"]["message"] == MESSAGE


def test_who_asked_is_shown_without_secrets(service: Served) -> None:
    job = service.job()
    said = {"actor": "cron password=hunter2", "request_id": "api_key=m1ne"}
    service.ask("POST", f"/v1/jobs/{job['id']}/cancel", said)
    cancelled = service.ask("GET", f"/v1/jobs/{job['id']}/events").said["events"][-1]

    assert cancelled["actor"] == "cron password=[redacted]"
    assert cancelled["request_id"] == "api_key=[redacted]"
