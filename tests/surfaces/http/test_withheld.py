"""What an answer leaves out, and says that it does: what is not for the asker's eyes, and what would be too large."""

import zlib
from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from detent.surfaces.http import ask
from detent.surfaces.http.bodies import INFLATED_MAX
from tests.surfaces.http.serving import Served, served

SECRET = "hunter2"
PRIVATE: dict[str, Any] = {
    "payload": SECRET, "env": {"DBPASS": SECRET}, "context_ptr": f"s3://{SECRET}",
}  # fmt: skip


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path, reconcile_s=None) as one:
        yield one


def failed(service: Served) -> str:
    """A job in which everything that can hold a secret does."""
    job = service.claimed(lifecycle="standard", **PRIVATE)
    who = {"worker": "w1", "attempt": 1}
    service.ask("POST", f"/v1/jobs/{job['id']}/start", who)
    service.ask("POST", f"/v1/jobs/{job['id']}/progress", who | {"progress": {"fraction": 0.5, "message": SECRET}})
    error = {"type": "PermanentError", "message": SECRET}
    assert service.ask("POST", f"/v1/jobs/{job['id']}/fail", who | {"error": error}).status == 200
    job_id: str = job["id"]
    return job_id


def test_who_may_not_read_a_job_learns_nothing_of_what_others_have_put_in(service: Served) -> None:
    job_id = failed(service)
    token = service.new_token("operate", name="ops").text
    asked = [{"verb": "rerun", "job_id": job_id}]
    moments = {"expected": "2030-01-01T00:00:00Z", "next_at": "2030-01-02T00:00:00Z"}
    kept = {"name": "s", "cron": "* * * * *", "kind": "k", "next_at": "2030-01-01T00:00:00Z"}
    service.ask("PUT", "/v1/schedules", {"schedules": [kept]})
    answers = [
        service.ask("POST", "/v1/batch", {"requests": asked}, token=token),
        service.ask("POST", "/v1/schedules/s/advance", {**moments, "requests": asked}, token=token),
        service.ask("POST", f"/v1/jobs/{job_id}/rerun", {}, token=token),
    ]

    assert [SECRET in answer.body.decode() for answer in answers] == [False] * 3
    assert answers[0].said["answers"][0]["job"]["withheld"] == "scope"
    assert SECRET in service.ask("GET", f"/v1/jobs/{job_id}").body.decode()


def test_paced_verdict_is_answered_without_what_was_put_in(service: Served) -> None:
    job = service.job(lifecycle="dispatch", **PRIVATE)
    token = service.new_token("operate", name="ops").text
    asked = {"job_id": job["id"], "verdict": "throttle", "rule": "slow", "expected_rev": 1}
    answer = service.ask("POST", "/v1/paces", {"rule": "slow", "every_s": 1, "requests": [asked]}, token=token)

    assert answer.said["answers"][0]["job"]["state"] == "SCHEDULED"
    assert SECRET not in answer.body.decode()


def test_who_repeats_its_request_sees_what_it_put_in_and_not_what_came_of_it(service: Served) -> None:
    token, key = service.new_token("submit", name="shop").text, {"idempotency-key": "order-7"}
    asked = {"kind": "work", "payload": {"pages": 3}}
    first = service.ask("POST", "/v1/jobs", asked, token=token, headers=key).said
    (taken,) = service.ask("POST", "/v1/claims", {"worker": "w1", "start": True}).said["jobs"]
    done = {"worker": "w1", "attempt": 1, "result": SECRET}
    service.ask("POST", f"/v1/jobs/{taken['id']}/complete", done)
    again = service.ask("POST", "/v1/jobs", asked, token=token, headers=key).said

    assert (first["withheld"], first["payload"]) == (None, {"pages": 3})
    assert (again["id"], again["answer"], again["state"]) == (first["id"], "repeat", "succeeded")
    assert (again["withheld"], again["payload"], again["result"]) == ("scope", {"pages": 3}, None)


@pytest.mark.parametrize("path", ["batch", "claims", "workers", "tree"])
def test_answer_that_would_be_too_large_leaves_values_out_and_says_so(
    service: Served, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setattr(ask, "SHOWN_BYTES_MAX", 100_000)
    parent = service.job("big", payload="x" * 60_000)
    for number in range(4):
        service.job("big", payload="x" * 60_000, job_id=f"j{number}", parent_job_id=parent["id"])
    jobs = answered(service, path, parent["id"])

    kept = [job for job in jobs if job["withheld"] is None]
    assert len(kept) == 1
    assert {job["withheld"] for job in jobs} == {None, "size"}
    assert all(job["payload"] is None for job in jobs if job["withheld"] == "size")
    assert service.ask("GET", f"/v1/jobs/{jobs[-1]['id']}").said["payload"] == "x" * 60_000


def answered(service: Served, path: str, parent: str) -> list[dict[str, Any]]:
    if path == "batch":
        asked = [{"verb": "cancel", "job_id": f"j{number}"} for number in range(4)]
        answers = service.ask("POST", "/v1/batch", {"requests": asked}).said["answers"]
        return [each["job"] for each in answers]
    if path == "tree":
        return [each["job"] for each in service.ask("GET", f"/v1/jobs/{parent}/tree").said["jobs"]]
    jobs: list[dict[str, Any]] = service.ask("POST", "/v1/claims", {"worker": "w1", "limit": 10}).said["jobs"]
    if path == "workers":
        jobs = service.ask("GET", "/v1/workers/w1/jobs").said["jobs"]
    return jobs


@pytest.mark.parametrize("length", [2 * 1_048_576, 20 * 1_048_576])
def test_value_that_inflates_beyond_what_a_value_may_have_is_refused(service: Served, length: int) -> None:
    answer = service.ask("POST", "/v1/jobs", {"kind": "k", "sealed": {"payload": compressed(b'"' + b"0" * length)}})

    assert (answer.status, answer.code) == (413, "value_too_large")
    assert service.ask("GET", "/v1/jobs").said["jobs"] == []


def test_values_of_a_batch_are_inflated_up_to_a_bound_together(service: Served) -> None:
    value = compressed(b'"' + b"0" * 1_000_000 + b'"')
    asked = [
        {"verb": "enqueue", "kind": "k", "sealed": {"payload": value}} for _ in range(INFLATED_MAX // 1_000_000 + 2)
    ]
    answers = service.ask("POST", "/v1/batch", {"requests": asked}).said["answers"]

    codes = [each["problem"]["code"] for each in answers if "problem" in each]
    fitting = INFLATED_MAX // 1_000_002
    assert codes == ["value_too_large"] * (len(asked) - fitting)
    assert len(answers) - len(codes) == fitting


def compressed(text: bytes) -> str:
    return b64encode(b"\0z" + zlib.compress(text)).decode()
