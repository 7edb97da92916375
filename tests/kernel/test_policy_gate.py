"""The gate before the queue: nothing runs unchecked, every verdict is on the record, and the urgent goes first."""

from collections.abc import Callable
from typing import Any, Final, get_args

import pytest

from detent.audit import check_job
from detent.errors import Refused
from detent.kernel import Change, Error, decide
from detent.kernel.command import (
    Approve,
    Cancel,
    Claim,
    Command,
    Complete,
    Deny,
    Enqueue,
    Expire,
    Fail,
    Renew,
    ReportProgress,
    Schedule,
    Start,
    TimeOut,
    Verdict,
)
from detent.kernel.job import Progress
from detent.lifecycle import Policy
from detent.lifecycle.words import NOTING, ROLES, Role
from detent.lifecycles import DISPATCH
from detent.wire.dispatch import PRIORITIES
from tests.driving import START, WORKER, Life

SECOND = 1_000_000
YEAR_S = 365 * 24 * 3600
MINUTE_S = 60


def scheduled(verdict: Verdict = "allow", rule: str = "default", *, delay_s: float = 0.0, **fields: Any) -> Life:
    life = Life(DISPATCH, **fields)
    life.do(Schedule(verdict=verdict, rule=rule, delay_s=delay_s))
    return life


def dispatched(**fields: Any) -> Life:
    life = scheduled(**fields)
    life.claim()
    return life


def running(**fields: Any) -> Life:
    life = dispatched(**fields)
    life.start()
    return life


def code_of(answer: Change | Refused) -> str:
    assert isinstance(answer, Refused), "it was accepted"
    return answer.code


def claim_at(life: Life) -> int:
    assert life.job.claim_at is not None
    return life.job.claim_at


# -- verdicts --------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("DSP-03")
def test_job_without_a_verdict_cannot_be_claimed() -> None:
    life = Life(DISPATCH)
    life.wait(YEAR_S)
    answer = life.ask(Claim(worker=WORKER))

    assert code_of(answer) == "illegal_move"
    assert (life.job.state, life.job.claim_at, life.job.verdict) == ("PENDING", None, None)


@pytest.mark.requirement("DSP-03")
def test_allowed_job_is_claimable_at_once() -> None:
    life = scheduled("allow")
    life.claim()

    assert (life.job.state, life.job.owner) == ("DISPATCHED", WORKER)


@pytest.mark.requirement("DSP-03")
def test_throttled_job_is_claimable_after_its_delay_and_not_before() -> None:
    life = scheduled("throttle", delay_s=30)
    early = decide(DISPATCH, life.job, Claim(worker=WORKER), START + 30 * SECOND - 1)
    in_time = decide(DISPATCH, life.job, Claim(worker=WORKER), START + 30 * SECOND)

    assert code_of(early) == "not_due"
    assert isinstance(in_time, Change)
    assert in_time.job.state == "DISPATCHED"


@pytest.mark.requirement("DSP-03")
def test_held_job_is_not_claimable_however_long_it_waits() -> None:
    life = scheduled("hold", "big")
    life.wait(YEAR_S)
    answer = life.ask(Claim(worker=WORKER))

    assert code_of(answer) == "not_due"
    assert (life.job.state, life.job.claim_at, life.job.wake_at) == ("SCHEDULED", None, None)


@pytest.mark.requirement("DSP-03")
def test_held_job_is_claimable_once_it_is_approved() -> None:
    life = scheduled("hold", "big")
    life.wait(500)
    change = life.do(Approve(actor="ana", role="operator"))
    life.claim()

    [event] = change.events
    assert (event.verb, event.from_state, event.to_state) == ("approve", "SCHEDULED", "SCHEDULED")
    assert (event.actor, event.role) == ("ana", "operator")
    assert life.job.state == "DISPATCHED"
    assert check_job(DISPATCH, life.job, life.events) == []


