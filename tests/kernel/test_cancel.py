"""Stopping a job: asked to stop it has a grace and never goes back to the queue; told to stop it stops at once."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from detent.audit import check_job
from detent.errors import Refused
from detent.kernel import Change, Error
from detent.kernel.command import Cancel, Command, Release, Renew, RequestCancel, Schedule, Stall
from detent.kernel.command import Retry as RetryCommand
from detent.kernel.job import Progress
from detent.lifecycle import Lifecycle, Policy, State, move
from detent.lifecycles import BUILT_IN, CONTRACT, DISPATCH, DOCUMENT, ENGINE, STANDARD
from detent.wire.document import metadata_of
from tests.chance import examples
from tests.driving import WORKER, Life, Step, live, steps

SECOND = 1_000_000
GRACE_S = 30  # shorter than it takes to miss two heartbeats, longer than the limit of engine's `dispatched`

# A user's lifecycle in which a lost job stalls and which, unlike `contract`, can be cancelled.
STALLING: Final = replace(
    CONTRACT,
    name="stalling",
    states=(*CONTRACT.states, State("withdrawn", "ended", "cancelled")),
    moves=(*CONTRACT.moves, move("queued, claimed, running, stalled", "cancel", "withdrawn", by="client")),
)
CANCELLABLE: Final = [STANDARD, DISPATCH, ENGINE, DOCUMENT, STALLING]
ENDS: Final = {
    "standard": "cancelled", "dispatch": "CANCELLED", "engine": "failed", "document": "FAILED", "stalling": "withdrawn",
}  # fmt: skip
HAS_HELD: Final = [STANDARD, DISPATCH, ENGINE, STALLING]

every_cancellable: Final = pytest.mark.parametrize("lifecycle", CANCELLABLE, ids=lambda lifecycle: lifecycle.name)


def ready(lifecycle: Lifecycle, **fields: Any) -> Life:
    life = Life(lifecycle, submit=True, **fields)
    if lifecycle is DISPATCH:
        life.do(Schedule(verdict="allow", rule="default"))
    return life


def held(lifecycle: Lifecycle, **fields: Any) -> Life:
    life = ready(lifecycle, **fields)
    life.claim()
    return life


def running(lifecycle: Lifecycle, **fields: Any) -> Life:
    life = ready(lifecycle, **fields)
    life.claim(start=True)
    return life


def asked_to_stop(life: Life) -> Life:
    life.do(soft(life))
    return life


def soft(life: Life, **fields: Any) -> Cancel:
    return Cancel(mode="soft", expected_rev=life.job.rev, **fields)


def hard(life: Life, **fields: Any) -> Cancel:
    return Cancel(mode="hard", expected_rev=life.job.rev, **fields)


def by_reconciler(life: Life) -> Cancel:
    return Cancel(role="reconciler", expected_rev=life.job.rev)


def is_cancelled(life: Life) -> bool:
    """Ended where this lifecycle's cancelled jobs end, by that verb, and without a flaw in its history."""
    was_cancelled = (life.job.state, life.events[-1].verb) == (ENDS[life.lifecycle.name], "cancel")
    return was_cancelled and check_job(life.lifecycle, life.job, life.events) == []


# -- asking ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-17")
@every_cancellable
@pytest.mark.parametrize("begin", [held, running])
def test_soft_cancel_of_a_leased_job_leaves_word_for_its_owner(
    lifecycle: Lifecycle, begin: Callable[[Lifecycle], Life]
) -> None:
    life = begin(lifecycle)
    before = life.job
    change = life.do(soft(life))

    [event] = change.events
    assert (event.verb, event.from_state, event.to_state) == ("request_cancel", before.state, before.state)
    assert life.job.cancel_by == life.now + GRACE_S * SECOND
    assert (life.job.owner, life.job.attempt, life.job.rev) == (WORKER, before.attempt, before.rev + 1)
    assert life.job.lease_expires_at == before.lease_expires_at
    assert check_job(lifecycle, life.job, life.events) == []


