"""The requests and results of `dispatch`, and the telemetry of `engine`, over HTTP, each from whom it is for."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.surfaces.http.serving import Served, served

REQUEST: dict[str, Any] = {
    "job_id": "chat-1", "topic": "job.chat.simple", "priority": "interactive", "context_ptr": "s3://b/../c?x=file://",
    "adapter_id": "gpu", "env": {"user_id": "u1"}, "parent_job_id": "p", "workflow_id": "wf", "step_index": 2,
}  # fmt: skip


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Served]:
    """One for each test: they choose their own ids."""
    with served(tmp_path, reconcile_s=None) as one:
        yield one


def requested(service: Served, job_id: str, **fields: Any) -> dict[str, Any]:
    """A job of `dispatch` that may run."""
    made = service.ask("POST", "/v1/job-requests", REQUEST | {"job_id": job_id} | fields)
    assert made.status == 200, made.body
    allowed = service.ask("POST", f"/v1/jobs/{job_id}/schedule", {"verdict": "allow", "rule": "default"})
    assert allowed.status == 200, allowed.body
    job: dict[str, Any] = allowed.said
    return job


def dispatched(service: Served, job_id: str, worker: str = "pool-1") -> dict[str, Any]:
    requested(service, job_id)
    taken = service.ask("POST", "/v1/claims", {"worker": worker, "queues": ["job.chat.simple"], "adapters": ["gpu"]})
    (job,) = taken.said["jobs"]
    return dict(job)


def reported(service: Served, job_id: str, status: str, **fields: Any) -> Any:
    said = {"job_id": job_id, "status": status, "worker_id": "pool-1"} | fields
    return service.ask("POST", "/v1/job-results", said)


@pytest.mark.requirement("DSP-01")
def test_job_request_becomes_a_pending_job_with_all_its_fields(service: Served) -> None:
    job = service.ask("POST", "/v1/job-requests", REQUEST).said

    assert (job["state"], job["lifecycle"], job["queue"], job["priority"]) == (
        "PENDING",
        "dispatch",
        "job.chat.simple",
        10,
    )
    kept = {name: job[name] for name in REQUEST if name not in ("job_id", "priority")}
    assert kept == {name: value for name, value in REQUEST.items() if name not in ("job_id", "priority")}


@pytest.mark.requirement("DSP-01")
def test_job_id_is_taken_once(service: Served) -> None:
    service.ask("POST", "/v1/job-requests", REQUEST)
    again = service.ask("POST", "/v1/job-requests", REQUEST)
    other = service.ask("POST", "/v1/job-requests", REQUEST | {"topic": "job.other"})

    assert (again.status, again.said["answer"]) == (200, "unchanged")
    assert (other.status, other.code) == (409, "job_exists")


@pytest.mark.requirement("DSP-02")
@pytest.mark.parametrize(
    ("status", "said", "state"),
    [
        ("SUCCEEDED", {"result_ptr": "s3://r", "execution_ms": 12}, "SUCCEEDED"),
        ("FAILED", {"error_code": "E7", "error_message": "no luck", "execution_ms": 3}, "FAILED"),
        ("RUNNING", {}, "RUNNING"),
        ("CANCELLED", {"error_message": "not wanted"}, "CANCELLED"),
    ],
)
def test_job_result_moves_the_job_and_is_told_back(
    service: Served, status: str, said: dict[str, Any], state: str
) -> None:
    dispatched(service, "j")
    answer = reported(service, "j", status, **said)
    told = service.ask("GET", "/v1/jobs/j/result").said

    assert (answer.status, answer.said["state"]) == (200, state)
    assert (told["job_id"], told["status"]) == ("j", state)
    kept = {name: value for name, value in said.items() if status != "CANCELLED"}
    assert {name: told.get(name) for name in kept} == kept


@pytest.mark.requirement("DSP-03")
def test_each_verb_is_for_its_own_actor_only(service: Served) -> None:
    tokens = {scope: service.new_token(scope, name=scope).text for scope in ("submit", "work", "operate")}
    allow = {"verdict": "allow", "rule": "default"}
    refused = [
        service.ask("POST", "/v1/job-requests", REQUEST, token=tokens["work"]),
        service.ask("POST", "/v1/job-requests", REQUEST, token=tokens["operate"]),
    ]
    assert service.ask("POST", "/v1/job-requests", REQUEST, token=tokens["submit"]).status == 200
    others = ("submit", "work")
    refused += [service.ask("POST", "/v1/jobs/chat-1/schedule", allow, token=tokens[scope]) for scope in others]
    assert service.ask("POST", "/v1/jobs/chat-1/schedule", allow, token=tokens["operate"]).status == 200
    claim = {"queues": ["job.chat.simple"], "adapters": ["gpu"]}
    others = ("submit", "operate")
    refused += [service.ask("POST", "/v1/claims", claim, token=tokens[scope]) for scope in others]
    assert len(service.ask("POST", "/v1/claims", claim, token=tokens["work"]).said["jobs"]) == 1
    result = {"job_id": "chat-1", "status": "SUCCEEDED", "worker_id": "work"}
    refused += [service.ask("POST", "/v1/job-results", result, token=tokens[scope]) for scope in others]
    timeout = service.ask("POST", "/v1/job-results", result | {"status": "TIMEOUT"}, token=tokens["work"])

    assert {(each.status, each.code) for each in refused} <= {(403, "scope_missing"), (403, "worker_denied")}
    assert (timeout.status, timeout.code) == (403, "role_denied")
    events = service.ask("GET", "/v1/jobs/chat-1/events").said["events"]
    assert [(each["verb"], each["role"], each["actor"]) for each in events] == [
        ("enqueue", "gateway", "submit"),
        ("schedule", "scheduler", "operate"),
        ("claim", "worker", "work"),
    ]


@pytest.mark.requirement("DSP-04")
def test_priorities_have_names_and_go_in_their_order(service: Served) -> None:
    for name in ("batch", "interactive", "critical"):
        service.job(job_id=name, priority=name)
    taken = service.ask("POST", "/v1/claims", {"worker": "w", "limit": 3}).said["jobs"]

    assert [job["id"] for job in taken] == ["critical", "interactive", "batch"]


@pytest.mark.requirement("DSP-05")
def test_request_for_the_state_it_is_in_succeeds_and_writes_nothing(service: Served) -> None:
    dispatched(service, "j")
    first = reported(service, "j", "SUCCEEDED", result_ptr="s3://r")
    again = reported(service, "j", "SUCCEEDED", result_ptr="s3://r")
    back = reported(service, "j", "RUNNING")

    assert (again.status, again.said["answer"], again.said["rev"]) == (200, "unchanged", first.said["rev"])
    assert (back.status, back.code, back.said["state"]) == (409, "illegal_move", "SUCCEEDED")


@pytest.mark.requirement("DSP-06")
def test_result_for_an_ended_job_is_noted_and_overwrites_nothing(service: Served) -> None:
    dispatched(service, "j")
    ended = service.ask("POST", "/v1/jobs/j/cancel", {"mode": "hard"}).said
    late = reported(service, "j", "SUCCEEDED", result_ptr="s3://late")
    notes = service.ask("GET", "/v1/jobs/j/notes").said["notes"]

    assert (late.status, late.code) == (409, "illegal_move")
    assert [(each["kind"], each["payload"]["result_ptr"]) for each in notes] == [("late_result", "s3://late")]
    assert service.ask("GET", "/v1/jobs/j").said["rev"] == ended["rev"]


def engine_job(service: Served, job_id: str) -> dict[str, Any]:
    return service.job(kind="build", lifecycle="engine", job_id=job_id, queue="engines", env={"user_id": "u1"})


def engine_run(service: Served, job_id: str, *, ends: str) -> None:
    """Taken, run with progress, and ended one way or the other."""
    who = {"worker": "e1", "attempt": 1}
    (taken,) = service.ask("POST", "/v1/claims", {"worker": "e1", "queues": ["engines"]}).said["jobs"]
    assert taken["id"] == job_id
    for verb, said in (("start", {}), ("progress", {"progress": {"fraction": 0.5}}), (ends, ENDS[ends])):
        answer = service.ask("POST", f"/v1/jobs/{job_id}/{verb}", who | said)
        assert answer.status == 200, answer.body


ENDS: dict[str, dict[str, Any]] = {
    "complete": {"result": {"scene": 1}},
    "fail": {"error": {"type": "PermanentError", "message": "bad reference", "category": "engine"}},
}


@pytest.mark.requirement("ENG-05")
def test_telemetry_of_an_engine_job_has_its_names_and_fields(service: Served) -> None:
    engine_job(service, "good")
    engine_run(service, "good", ends="complete")
    told = service.ask("GET", "/v1/jobs/good/telemetry").said["telemetry"]

    names = [each["name"] for each in told]
    assert names == ["JOB_QUEUED", "JOB_DISPATCHED", "JOB_RUNNING", "JOB_PROGRESS", "JOB_COMPLETED"]
    fields = [set(each["data"]) for each in told]
    assert fields == [
        {"jobId", "jobType", "userId", "queuedAt"},
        {"jobId", "engineId", "dispatchedAt"},
        {"jobId", "engineId", "startedAt"},
        {"jobId", "progress"},
        {"jobId", "engineId", "completedAt", "duration"},
    ]
    assert told[3]["data"]["progress"] == 50


@pytest.mark.requirement("ENG-03", "ENG-05")
def test_every_engine_job_is_queued_once_and_ends_once_and_no_failure_is_silent(service: Served) -> None:
    ways = ["complete", "fail"] * 5
    for number, ends in enumerate(ways):
        engine_job(service, f"e{number}")
        engine_run(service, f"e{number}", ends=ends)
    events = service.ask("GET", "/v1/events?kind=build&limit=1000").said["events"]
    metrics = service.ask("GET", "/metrics").body.decode()

    by_job = {f"e{number}": Counter[str]() for number in range(len(ways))}
    for event in events:
        by_job[event["job_id"]][event["type"]] += 1
    for number, ends in enumerate(ways):
        counts = by_job[f"e{number}"]
        assert counts["JOB_QUEUED"] == 1
        assert (counts["JOB_COMPLETED"], counts["JOB_FAILED"]) == ((1, 0) if ends == "complete" else (0, 1))
    reasons = [event["payload"]["error"]["message"] for event in events if event["type"] == "JOB_FAILED"]
    assert reasons == ["bad reference"] * 5
    assert 'detent_failures_total{kind="build",error="PermanentError"} 5' in metrics


def test_words_of_one_lifecycle_are_not_for_jobs_of_another(service: Served) -> None:
    job = service.job()

    assert service.ask("GET", f"/v1/jobs/{job['id']}/telemetry").code == "wrong_lifecycle"
    assert service.ask("GET", f"/v1/jobs/{job['id']}/result").code == "wrong_lifecycle"
    assert reported(service, job["id"], "SUCCEEDED").code == "wrong_lifecycle"
