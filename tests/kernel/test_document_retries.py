"""`document`: three retries a second apart, each waited for, and a way to an end from everywhere."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.audit import check_job
from detent.errors import Refused
from detent.kernel import Change, Error, decide
from detent.kernel.command import Cancel, Claim, Fail, Release, Renew, Requeue, Submit
from detent.kernel.command import Retry as RetryCommand
from detent.kernel.due import due_command
from detent.lifecycle import Policy, Retry
from detent.lifecycle.words import Role
from detent.lifecycles import DOCUMENT
from tests.chance import examples
from tests.driving import WORKER, Life, Step, live, steps

SECOND = 1_000_000


def created(**fields: Any) -> Life:
    return Life(DOCUMENT, **fields)


def queued(**fields: Any) -> Life:
    return Life(DOCUMENT, submit=True, **fields)


def running(**fields: Any) -> Life:
    life = queued(**fields)
    life.claim()
    return life


def retrying(**fields: Any) -> Life:
    life = running(**fields)
    life.fail()
    return life


def next_attempt(life: Life) -> None:
    """Let the delay pass and the next attempt begin."""
    life.reconcile()
    life.claim()


def code_of(answer: Change | Refused) -> str:
    assert isinstance(answer, Refused), "it was accepted"
    return answer.code


def fail(life: Life) -> None:
    life.fail()


def release(life: Life) -> None:
    life.do(Release(**life.as_owner()))


def crash(life: Life) -> None:
    life.reconcile()


def overrun(life: Life) -> None:
    """Keep the lease until the run limit of 90 s is over."""
    for _ in range(2):
        life.wait(44)
        life.do(Renew(**life.as_owner()))
    life.reconcile()


Lose = Callable[[Life], None]
LIMITED: Final = Policy(timeout_s=90, retry=Retry.fixed(delay_s=1, max_attempts=4))


# -- three retries ---------------------------------------------------------------------------------------------------


@pytest.mark.requirement("DOC-03", "DOC-01")
def test_job_is_created_then_submitted_then_run() -> None:
    life = created()
    states = [life.job.state]
    life.do(Submit())
    states.append(life.job.state)
    life.claim()
    states.append(life.job.state)
    life.complete()

    assert [*states, life.job.state] == ["CREATED", "QUEUED", "RUNNING", "SUCCEEDED"]


@pytest.mark.requirement("DOC-03")
@pytest.mark.parametrize("lose", [fail, crash, overrun])
def test_fourth_loss_ends_the_job_after_three_retries(lose: Lose) -> None:
    life = running(policy=LIMITED)
    seen = []
    for _ in range(3):
        lose(life)
        seen.append((life.job.state, life.job.retries))
        next_attempt(life)
    lose(life)

    assert seen == [("RETRYING", 1), ("RETRYING", 2), ("RETRYING", 3)]
    assert (life.job.state, life.job.retries, life.job.attempt) == ("FAILED", 3, 4)
    assert check_job(DOCUMENT, life.job, life.events) == []


@pytest.mark.requirement("DOC-03")
@pytest.mark.parametrize("random", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("earlier", [0, 1, 2])
def test_every_retry_waits_one_second_whatever_is_drawn(random: float, earlier: int) -> None:
    life = running()
    for _ in range(earlier):
        life.fail()
        next_attempt(life)
    change = decide(DOCUMENT, life.job, Fail(**life.as_owner(), error=Error("TransientError")), life.now, random)

    assert isinstance(change, Change)
    assert (change.job.state, change.job.due_at) == ("RETRYING", life.now + SECOND)


@pytest.mark.requirement("DOC-03")
def test_number_of_retries_and_their_delay_are_configurable() -> None:
    life = running(policy=Policy(retry=Retry.fixed(delay_s=7, max_attempts=2)))
    life.fail()
    waited = life.job.due_at == life.now + 7 * SECOND
    next_attempt(life)
    life.fail()

    assert waited
    assert (life.job.state, life.job.retries) == ("FAILED", 1)


@pytest.mark.requirement("DOC-03")
def test_release_counts_no_retry() -> None:
    life = running()
    for _ in range(10):
        life.do(Release(**life.as_owner()))
        next_attempt(life)

    assert (life.job.state, life.job.retries, life.job.interruptions) == ("RUNNING", 0, 10)
    assert (life.job.failures, life.job.crashes) == (0, 0)


@pytest.mark.requirement("DOC-03")
def test_released_job_waits_too_before_it_is_queued_again() -> None:
    life = running()
    life.do(Release(**life.as_owner(), checkpoint=b"page 7"))

    assert (life.job.state, life.job.due_at) == ("RETRYING", life.now + SECOND)
    assert life.job.checkpoint == b"page 7"


@pytest.mark.requirement("DOC-03")
def test_retry_by_the_system_counts_and_is_refused_once_the_retries_are_used_up() -> None:
    life = running(policy=Policy(retry=Retry.fixed(delay_s=1, max_attempts=2)))
    life.do(RetryCommand(role="scheduler"))
    retries = life.job.retries
    next_attempt(life)
    answer = life.ask(RetryCommand(role="scheduler"))

    assert retries == 1
    assert code_of(answer) == "illegal_move"
    assert life.job.state == "RUNNING"


@pytest.mark.requirement("DOC-03", "DOC-05", "ALL-12")
def test_larger_budget_of_an_error_of_its_own_is_waited_out_as_well() -> None:
    patient = Retry(max_attempts=1, by_error={"QueueOverload": Retry.fixed(delay_s=1, max_attempts=9)})
    life = running(policy=Policy(retry=patient))
    life.fail("QueueOverload")
    life.wait(1)
    command = due_command(DOCUMENT, life.job, life.now)

    assert (life.job.state, life.job.due_at) == ("RETRYING", life.now)
    assert command is not None
    assert command.verb == "requeue"
    assert isinstance(life.ask(command), Change)


# -- each retry waits ------------------------------------------------------------------------------------------------


@pytest.mark.requirement("DOC-05", "DOC-01")
@pytest.mark.parametrize("lose", [fail, release, crash, overrun])
def test_requeue_is_refused_until_the_delay_is_over(lose: Lose) -> None:
    life = running(policy=LIMITED)
    lose(life)
    due = life.job.due_at
    assert due is not None
    requeue = Requeue(role="reconciler", expected_rev=life.job.rev)
    early, in_time = decide(DOCUMENT, life.job, requeue, due - 1), decide(DOCUMENT, life.job, requeue, due)

    assert due == life.now + SECOND
    assert code_of(early) == "not_due"
    assert isinstance(in_time, Change)
    assert (in_time.job.state, in_time.job.claim_at) == ("QUEUED", due)


@pytest.mark.requirement("DOC-01")
@pytest.mark.parametrize("role", ["client", "operator", "scheduler", "worker"])
def test_only_the_reconciler_ends_the_wait(role: Role) -> None:
    life = retrying()
    life.wait(1)
    answer = life.ask(Requeue(role=role))

    assert code_of(answer) == "wrong_actor"


@pytest.mark.requirement("DOC-05")
def test_job_that_waits_cannot_be_claimed() -> None:
    life = retrying()
    life.wait(3600)
    answer = life.ask(Claim(worker=WORKER))

    assert code_of(answer) == "illegal_move"
    assert life.job.claim_at is None


@pytest.mark.requirement("DOC-05")
def test_one_wait_ends_in_one_requeue() -> None:
    life = retrying()
    life.wait(1)
    command = due_command(DOCUMENT, life.job, life.now)
    assert command is not None
    life.do(command)
    answer = life.ask(command)

    assert code_of(answer) == "illegal_move"
    assert due_command(DOCUMENT, life.job, life.now) is None
    assert [event.verb for event in life.events].count("requeue") == 1


@pytest.mark.requirement("DOC-05")
@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.sampled_from([fail, release, crash]), max_size=8))
def test_no_storm_of_requeues_each_follows_a_loss_and_its_wait(losses: list[Lose]) -> None:
    life = running()
    for lose in losses:
        lose(life)
        if life.job.is_ended:
            break
        next_attempt(life)
    moments: dict[str, list[int]] = {verb: [] for verb in ("retry", "release", "expire", "requeue")}
    for event in life.events:
        if event.verb in moments and event.to_state != "FAILED":
            moments[event.verb].append(event.at)
    lost = sorted(moments["retry"] + moments["release"] + moments["expire"])

    assert moments["requeue"] == [at + SECOND for at in lost]
    assert life.job.failures + life.job.crashes <= 4
    assert check_job(DOCUMENT, life.job, life.events) == []


@pytest.mark.requirement("DOC-05")
@settings(max_examples=examples(100), deadline=None)
@given(steps)
def test_retries_are_bounded_and_every_job_that_runs_ends_by_itself(story: list[Step]) -> None:
    life = live(running(), story)
    for _ in range(40):
        if life.job.is_ended:
            break
        life.reconcile() if life.job.wake_at is not None else life.claim()

    assert life.job.is_ended
    assert life.job.retries <= 3
    assert check_job(DOCUMENT, life.job, life.events, life.notes) == []


# -- other ways to an end --------------------------------------------------------------------------------------------


@pytest.mark.requirement("DOC-01")
@pytest.mark.parametrize("role", ["reconciler", "scheduler"])
@pytest.mark.parametrize("type_", ["ResourceLimitExceeded", "TransientError"])
def test_system_may_fail_a_job_that_nobody_took(role: Role, type_: str) -> None:
    life = queued()
    life.do(Fail(role=role, error=Error(type_, "disk full")))

    assert (life.job.state, life.job.attempt, life.job.failures) == ("FAILED", 0, 0)
    assert life.job.error is not None
    assert (life.job.error.type, life.job.error.category) == (type_, "queue")
    assert check_job(DOCUMENT, life.job, life.events) == []


@pytest.mark.requirement("DOC-01")
@pytest.mark.parametrize("role", ["client", "operator", "worker"])
def test_nobody_else_may(role: Role) -> None:
    life = queued()
    answer = life.ask(Fail(role=role, error=Error("ResourceLimitExceeded")))

    assert code_of(answer) == "wrong_actor"


@pytest.mark.requirement("DOC-01")
@pytest.mark.parametrize("role", ["client", "operator"])
@pytest.mark.parametrize("begin", [created, queued, running, retrying])
def test_cancel_ends_a_job_from_every_state(begin: Callable[[], Life], role: Role) -> None:
    life = begin()
    life.do(Cancel(role=role, mode="hard", reason="withdrawn"))

    assert life.job.state == "FAILED"
    assert life.job.error is not None
    assert (life.job.error.category, life.job.error.message) == ("cancelled", "withdrawn")
    assert check_job(DOCUMENT, life.job, life.events) == []


@pytest.mark.requirement("DOC-01")
@pytest.mark.parametrize(("lose", "verb"), [(crash, "expire"), (overrun, "time_out")])
def test_lease_or_run_limit_that_is_over_is_a_retry_then_an_end(lose: Lose, verb: str) -> None:
    life = running(policy=Policy(timeout_s=90, retry=Retry.fixed(delay_s=1, max_attempts=2)))
    lose(life)
    next_attempt(life)
    lose(life)
    told = [(event.verb, event.to_state) for event in life.events if event.verb == verb]

    assert told == [(verb, "RETRYING"), (verb, "FAILED")]