@pytest.mark.requirement("DSP-03")
@pytest.mark.parametrize("verdict", ["allow", "throttle"])
def test_job_that_is_not_held_needs_no_approval(verdict: Verdict) -> None:
    life = scheduled(verdict, delay_s=30)
    before = life.job
    change = life.do(Approve())

    assert (change.answer, change.events) == ("unchanged", ())
    assert life.job == before


@pytest.mark.requirement("DSP-03", "ALL-03")
def test_denied_job_is_scheduled_and_denied_in_one_change() -> None:
    life = Life(DISPATCH)
    change = life.do(Schedule(verdict="deny", rule="no-export"))

    assert [(event.rev, event.verb, event.to_state) for event in change.events] == [
        (2, "schedule", "SCHEDULED"),
        (3, "deny", "DENIED"),
    ]
    assert (life.job.state, life.job.claim_at) == ("DENIED", None)
    assert all(event.changes.get("claim_at") is None for event in change.events)
    assert check_job(DISPATCH, life.job, life.events) == []


@pytest.mark.requirement("DSP-03")
@pytest.mark.parametrize("role", ["scheduler", "operator"])
@pytest.mark.parametrize("verdict", ["allow", "hold", "throttle"])
def test_scheduled_job_can_be_denied_later(verdict: Verdict, role: Role) -> None:
    life = scheduled(verdict, delay_s=30)
    life.wait(5)
    life.do(Deny(role=role))

    assert life.job.state == "DENIED"
    assert life.job.error is not None
    assert (life.job.error.type, life.job.error.category) == ("Denied", "denied")
    assert life.job.error.reason_code == "policy_violation"


@pytest.mark.requirement("DSP-03")
def test_job_that_was_dispatched_can_no_longer_be_denied() -> None:
    life = dispatched()
    answer = life.ask(Deny(role="operator"))

    assert code_of(answer) == "illegal_move"


# -- on the record ---------------------------------------------------------------------------------------------------


@pytest.mark.requirement("DSP-03")
@pytest.mark.parametrize("verdict", ["allow", "throttle", "hold", "deny"])
def test_every_verdict_is_on_the_record_with_the_rule_that_gave_it(verdict: Verdict) -> None:
    life = scheduled(verdict, "rule-7")
    told = next(event for event in life.events if event.verb == "schedule")

    assert (life.job.verdict, life.job.rule) == (verdict, "rule-7")
    assert (told.changes["verdict"], told.changes["rule"]) == (verdict, "rule-7")
    assert told.payload == {"verdict": verdict, "rule": "rule-7"}
    assert told.cause == f"{verdict} by rule rule-7"


@pytest.mark.requirement("DSP-03")
def test_approval_is_on_the_record_beside_the_verdict_it_lifts() -> None:
    life = scheduled("hold", "big")
    life.do(Approve(actor="ana"))
    verdicts = [(event.verb, event.changes.get("verdict")) for event in life.events]

    assert verdicts == [("enqueue", None), ("schedule", "hold"), ("approve", "allow")]
    assert (life.job.verdict, life.job.rule) == ("allow", "big")


@pytest.mark.requirement("DSP-03")
@pytest.mark.parametrize("reason", [None, "the customer is blocked"])
def test_later_denial_is_on_the_record_with_the_rule_that_gave_it(reason: str | None) -> None:
    life = scheduled("hold", "big")
    life.do(Deny(role="scheduler", rule="blocked-customers", reason=reason))
    told = life.events[-1]

    assert "blocked-customers" in f"{told.cause} {told.payload} {told.changes}"
    assert reason is None or reason in (told.cause or "")
    assert (life.job.verdict, life.job.rule) == ("deny", "blocked-customers")


# -- run_at ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("DSP-03")
@pytest.mark.parametrize(
    ("verdict", "delay_s", "due_s"), [("allow", 0.0, 100), ("throttle", 30.0, 100), ("throttle", 300.0, 300)]
)
def test_job_is_not_claimable_before_its_caller_wanted_it(verdict: Verdict, delay_s: float, due_s: int) -> None:
    life = scheduled(verdict, delay_s=delay_s, run_at=START + 100 * SECOND)

    assert (life.job.claim_at, life.job.due_at) == (START + due_s * SECOND, START + due_s * SECOND)