@pytest.mark.requirement("ALL-17")
@every_cancellable
def test_request_cancel_is_the_same_as_a_soft_cancel(lifecycle: Lifecycle) -> None:
    asked, told = running(lifecycle), running(lifecycle)
    asked.do(RequestCancel(expected_rev=asked.job.rev))
    told.do(soft(told))

    assert asked.job == told.job
    assert asked.events == told.events


@pytest.mark.requirement("ALL-17")
@every_cancellable
@pytest.mark.parametrize("second", [soft, lambda life: RequestCancel(expected_rev=life.job.rev)])
def test_second_request_writes_nothing(lifecycle: Lifecycle, second: Callable[[Life], Command]) -> None:
    life = asked_to_stop(running(lifecycle))
    before = life.job
    life.wait(5)
    change = life.do(second(life))

    assert (change.answer, change.events, change.notes) == ("unchanged", (), ())
    assert life.job == before


@pytest.mark.requirement("ALL-17")
@pytest.mark.parametrize("grace_s", [0, 7.5, 600])
def test_grace_is_what_the_policy_says(grace_s: float) -> None:
    life = asked_to_stop(running(STANDARD, policy=Policy(grace_s=grace_s)))

    assert life.job.cancel_by == life.now + grace_s * SECOND


@pytest.mark.requirement("ALL-17")
@pytest.mark.parametrize("lifecycle", [DISPATCH, ENGINE, DOCUMENT, STALLING], ids=lambda lifecycle: lifecycle.name)
def test_only_who_may_cancel_may_ask(lifecycle: Lifecycle) -> None:
    life = running(lifecycle)
    before = life.job
    answers = [life.ask(RequestCancel(role=role, expected_rev=life.job.rev)) for role in ("scheduler", "policy")]

    assert [answer.code for answer in answers if isinstance(answer, Refused)] == ["wrong_actor", "wrong_actor"]
    assert life.job == before


# -- what stays possible ---------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-17")
@pytest.mark.parametrize("lifecycle", HAS_HELD, ids=lambda lifecycle: lifecycle.name)
def test_job_asked_to_stop_may_still_start(lifecycle: Lifecycle) -> None:
    life = asked_to_stop(held(lifecycle))
    cancel_by = life.job.cancel_by
    life.start()

    assert (life.job.phase, life.job.cancel_by) == ("active", cancel_by)


@pytest.mark.requirement("ALL-17")
@every_cancellable
def test_job_asked_to_stop_may_still_renew_and_its_grace_gets_no_longer(lifecycle: Lifecycle) -> None:
    life = asked_to_stop(running(lifecycle))
    cancel_by = life.job.cancel_by
    life.wait(GRACE_S / 2)
    life.do(Renew(**life.as_owner(), checkpoint=b"7", progress=Progress(0.9)))

    assert (life.job.phase, life.job.cancel_by, life.job.wake_at) == ("active", cancel_by, cancel_by)
    assert life.job.checkpoint == b"7"


@pytest.mark.requirement("ALL-17")
@every_cancellable
def test_job_asked_to_stop_may_still_succeed(lifecycle: Lifecycle) -> None:
    life = asked_to_stop(running(lifecycle))
    life.complete(b"42")

    assert (lifecycle.by_name[life.job.state].outcome, life.job.result, life.job.cancel_by) == ("success", b"42", None)
    assert check_job(lifecycle, life.job, life.events) == []


@pytest.mark.requirement("ALL-17")
@every_cancellable
def test_job_asked_to_stop_may_still_fail_for_good(lifecycle: Lifecycle) -> None:
    life = asked_to_stop(running(lifecycle))
    life.fail("PermanentError", "broken")

    assert life.events[-1].verb == "fail"
    assert life.job.error is not None
    assert life.job.error.message == "broken"
    assert check_job(lifecycle, life.job, life.events) == []


