"""Whether the service lives, whether it can work, and who it takes the asker for."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from detent.surfaces.http.readiness import Readiness
from tests.surfaces.http.serving import Served, served


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, reconcile_s=None) as one:
        yield one


def test_service_is_ready_as_long_as_its_store_is_there(service: Served, tmp_path: Path) -> None:
    before = service.ask("GET", "/readyz", token=None)
    for each in tmp_path.glob("jobs.db*"):
        each.unlink()
    service.service.readiness = Readiness(service.service.probe)  # what was said last is kept for a second
    after = service.ask("GET", "/readyz", token=None)

    assert (before.status, before.said) == (200, {"status": "ready"})
    assert (after.status, after.code) == (503, "not_ready")
    assert service.ask("GET", "/healthz", token=None).status == 200


@pytest.mark.parametrize("is_for_any", [False, True])
def test_session_tells_when_the_token_ends(service: Served, is_for_any: bool) -> None:
    made = service.new_token("admin", expires_s=3_600, any_tenant=is_for_any)
    said = service.ask("GET", "/v1/session", token=made.text).said
    ends = datetime.fromisoformat(said["expires_at"])

    assert ends == made.token.expires_at
    assert timedelta(minutes=59) < ends - datetime.now(UTC) <= timedelta(hours=1)
    assert (said["is_any_tenant"], said["scopes"]) == (is_for_any, ["admin"])


def test_trouble_of_the_store_is_told_without_its_place(
    service: Served, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for each in tmp_path.glob("jobs.db*"):
        each.unlink()
    answer = service.ask("POST", "/v1/jobs", {"kind": "k"})

    assert (answer.status, answer.code) == (503, "store_moved")
    assert str(tmp_path) not in answer.body.decode()
    service.until(lambda: str(tmp_path) in caplog.text)


def test_slip_in_a_word_from_a_closed_set_is_refused(service: Served) -> None:
    for query in ("outcome=falure", "phase=redy"):
        assert service.ask("GET", f"/v1/jobs?{query}").code == "invalid_argument"