@pytest.mark.requirement("DSP-03")
@pytest.mark.parametrize(("approved_after_s", "due_s"), [(10, 100), (500, 500)])
def test_approved_job_still_waits_for_its_time(approved_after_s: int, due_s: int) -> None:
    life = scheduled("hold", run_at=START + 100 * SECOND)
    life.wait(approved_after_s)
    life.do(Approve())

    assert life.job.claim_at == START + due_s * SECOND


# -- each verb from its own actor ------------------------------------------------------------------------------------

VERBS: Final[dict[str, tuple[Callable[..., Life], Callable[[Life], Command], set[str]]]] = {
    "schedule": (Life, lambda life: Schedule(verdict="allow", rule="r"), {"scheduler"}),
    "approve": (scheduled, lambda life: Approve(), {"operator"}),
    "deny": (scheduled, lambda life: Deny(), {"scheduler", "operator"}),
    "claim": (scheduled, lambda life: Claim(worker="pool"), {"scheduler", "worker", "owner"}),
    "start": (dispatched, lambda life: Start(**life.as_owner()), {"worker", "owner"}),
    "renew": (dispatched, lambda life: Renew(**life.as_owner()), {"worker", "owner"}),
    "complete": (running, lambda life: Complete(**life.as_owner()), {"worker", "owner"}),
    "fail": (running, lambda life: Fail(**life.as_owner(), error=Error("X")), {"worker", "owner"}),
    "time_out": (running, lambda life: TimeOut(), {"reconciler"}),
    "expire": (running, lambda life: Expire(), {"reconciler"}),
    "cancel": (running, lambda life: Cancel(mode="hard"), {"operator", "gateway", "client"}),
}


@pytest.mark.requirement("DSP-03")
@pytest.mark.parametrize("verb", VERBS)
def test_verb_is_accepted_from_its_own_actors_only(verb: str) -> None:
    begin, command_for, expected = VERBS[verb]
    accepted = set()
    for role in ROLES:
        life = begin(DISPATCH) if begin is Life else begin()
        command = command_for(life)
        life.now += YEAR_S * SECOND if verb in ("time_out", "expire") else 0
        fields = {name: getattr(command, name) for name in command.__struct_fields__}
        answer = life.ask(type(command)(**fields | {"role": role}))
        if isinstance(answer, Change):
            accepted.add(role)
        else:
            assert answer.code == "wrong_actor"

    assert accepted == expected


@pytest.mark.requirement("DSP-03")
def test_only_the_gateway_accepts_jobs() -> None:
    roles: tuple[Role, ...] = get_args(Role)
    answers = {role: decide(DISPATCH, None, Enqueue(role=role, job_id="job-1", kind="k"), START) for role in roles}

    assert {role for role, answer in answers.items() if isinstance(answer, Change)} == {"gateway"}


@pytest.mark.requirement("DSP-03")
def test_scheduler_claims_for_a_pool_which_is_then_the_owner() -> None:
    life = scheduled()
    life.do(Claim(role="scheduler", worker="pool-a"))
    answer = life.ask(Start(**life.as_owner()))
    life.do(Start(worker="pool-a", attempt=1))

    assert code_of(answer) == "not_owner"
    assert (life.job.state, life.job.owner) == ("RUNNING", "pool-a")


# -- who goes first --------------------------------------------------------------------------------------------------


def order_at(priority: int, *, waiting_s: float = 0.0, **policy: Any) -> int:
    """The place in the queue of a job that became ready so long before the others."""
    life = scheduled(at=round(START - waiting_s * SECOND), priority=priority, policy=Policy(**policy))
    assert life.job.order_at is not None
    return life.job.order_at