# -- what becomes a cancel -------------------------------------------------------------------------------------------


def fail_for_now(life: Life) -> None:
    life.fail("TransientError", "no luck")


def release(life: Life) -> None:
    life.do(Release(**life.as_owner()))


def retry_by_system(life: Life) -> None:
    life.do(RetryCommand(role="scheduler"))


def expire(life: Life) -> None:
    assert life.reconcile().events[-1].cause == f"cancel requested, then {life.lifecycle.on_expiry}"


def time_out(life: Life) -> None:
    assert life.reconcile().events[-1].cause == f"cancel requested, then {life.lifecycle.on_timeout}"


def stall_by_owner(life: Life) -> None:
    life.do(Stall(**life.as_owner()))


def stall_by_system(life: Life) -> None:
    life.do(Stall(role="scheduler", expected_rev=life.job.rev))


# A grace beyond every other limit, so that the lease, or the time in the state, is over first.
PATIENT: Final = Policy(grace_s=7200, timeout_s=3600)
HURRIED: Final = Policy(grace_s=7200, timeout_s=20)


@pytest.mark.requirement("ALL-17")
@pytest.mark.parametrize(
    ("lifecycle", "policy", "loss"),
    [
        *((lifecycle, PATIENT, expire) for lifecycle in CANCELLABLE),
        *((lifecycle, HURRIED, time_out) for lifecycle in CANCELLABLE),
        *((lifecycle, PATIENT, fail_for_now) for lifecycle in (STANDARD, DOCUMENT)),
        *((lifecycle, PATIENT, retry_by_system) for lifecycle in (STANDARD, DOCUMENT)),
        *((lifecycle, PATIENT, release) for lifecycle in (STANDARD, DOCUMENT)),
        (STALLING, PATIENT, stall_by_owner),
        (STALLING, PATIENT, stall_by_system),
    ],
    ids=lambda value: getattr(value, "name", None) or getattr(value, "__name__", ""),
)
def test_attempt_lost_after_a_request_ends_as_cancelled(
    lifecycle: Lifecycle, policy: Policy, loss: Callable[[Life], None]
) -> None:
    life = asked_to_stop(running(lifecycle, policy=policy))
    before = life.job
    loss(life)

    assert is_cancelled(life)
    assert life.job.rev == before.rev + 1
    assert (life.job.failures, life.job.crashes, life.job.interruptions) == (0, 0, 0)


@pytest.mark.requirement("ALL-17")
@pytest.mark.parametrize("lifecycle", [STANDARD, DISPATCH, STALLING], ids=lambda lifecycle: lifecycle.name)
def test_lease_lost_before_the_start_ends_as_cancelled_too(lifecycle: Lifecycle) -> None:
    life = asked_to_stop(held(lifecycle, policy=Policy(grace_s=7200, lease_s=30)))
    expire(life)

    assert is_cancelled(life)


@pytest.mark.requirement("ALL-17")
def test_failure_that_became_a_cancel_is_kept_as_the_last_error() -> None:
    life = asked_to_stop(running(STANDARD))
    life.fail("TransientError", "interrupted")

    assert life.job.error is None
    assert life.job.last_error == Error("TransientError", "interrupted")


@pytest.mark.requirement("ALL-17")
@pytest.mark.parametrize("lifecycle", [STANDARD, DOCUMENT], ids=lambda lifecycle: lifecycle.name)
def test_what_a_worker_saved_when_it_gave_up_is_kept(lifecycle: Lifecycle) -> None:
    life = asked_to_stop(running(lifecycle))
    life.do(Release(**life.as_owner(), checkpoint=b"page 7"))

    assert is_cancelled(life)
    assert life.job.checkpoint == b"page 7"


