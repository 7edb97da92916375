"""What verbs return: every documented attribute, of its type, exact to the microsecond."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from detent import Policy
from detent.client import Event, Job, Note
from detent.errors import Refused
from detent.kernel import Error
from detent.kernel.job import Progress
from tests.client.world import NOW, World

NOW_AS_MOMENT = datetime(2025, 2, 1, 16, 0, 0, 123456, tzinfo=UTC)
JOB: dict[str, Any] = {
    "id": str, "tenant": str, "kind": str, "lifecycle": str, "lifecycle_version": int, "policy": Policy, "queue": str,
    "priority": int, "run_at": datetime, "dedupe_key": str, "correlation_id": str, "trace_id": str,
    "parent_job_id": str, "workflow_id": str, "step_index": int, "topic": str, "context_ptr": str, "adapter_id": str,
    "env": dict, "state": str, "phase": str, "rev": int, "attempt": int, "failures": int, "crashes": int,
    "interruptions": int, "retries": int, "is_ended": bool, "is_cancel_requested": bool, "created_at": datetime,
    "updated_at": datetime, "answer": str,
}  # fmt: skip
WHILE_LEASED: dict[str, Any] = {
    "owner": str, "lease_s": float, "lease_expires_at": datetime, "heartbeat_by": datetime, "wake_at": datetime,
    "deadline_at": datetime, "claimed_at": datetime, "started_at": datetime, "progress": Progress,
    "cancel_by": datetime,
}  # fmt: skip
EVENT: dict[str, Any] = {
    "id": str, "tenant": str, "job_id": str, "rev": int, "type": str, "verb": str, "from_state": str, "to_state": str,
    "at": datetime, "actor": str, "role": str, "worker": str, "attempt": int, "request_id": str, "correlation_id": str,
    "trace_id": str, "cause": str, "changes": dict, "payload": dict, "version": int,
}  # fmt: skip
NOTE: dict[str, Any] = {
    "tenant": str, "job_id": str, "rev": int, "kind": str, "type": str, "at": datetime, "actor": str, "payload": dict,
}  # fmt: skip


def full(world: World) -> Job:
    """A job with everything that can be said when it is made."""
    return world.blocking.enqueue(
        "scan", {"path": "a.pdf"}, job_id="a", request_id="r", dedupe_key="d", priority=5,
        run_at=NOW_AS_MOMENT - timedelta(microseconds=1), policy=Policy(timeout_s=100.0), correlation_id="c",
        trace_id="t", parent_job_id="p", workflow_id="f", step_index=2, topic="job.scan", context_ptr="s3://bucket/key",
        adapter_id="gpu", env={"USER": "ann"}, actor="ann",
    )  # fmt: skip


def running(world: World) -> Job:
    full(world)
    world.blocking.claim(worker="w", start=True)
    return world.blocking.renew("a", worker="w", attempt=1, progress=0.5)


@pytest.mark.parametrize(("name", "kind"), JOB.items())
def test_job_has_what_was_said_when_it_was_made(fresh: World, name: str, kind: type) -> None:
    job = full(fresh)

    assert type(getattr(job, name)) is kind
    assert getattr(fresh.blocking.get("a"), name) == getattr(job, name)


@pytest.mark.parametrize(("name", "kind"), WHILE_LEASED.items())
def test_leased_job_shows_its_lease(fresh: World, name: str, kind: type) -> None:
    running(fresh)
    job = fresh.blocking.request_cancel("a")

    assert type(getattr(job, name)) is kind
    assert getattr(fresh.blocking.get("a"), name) == getattr(job, name)


@pytest.mark.parametrize("name", sorted({*JOB, *WHILE_LEASED}))
def test_every_moment_has_a_zone(fresh: World, name: str) -> None:
    running(fresh)

    value = getattr(fresh.blocking.request_cancel("a"), name)

    assert not isinstance(value, datetime) or value.utcoffset() == timedelta(0)


def test_job_that_has_not_begun_shows_nothing_of_a_lease(fresh: World) -> None:
    job = fresh.blocking.enqueue("scan")

    assert {name: getattr(job, name) for name in WHILE_LEASED} == dict.fromkeys(WHILE_LEASED)
    assert (job.result, job.checkpoint, job.error, job.last_error, job.ended_at) == (None, None, None, None, None)
    assert (job.last_owner, job.last_lease_expires_at, job.rerun_of, job.verdict, job.rule) == (None,) * 5


def test_failed_job_shows_its_error(fresh: World) -> None:
    running(fresh)

    job = fresh.blocking.fail("a", worker="w", attempt=1, error={"type": "PermanentError", "message": "no"})

    assert isinstance(job.error, Error)
    assert (job.error.type, job.error.message, job.last_error) == ("PermanentError", "no", job.error)
    assert (job.last_owner, job.ended_at, job.is_ended) == ("w", NOW_AS_MOMENT, True)
    assert job.last_lease_expires_at == NOW_AS_MOMENT + timedelta(seconds=60)


def test_rerun_names_what_it_runs_again(fresh: World) -> None:
    fresh.prepare("ended")

    job = fresh.blocking.rerun("ended")

    assert (job.rerun_of, job.parent_job_id) == ("ended", "ended")


@pytest.mark.parametrize("micros", [0, 1, 999_999, 1_738_425_600_000_001, 253_402_300_799_999_999])
def test_moments_are_exact_to_the_microsecond(fresh: World, micros: int) -> None:
    moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=micros)

    job = fresh.blocking.enqueue("scan", run_at=moment)

    assert job.run_at == moment
    assert job.record.spec.run_at == micros


def test_moment_in_another_zone_is_the_same_moment(fresh: World) -> None:
    moment = datetime(2025, 6, 1, 12, tzinfo=timezone(timedelta(hours=5, minutes=45)))

    assert fresh.blocking.enqueue("scan", run_at=moment).run_at == moment


def test_moment_after_the_last_year_can_still_be_looked_at(fresh: World) -> None:
    """Due at the end of time, and with a time limit after that: every attribute must have an answer."""
    job = fresh.blocking.enqueue("scan", lifecycle="engine", run_at=datetime.max.replace(tzinfo=UTC))

    shown = {name: getattr(job, name) for name in ("run_at", "due_at", "claim_at", "deadline_at", "wake_at")}

    assert shown["run_at"] == datetime.max.replace(tzinfo=UTC)


def test_store_s_clock_is_what_moments_come_from(fresh: World) -> None:
    job = fresh.blocking.enqueue("scan")

    assert (job.created_at, job.updated_at) == (NOW_AS_MOMENT, NOW_AS_MOMENT)
    assert job.record.created_at == NOW


@pytest.mark.requirement("ALL-11")
@pytest.mark.parametrize(("name", "kind"), EVENT.items())
def test_event_has_every_field(fresh: World, name: str, kind: type) -> None:
    running(fresh)
    fresh.blocking.fail(
        "a", worker="w", attempt=1, request_id="r2", trace_id="t2", error={"type": "PermanentError", "message": "no"}
    )

    event = fresh.blocking.history("a")[-1]

    assert type(getattr(event, name)) is kind


def test_event_of_a_listing_has_a_cursor_and_one_of_a_history_none(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="a")

    assert isinstance(fresh.blocking.events().items[0].cursor, str)
    assert fresh.blocking.history("a")[0].cursor is None


@pytest.mark.parametrize(("name", "kind"), NOTE.items())
def test_note_has_every_field(fresh: World, name: str, kind: type) -> None:
    fresh.prepare("running")
    fresh.blocking.progress("running", 0.25, "a quarter", worker="w", attempt=1)

    (note,) = fresh.blocking.notes("running")

    assert type(getattr(note, name)) is kind


def test_views_of_the_same_record_are_equal(fresh: World) -> None:
    job = fresh.blocking.enqueue("scan", job_id="a")

    same, (event,) = fresh.blocking.get("a"), fresh.blocking.history("a")
    other = fresh.blocking.enqueue("scan", job_id="b")

    assert job == same
    assert job != other
    assert event == fresh.blocking.history("a")[0]
    assert job != event
    assert job != "a"


def test_views_that_are_equal_have_one_hash(fresh: World) -> None:
    job = fresh.blocking.enqueue("scan", job_id="a", env={"USER": "ann"})

    assert hash(job) == hash(fresh.blocking.get("a"))
    assert len({job, fresh.blocking.get("a")}) == 1
    assert len({*fresh.blocking.history("a"), *fresh.blocking.history("a")}) == 1


def test_what_is_printed_says_what_it_is(fresh: World) -> None:
    fresh.prepare("running")
    fresh.blocking.progress("running", 0.5, worker="w", attempt=1)

    job, event = fresh.blocking.get("running"), fresh.blocking.history("running")[1]
    (note,) = fresh.blocking.notes("running")

    assert repr(job) == "<Job running 'running' rev=3 attempt=1>"
    assert repr(event) == "<Event default:running:2 job_claimed queued → assigned>"
    assert repr(note) == "<Note progress on running at rev 3>"
    assert (type(job), type(event), type(note)) == (Job, Event, Note)


def test_answer_says_how_a_request_was_answered(fresh: World) -> None:
    applied = fresh.blocking.enqueue("scan", job_id="a", request_id="r", dedupe_key="d")
    repeat = fresh.blocking.enqueue("scan", job_id="a", request_id="r", dedupe_key="d")
    duplicate = fresh.blocking.enqueue("scan", dedupe_key="d")
    fresh.blocking.claim(worker="w", start=True)
    noted = fresh.blocking.progress("a", 0.5, worker="w", attempt=1)
    fresh.blocking.request_cancel("a")
    unchanged = fresh.blocking.request_cancel("a")

    answers = [job.answer for job in (applied, repeat, duplicate, noted, unchanged)]

    assert answers == ["applied", "repeat", "duplicate", "noted", "unchanged"]
    assert {job.id for job in (applied, repeat, duplicate, noted, unchanged)} == {"a"}


def test_view_cannot_be_changed(fresh: World) -> None:
    job = fresh.blocking.enqueue("scan")

    with pytest.raises(AttributeError):
        job.state = "succeeded"
    with pytest.raises(AttributeError):
        job.rev = 5


def test_refusal_carries_state_and_what_is_allowed(fresh: World) -> None:
    fresh.prepare("ended", "held")

    with pytest.raises(Refused) as ended:
        fresh.blocking.cancel("ended")
    with pytest.raises(Refused) as held:
        fresh.blocking.complete("held", worker="w", attempt=1)

    assert (ended.value.state, ended.value.allowed, ended.value.job_id) == ("succeeded", (), "ended")
    assert held.value.state == "assigned"
    assert "start" in held.value.allowed


@pytest.mark.parametrize(
    "message", ["x" * 10_000, "a\0b", "half of a pair: \ud800"], ids=["long", "with a NUL", "with a lone surrogate"]
)
def test_any_exception_can_be_reported_as_a_failure(fresh: World, message: str) -> None:
    """A worker cannot choose what its handlers raise; what does not fit the record is cut, not refused."""
    fresh.prepare("running")

    job = fresh.blocking.fail("running", worker="w", attempt=1, error=ValueError(message))

    assert job.last_error is not None
    assert job.last_error.type == "ValueError"
