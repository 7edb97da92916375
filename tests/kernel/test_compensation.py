"""Undoing the work of a job: what is owed, the job that does it, and what its own failure is called."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from msgspec.structs import replace

from detent.errors import Refused
from detent.kernel import Change, Error, Job, decide
from detent.kernel.command import Cancel, Claim, DeadLetter, Expire, Fail, Rerun, Schedule, TimeOut
from detent.kernel.compensating import compensation, is_owed, job_undone_by
from detent.lifecycle import Compensation, Lifecycle, Policy, Retry
from detent.lifecycles import BUILT_IN, CONTRACT, DISPATCH, DOCUMENT, ENGINE, STANDARD
from tests.driving import START, WORKER, Life

SECOND: Final = 1_000_000
UNDO: Final = Compensation(kind="undo")
DECLARED: Final = Policy(timeout_s=20, grace_s=5, retry=Retry.never(), compensate=UNDO)
UNDOING: Final = Policy(timeout_s=20, retry=Retry.never(), is_compensation=True)
FULL: Final[dict[str, Any]] = {
    "payload": b"\x00e sealed", "tenant": "acme", "queue": "slow", "priority": 7, "run_at": START - 5,
    "dedupe_key": "scan:1", "correlation_id": "order-7", "trace_id": "trace-7", "parent_job_id": "job-0",
    "workflow_id": "flow-1", "step_index": 3, "topic": "job.scan", "context_ptr": "s3://in/1", "adapter_id": "gpu",
    "env": {"user_id": "u1"},
}  # fmt: skip

every_lifecycle: Final = pytest.mark.parametrize("lifecycle", BUILT_IN.values(), ids=BUILT_IN)


def running(lifecycle: Lifecycle, **fields: Any) -> Life:
    life = Life(lifecycle, submit=True, **{"policy": DECLARED} | fields)
    if lifecycle is DISPATCH:
        life.do(Schedule(verdict="allow", rule="default"))
    life.claim(start=True)
    return life


def nobody(job_id: str) -> Job | None:
    return None


def undo_of(life: Life, change: Change, lifecycle: Lifecycle = STANDARD) -> Job:
    return compensation(lifecycle, change, life.job).job


# -- what is owed ----------------------------------------------------------------------------------------------------

ENDS: Final[dict[str, Callable[[Life], object]]] = {
    "fails for good": lambda life: life.fail("PermanentError"),
    "uses its attempts up": lambda life: life.fail("TransientError"),
    "is cancelled hard": lambda life: life.do(Cancel(mode="hard")),
    "is set aside by a person": lambda life: life.do(DeadLetter(role="operator")),
    "is set aside by its owner": lambda life: life.do(DeadLetter(**life.as_owner())),
    "runs out of time": lambda life: life.run_out(),
    "does not stop when asked": lambda life: (life.do(Cancel()), life.reconcile()),
    "stops when asked": lambda life: (life.do(Cancel()), life.do(Cancel(**life.as_owner()))),
}


@pytest.mark.requirement("STD-19")
@pytest.mark.parametrize("how", ENDS)
def test_job_that_ran_and_did_not_succeed_is_owed_a_compensation_however_it_ended(how: str) -> None:
    life = running(STANDARD)
    before = is_owed(life.job, nobody)
    ENDS[how](life)

    assert (before, life.job.is_ended) == (False, True)
    assert is_owed(life.job, nobody)


@pytest.mark.requirement("STD-19")
@every_lifecycle
def test_job_of_any_lifecycle_is_owed_one(lifecycle: Lifecycle) -> None:
    life = running(lifecycle)
    life.fail("PermanentError")

    assert is_owed(life.job, nobody)


@pytest.mark.requirement("STD-19")
def test_nothing_is_owed_to_a_job_that_succeeded_never_ran_or_says_nothing_of_it() -> None:
    done = running(STANDARD)
    done.complete()
    silent = running(STANDARD, policy=Policy(retry=Retry.never()))
    silent.fail("PermanentError")
    queued = Life(STANDARD, policy=DECLARED)
    queued.do(Cancel())
    held = Life(STANDARD, policy=DECLARED)
    held.claim()
    held.run_out()

    assert [life.job.is_ended for life in (done, silent, queued, held)] == [True] * 4
    assert [is_owed(life.job, nobody) for life in (done, silent, queued, held)] == [False] * 4


def chain(*, last_runs: bool) -> tuple[Job, Job]:
    """A failed job, and the one that ran it again by itself and ended as well."""
    policy = Policy(rerun_failed=True, retry=Retry(max_attempts=2, base_s=0), compensate=UNDO)
    first = running(ENGINE, policy=policy)
    (again,) = first.fail("TransientError").spawned
    job, now = again.job, first.now + 10 * SECOND
    asked = [Claim(worker=WORKER, start=True), Fail(worker=WORKER, attempt=1, error=Error("TransientError"))]
    for command in asked if last_runs else [Cancel()]:
        change = decide(ENGINE, job, command, now)
        assert isinstance(change, Change)
        job = change.job
    return first.job, job


@pytest.mark.requirement("STD-19")
@pytest.mark.parametrize("last_runs", [True, False])
def test_last_of_a_chain_is_owed_one_if_any_of_it_ran(last_runs: bool) -> None:
    first, last = chain(last_runs=last_runs)

    assert (last.rerun_of, last.is_ended, last.started_at is not None) == (first.id, True, last_runs)
    assert is_owed(last, {first.id: first}.get)
    assert is_owed(last, nobody), "who knows of no first job takes it to have run"


@pytest.mark.requirement("STD-19")
def test_job_that_somebody_ran_again_begins_anew() -> None:
    first = running(STANDARD, policy=replace(DECLARED, retry=Retry(max_attempts=2)))
    first.do(Cancel(mode="hard"))
    again = decide(STANDARD, first.job, Rerun(new_job_id="job-2"), first.now)
    assert isinstance(again, Change)
    job, now = again.job, first.now
    # claimed and lost, never started
    for command in (Claim(worker=WORKER), Expire(role="reconciler"), Cancel(mode="hard")):
        now += 60 * SECOND
        change = decide(STANDARD, job, command, now)
        assert isinstance(change, Change), str(change)
        job = change.job

    assert (job.retries, job.rerun_of, job.is_ended) == (1, "job-1", True)
    assert not is_owed(job, {"job-1": first.job}.get)


# -- the job that undoes it -------------------------------------------------------------------------------------------


@pytest.mark.requirement("STD-19")
def test_compensation_is_given_what_the_job_was_given() -> None:
    life = running(DOCUMENT, **FULL)
    change = life.fail("PermanentError")
    undo = undo_of(life, change)
    same = {name: value for name, value in FULL.items() if name not in ("run_at", "dedupe_key", "parent_job_id")}

    assert {name: getattr(undo.spec, name) for name in same} == same
    assert (undo.spec.parent_job_id, undo.spec.run_at, undo.spec.dedupe_key) == ("job-1", None, None)
    assert (undo.spec.kind, undo.spec.lifecycle, undo.spec.lifecycle_version) == ("undo", "standard", 1)
    assert (undo.state, undo.rev, undo.retries, undo.rerun_of) == ("queued", 1, 0, None)
    assert undo.created_at == life.job.ended_at


@pytest.mark.requirement("STD-19")
def test_compensation_follows_its_own_declaration() -> None:
    own = Policy(lease_s=90, retry=Retry(max_attempts=9))
    declared = Compensation(kind="undo", queue="undoing", lifecycle="document", policy=own)
    life = running(ENGINE, policy=replace(DECLARED, compensate=declared))
    undo = undo_of(life, life.fail("PermanentError"), DOCUMENT)

    assert (undo.spec.queue, undo.spec.lifecycle, undo.state) == ("undoing", "document", "QUEUED")
    assert undo.spec.policy == replace(own, is_compensation=True)


@pytest.mark.requirement("STD-19")
def test_compensation_without_settings_has_those_of_its_lifecycle_and_is_not_undone() -> None:
    careful = replace(STANDARD, version=2, defaults=replace(STANDARD.defaults, compensate=UNDO))
    life = running(STANDARD)
    undo = undo_of(life, life.fail("PermanentError"), careful)

    assert undo.spec.policy == replace(STANDARD.defaults, is_compensation=True)


@pytest.mark.requirement("STD-19")
def test_same_end_names_the_same_compensation() -> None:
    life = running(STANDARD)
    change = life.fail("PermanentError")
    other = running(STANDARD, job_id="job-2")

    assert undo_of(life, change).id == undo_of(life, change).id
    assert undo_of(life, change).id != undo_of(other, other.fail("PermanentError")).id


@pytest.mark.requirement("STD-19")
def test_compensation_says_where_it_comes_from_and_keeps_no_request_of_others() -> None:
    life = running(STANDARD)
    end = Cancel(mode="hard", actor="ops", reason="wrong order", request_id="r-1", trace_id="trace-9")
    (first,) = compensation(STANDARD, life.do(end), life.job).events
    other = running(STANDARD)
    (named,) = compensation(CONTRACT, other.do(end), other.job).events

    assert (first.actor, first.cause, first.trace_id) == ("ops", "compensation of job-1", "trace-9")
    assert (first.request_id, first.worker, first.role) == (None, None, "client")
    assert named.request_id == named.job_id, "where every request has a name, so has this one"


@pytest.mark.requirement("STD-19")
def test_compensation_waits_for_the_end_of_the_lease_unless_the_owner_itself_has_ended_the_job() -> None:
    own, other, late = running(STANDARD), running(STANDARD), running(STANDARD, policy=replace(DECLARED, timeout_s=None))
    lease_ends = other.job.lease_expires_at
    by_owner = undo_of(own, own.fail("PermanentError"))
    by_person = undo_of(other, other.do(Cancel(mode="hard")))
    late.wait(70)
    by_time = undo_of(late, late.reconcile())

    assert (by_owner.claim_at, by_owner.spec.run_at) == (own.now, None)
    assert (by_person.claim_at, by_person.spec.run_at) == (lease_ends, lease_ends)
    assert (by_time.claim_at, by_time.spec.run_at) == (late.now, None)


@pytest.mark.requirement("STD-19")
def test_compensation_undoes_its_parent_and_so_does_one_that_runs_it_again() -> None:
    life = running(STANDARD)
    first = undo_of(life, life.fail("PermanentError"))
    again = replace(first, spec=replace(first.spec, id="again", parent_job_id=first.id), rerun_of=first.id)
    jobs = {job.id: job for job in (life.job, first, again)}

    assert job_undone_by(first, jobs.get) == life.job
    assert job_undone_by(again, jobs.get) == life.job
    assert job_undone_by(again, {life.job.id: life.job}.get) is None, "the first is not there any more"
    assert job_undone_by(first, nobody) is None
    assert job_undone_by(replace(first, rerun_of=first.id), jobs.get) is None, "it goes round in a circle"


# -- a compensation that fails ----------------------------------------------------------------------------------------

FAILURES: Final[dict[str, Callable[[Life], object]]] = {
    "fails": lambda life: life.fail("TransientError"),
    "fails for good": lambda life: life.fail("PermanentError"),
    "runs out of time": lambda life: life.reconcile(),
}


@pytest.mark.requirement("STD-19", "STD-09")
@pytest.mark.parametrize("how", FAILURES)
def test_compensation_that_is_used_up_is_set_aside_as_one(how: str) -> None:
    life = running(STANDARD, policy=UNDOING)
    FAILURES[how](life)

    assert life.job.state == "dead_lettered"
    assert life.job.error is not None
    assert life.job.error.reason_code == "compensation_failed"


@pytest.mark.requirement("STD-19", "STD-09")
def test_lost_compensation_is_set_aside_as_one() -> None:
    life = running(STANDARD, policy=replace(UNDOING, timeout_s=None))
    life.reconcile()

    assert (life.job.state, life.job.crashes) == ("dead_lettered", 1)
    assert life.job.error is not None
    assert life.job.error.reason_code == "compensation_failed"


@pytest.mark.requirement("STD-19")
@pytest.mark.parametrize("how", FAILURES)
@pytest.mark.parametrize("lifecycle", [DISPATCH, ENGINE, DOCUMENT], ids=lambda lifecycle: lifecycle.name)
def test_where_nothing_is_set_aside_it_fails_for_that_reason(lifecycle: Lifecycle, how: str) -> None:
    life = running(lifecycle, policy=UNDOING)
    FAILURES[how](life)

    assert life.job.outcome == "failure"
    assert life.job.error is not None
    assert life.job.error.reason_code == "compensation_failed"


@pytest.mark.requirement("STD-19", "STD-06")
@pytest.mark.parametrize("error", ["TransientError", "PermanentError"])
def test_compensation_fails_where_its_policy_says_so(error: str) -> None:
    life = running(STANDARD, policy=replace(UNDOING, retry=Retry(max_attempts=1, used_up="fail")))
    life.fail(error)

    assert life.job.state == "failed"
    assert life.job.error is not None
    assert life.job.error.reason_code == "compensation_failed"


@pytest.mark.requirement("STD-19")
def test_compensation_is_tried_as_often_as_its_policy_says() -> None:
    life = running(STANDARD, policy=replace(UNDOING, retry=Retry(max_attempts=2, base_s=0)))
    life.fail("TransientError")
    first = life.job.state
    life.claim(start=True)
    life.fail("TransientError")

    assert (first, life.job.state) == ("queued", "dead_lettered")


@pytest.mark.requirement("STD-19", "ENG-11")
@pytest.mark.parametrize("how", ["fails", "runs out of time"])
def test_compensation_that_is_run_again_by_itself_has_not_failed_yet(how: str) -> None:
    retry = Retry(max_attempts=2, base_s=0, by_error={"TimedOut": Retry(max_attempts=2)})
    life = running(ENGINE, policy=replace(UNDOING, rerun_failed=True, retry=retry))
    FAILURES[how](life)

    assert len(life.spawned) == 1
    assert life.job.error is not None
    assert life.job.error.reason_code != "compensation_failed"
    assert life.spawned[0].job.spec.policy.is_compensation


@pytest.mark.requirement("STD-19")
def test_compensation_that_somebody_stops_or_sets_aside_says_what_they_said() -> None:
    stopped, aside = running(STANDARD, policy=UNDOING), running(STANDARD, policy=UNDOING)
    stopped.do(Cancel(mode="hard"))
    aside.do(DeadLetter(role="operator", reason_code="parse_error"))

    assert (stopped.job.state, stopped.job.error) == ("cancelled", None)
    assert aside.job.error is not None
    assert aside.job.error.reason_code == "parse_error"


@pytest.mark.requirement("STD-19")
def test_late_word_of_a_worker_makes_no_second_end() -> None:
    life = running(STANDARD)
    fence = life.as_owner()
    life.do(Cancel(mode="hard"))
    late = life.ask(Fail(**fence | {"expected_rev": None}, error=Error("PermanentError")))
    timed_out = life.ask(TimeOut(role="reconciler"))

    assert [isinstance(answer, Refused) for answer in (late, timed_out)] == [True, True]