@pytest.mark.requirement("ALL-17")
@settings(max_examples=examples(150), deadline=None)
@given(steps)
def test_job_asked_to_stop_is_never_queued_again_and_ends_within_its_grace(story: list[Step]) -> None:
    for lifecycle in CANCELLABLE:
        life = asked_to_stop(running(lifecycle, policy=Policy(timeout_s=40)))
        asked, cancel_by = len(life.records), life.job.cancel_by or 0
        live(life, story)
        late = max(life.now, cancel_by)
        life.run_out()

        assert {record.phase for record in life.records[asked:]} <= {"active", "ended"}
        assert life.job.ended_at is not None
        assert life.job.ended_at <= late
        assert check_job(lifecycle, life.job, life.events, life.notes) == []


# -- when the grace is over ------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-17")
@every_cancellable
def test_reconciler_cancels_when_the_grace_is_over_and_not_before(lifecycle: Lifecycle) -> None:
    life = asked_to_stop(running(lifecycle))
    assert life.job.cancel_by is not None
    life.now = life.job.cancel_by - 1
    early = life.ask(by_reconciler(life))
    life.wait(0.000_001)
    in_time = life.ask(by_reconciler(life))

    assert isinstance(early, Refused)
    assert early.code == "not_due"
    assert isinstance(in_time, Change)
    assert is_cancelled(life)


@pytest.mark.requirement("ALL-17")
@every_cancellable
def test_system_cancels_by_itself_when_the_grace_is_over_though_the_worker_renews(lifecycle: Lifecycle) -> None:
    life = asked_to_stop(running(lifecycle))
    cancel_by = life.job.cancel_by
    for _ in range(4):
        life.wait(7)
        life.do(Renew(**life.as_owner()))
    life.reconcile()

    assert is_cancelled(life)
    assert (life.now, life.job.ended_at) == (cancel_by, cancel_by)
    assert life.events[-1].role == "reconciler"


@pytest.mark.requirement("ALL-17")
@every_cancellable
def test_owner_may_cancel_once_it_was_asked_to(lifecycle: Lifecycle) -> None:
    life = asked_to_stop(running(lifecycle))
    life.do(Cancel(**life.as_owner()))

    assert is_cancelled(life)
    assert life.events[-1].role == "owner"


@pytest.mark.requirement("ALL-17")
@every_cancellable
def test_another_worker_may_not(lifecycle: Lifecycle) -> None:
    life = asked_to_stop(running(lifecycle))
    answer = life.ask(Cancel(**life.as_owner() | {"worker": "somebody-else"}))

    assert isinstance(answer, Refused)
    assert answer.code == "not_owner"
    assert life.job.phase == "active"


@pytest.mark.requirement("ALL-17")
@pytest.mark.parametrize("lifecycle", [DISPATCH, ENGINE, DOCUMENT, STALLING], ids=lambda lifecycle: lifecycle.name)
def test_without_a_request_owner_and_reconciler_have_no_cancel_of_their_own(lifecycle: Lifecycle) -> None:
    life = running(lifecycle)
    answers = [life.ask(Cancel(**life.as_owner())), life.ask(by_reconciler(life))]

    assert [answer.code for answer in answers if isinstance(answer, Refused)] == ["wrong_actor", "wrong_actor"]
    assert life.job.phase == "active"


# -- at once ---------------------------------------------------------------------------------------------------------


def unleased() -> dict[str, Life]:
    """A job in every state that nobody holds, of every lifecycle that has cancel."""
    created, retrying, stalled = Life(DOCUMENT), running(DOCUMENT), running(STALLING)
    retrying.fail()
    stalled.reconcile()
    on_hold = Life(DISPATCH)
    on_hold.do(Schedule(verdict="hold", rule="big"))
    waiting = {lifecycle.name: ready(lifecycle) for lifecycle in CANCELLABLE}
    return waiting | {
        "document CREATED": created, "document RETRYING": retrying, "stalling stalled": stalled,
        "dispatch PENDING": Life(DISPATCH), "dispatch on hold": on_hold,
    }  # fmt: skip