@pytest.mark.requirement("DSP-04")
def test_critical_goes_before_interactive_before_batch() -> None:
    places = [order_at(PRIORITIES[name]) for name in ("critical", "interactive", "batch")]

    assert places == sorted(places)
    assert len(set(places)) == 3


@pytest.mark.requirement("DSP-04")
@pytest.mark.parametrize("name", ["critical", "interactive", "batch"])
def test_of_two_alike_the_first_come_goes_first(name: Any) -> None:
    assert order_at(PRIORITIES[name], waiting_s=0.001) < order_at(PRIORITIES[name])


@pytest.mark.requirement("DSP-04")
@pytest.mark.parametrize(("minutes", "goes_first"), [(9, False), (11, True)])
def test_batch_that_has_waited_long_goes_before_fresh_interactive(minutes: int, goes_first: bool) -> None:
    waiting = order_at(PRIORITIES["batch"], waiting_s=minutes * MINUTE_S)

    assert (waiting < order_at(PRIORITIES["interactive"])) == goes_first


@pytest.mark.requirement("DSP-04")
@pytest.mark.parametrize(("minutes", "goes_first"), [(19, False), (21, True)])
def test_batch_is_not_starved_by_critical_for_ever(minutes: int, goes_first: bool) -> None:
    waiting = order_at(PRIORITIES["batch"], waiting_s=minutes * MINUTE_S)

    assert (waiting < order_at(PRIORITIES["critical"])) == goes_first


@pytest.mark.requirement("DSP-04")
def test_what_a_step_of_priority_is_worth_is_configurable() -> None:
    assert order_at(3, aging_s=10) == START - 30 * SECOND
    assert order_at(3, aging_s=0) == START


@pytest.mark.requirement("DSP-04")
def test_place_in_the_queue_counts_from_when_the_job_is_due() -> None:
    life = scheduled("throttle", delay_s=30, priority=1)

    assert life.job.order_at == claim_at(life) - 60 * SECOND


# -- a result implies the start --------------------------------------------------------------------------------------

IMPLYING: Final[dict[str, tuple[Callable[[Life], Change], str]]] = {
    "complete": (lambda life: life.complete(b"42"), "SUCCEEDED"),
    "fail": (lambda life: life.fail(), "FAILED"),
    "progress": (lambda life: life.progress(0.5), "RUNNING"),
    "artifact": (lambda life: life.artifact(), "RUNNING"),
}


@pytest.mark.requirement("DSP-03", "ALL-03")
@pytest.mark.parametrize("verb", IMPLYING)
def test_word_from_a_job_that_was_not_started_implies_its_start(verb: str) -> None:
    act, state = IMPLYING[verb]
    life = dispatched()
    life.wait(3)
    change = act(life)

    verbs = [event.verb for event in change.events]
    assert verbs == (["start"] if verb in NOTING else ["start", verb])
    assert [event.rev for event in change.events] == [4, 5][: len(verbs)]
    assert (change.events[0].to_state, change.events[0].cause) == ("RUNNING", f"implied by {verb}")
    assert (life.job.state, life.job.started_at) == (state, life.now)
    assert check_job(DISPATCH, life.job, life.events, life.notes) == []


@pytest.mark.requirement("DSP-03")
def test_second_word_implies_no_second_start() -> None:
    life = dispatched()
    life.progress(0.1)
    change = life.progress(0.2)

    assert (change.answer, change.events) == ("noted", ())
    assert [event.verb for event in life.events].count("start") == 1
    assert life.job.progress == Progress(0.2)


@pytest.mark.requirement("DSP-03")
def test_word_from_a_worker_that_does_not_hold_the_job_implies_nothing() -> None:
    life = dispatched()
    before = life.job
    stranger = life.as_owner() | {"worker": "somebody-else"}
    answers = [life.ask(Complete(**stranger)), life.ask(ReportProgress(**stranger, progress=Progress(0.5)))]

    assert [code_of(answer) for answer in answers] == ["not_owner", "not_owner"]
    assert life.job == before