@pytest.mark.requirement("ALL-17")
@pytest.mark.parametrize("mode", [soft, hard])
@pytest.mark.parametrize("name", unleased())
def test_cancel_of_a_job_that_nobody_holds_takes_effect_at_once(name: str, mode: Callable[[Life], Cancel]) -> None:
    life = unleased()[name]
    change = life.do(mode(life))

    assert len(change.events) == 1
    assert is_cancelled(life)


@pytest.mark.requirement("ALL-17")
@every_cancellable
@pytest.mark.parametrize("begin", [held, running])
@pytest.mark.parametrize("was_asked", [False, True])
def test_hard_cancel_of_a_leased_job_takes_effect_at_once(
    lifecycle: Lifecycle, begin: Callable[[Lifecycle], Life], was_asked: bool
) -> None:
    life = asked_to_stop(begin(lifecycle)) if was_asked else begin(lifecycle)
    change = life.do(hard(life))

    assert len(change.events) == 1
    assert is_cancelled(life)
    assert (life.job.owner, life.job.lease_expires_at, life.job.last_owner) == (None, None, WORKER)


# -- how it ends -----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-17")
@pytest.mark.parametrize("lifecycle", [STANDARD, DISPATCH, STALLING], ids=lambda lifecycle: lifecycle.name)
def test_cancelled_job_has_neither_result_nor_error(lifecycle: Lifecycle) -> None:
    life = running(lifecycle)
    life.do(hard(life))

    assert lifecycle.by_name[life.job.state].outcome == "cancelled"
    assert (life.job.result, life.job.error) == (None, None)


@pytest.mark.requirement("ALL-17", "ENG-01")
@pytest.mark.parametrize("mode", [soft, hard])
def test_engine_ends_a_cancelled_job_as_failed_in_that_category(mode: Callable[..., Cancel]) -> None:
    life = running(ENGINE)
    life.do(mode(life, reason="withdrawn by its author"))
    life.run_out()

    assert (life.job.state, life.events[-1].type) == ("failed", "JOB_FAILED")
    assert life.job.error is not None
    assert (life.job.error.type, life.job.error.category) == ("Cancelled", "cancelled")


@pytest.mark.requirement("ALL-17", "DOC-01")
@pytest.mark.parametrize("mode", [soft, hard])
def test_document_ends_a_cancelled_job_as_failed_for_good(mode: Callable[..., Cancel]) -> None:
    life = running(DOCUMENT)
    life.do(mode(life, reason="withdrawn"))
    life.run_out()

    assert (life.job.state, metadata_of(life.job).error_type) == ("FAILED", "TERMINAL")
    assert life.job.error is not None
    assert life.job.error.category == "cancelled"


@pytest.mark.requirement("ALL-17", "CON-01")
@pytest.mark.parametrize("mode", [soft, hard])
@pytest.mark.parametrize(
    ("acts", "allowed"),
    [
        ([], {"claim"}),
        (["claim"], {"start", "renew", "stall"}),
        (["claim", "start"], {"renew", "complete", "fail", "stall"}),
        (["claim", "start", "complete"], set()),
    ],
    ids=["queued", "claimed", "running", "succeeded"],
)
def test_contract_refuses_cancel_and_says_what_is_allowed(
    mode: Callable[[Life], Cancel], acts: list[str], allowed: set[str]
) -> None:
    life = live(Life(CONTRACT), [(act, 0) for act in acts])
    before = life.job
    answers = [life.ask(mode(life)), life.ask(RequestCancel(expected_rev=life.job.rev))]

    assert life.job == before
    for answer in answers:
        assert isinstance(answer, Refused)
        assert (answer.code, answer.state, set(answer.allowed)) == ("illegal_move", before.state, allowed)


@pytest.mark.requirement("ALL-17")
def test_every_built_in_lifecycle_is_covered_here() -> None:
    names = {lifecycle.name for lifecycle in (*CANCELLABLE, CONTRACT)}

    assert names - {"stalling"} == BUILT_IN.keys()
