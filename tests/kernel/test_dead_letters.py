"""Jobs that are set aside: why and where they broke, what a dead letter carries, and that nothing else leads there."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from detent.audit import check_job
from detent.errors import InvalidArgument, Refused
from detent.kernel import Error, parse
from detent.kernel.command import Cancel, DeadLetter, Release, Renew
from detent.kernel.dead_letter import DeadLetter as Letter
from detent.kernel.dead_letter import dead_letter_of
from detent.kernel.failure import REASON_CODES, STAGES
from detent.lifecycle import Lifecycle, Policy, Retry
from detent.lifecycle.words import Role
from detent.lifecycles import CONTRACT, DISPATCH, DOCUMENT, ENGINE, STANDARD
from tests.driving import WORKER, Life

REASONS: Final = [
    "parse_error", "validation_failed", "dependency_unavailable", "timeout", "exhausted_retries", "policy_violation",
    "infrastructure_failure", "compensation_failed",
]  # fmt: skip
PLACES: Final = ["fetch", "input", "exec", "output", "commit"]


def queued(**fields: Any) -> Life:
    return Life(STANDARD, **fields)


def assigned(**fields: Any) -> Life:
    life = queued(**fields)
    life.claim()
    return life


def running(**fields: Any) -> Life:
    life = queued(**fields)
    life.claim(start=True)
    return life


def letter(life: Life) -> Letter:
    found = dead_letter_of(STANDARD, life.job)
    assert found is not None
    return found


# -- reasons and stages ----------------------------------------------------------------------------------------------


@pytest.mark.requirement("STD-09")
@pytest.mark.parametrize("reason_code", REASONS)
@pytest.mark.parametrize("stage", PLACES)
def test_every_reason_and_stage_is_accepted_and_kept(reason_code: str, stage: str) -> None:
    life = running()
    command = parse("dead_letter", {"role": "operator", "reason_code": reason_code, "stage": stage})
    life.do(command)

    assert (letter(life).reason_code, letter(life).stage) == (reason_code, stage)
    assert check_job(STANDARD, life.job, life.events) == []


@pytest.mark.requirement("STD-09")
def test_there_are_no_other_reasons_and_stages() -> None:
    assert (set(REASON_CODES), set(STAGES)) == (set(REASONS), set(PLACES))


@pytest.mark.requirement("STD-09")
@pytest.mark.parametrize("fields", [{"reason_code": "bored"}, {"stage": "lunch"}], ids=str)
def test_reason_or_stage_that_does_not_exist_is_refused(fields: dict[str, str]) -> None:
    with pytest.raises(InvalidArgument):
        parse("dead_letter", {"role": "operator", **fields})


@pytest.mark.requirement("STD-09")
@pytest.mark.parametrize("role", ["operator", "policy"])
def test_job_set_aside_by_operator_or_policy_violates_the_policy_unless_they_say_otherwise(role: Role) -> None:
    life = running()
    life.do(DeadLetter(role=role))

    assert letter(life).reason_code == "policy_violation"


@pytest.mark.requirement("STD-09")
@pytest.mark.parametrize(
    ("type_", "reason_code"),
    [
        ("ValidationError", "validation_failed"),
        ("InvalidInput", "validation_failed"),
        ("DependencyUnavailable", "dependency_unavailable"),
        ("OutOfMemory", "infrastructure_failure"),
        ("BadSchema", "validation_failed"),
    ],
)
def test_job_set_aside_by_its_owner_says_why_by_its_error(type_: str, reason_code: str) -> None:
    life = running(policy=Policy(error_classes={"BadSchema": "ValidationError"}))
    life.do(DeadLetter(**life.as_owner(), error=Error(type_)))

    assert letter(life).reason_code == reason_code


@pytest.mark.requirement("STD-09")
def test_job_set_aside_by_the_reconciler_broke_with_the_infrastructure_unless_it_says_otherwise() -> None:
    life = running()
    life.do(DeadLetter(role="reconciler"))

    assert letter(life).reason_code == "infrastructure_failure"


@pytest.mark.requirement("STD-09")
@pytest.mark.parametrize(("begin", "stage"), [(queued, "fetch"), (assigned, "input"), (running, "exec")])
def test_stage_is_where_the_job_was_unless_somebody_says_otherwise(begin: Callable[[], Life], stage: str) -> None:
    life = begin()
    life.do(DeadLetter(role="operator"))

    assert letter(life).stage == stage


@pytest.mark.requirement("STD-09")
@pytest.mark.parametrize(("begin", "stage"), [(assigned, "input"), (running, "exec")])
def test_stage_of_a_job_whose_lease_ran_out_is_where_it_was(begin: Callable[..., Life], stage: str) -> None:
    life = begin(policy=Policy(retry=Retry.never()))
    life.reconcile()

    assert (letter(life).stage, letter(life).reason_code) == (stage, "infrastructure_failure")


@pytest.mark.requirement("STD-09")
def test_worker_may_say_in_which_stage_its_work_broke() -> None:
    life = running(policy=Policy(retry=Retry.never()))
    life.do(parse("fail", {**life.as_owner(), "error": {"type": "DiskFull", "stage": "commit"}}))

    assert (letter(life).stage, letter(life).reason_code) == ("commit", "exhausted_retries")


@pytest.mark.requirement("STD-09")
def test_reason_and_stage_that_an_operator_gives_win_over_those_of_the_last_error() -> None:
    life = running()
    told = {"type": "DiskFull", "stage": "commit", "reason_code": "infrastructure_failure"}
    life.do(parse("fail", {**life.as_owner(), "error": told}))
    life.do(DeadLetter(role="operator", reason_code="parse_error", stage="input"))

    assert (letter(life).reason_code, letter(life).stage) == ("parse_error", "input")


# -- what it carries -------------------------------------------------------------------------------------------------


@pytest.mark.requirement("STD-10")
def test_dead_letter_carries_what_is_needed_to_decide_on_it() -> None:
    life = running(correlation_id="order-7", policy=Policy(retry=Retry.fixed(delay_s=0, max_attempts=2)))
    life.fail("DiskFull", "first")
    life.claim(start=True)
    life.wait(10)
    life.do(Renew(**life.as_owner()))
    lease_expires_at = life.job.lease_expires_at
    life.fail("DiskFull", "second", code="E28")

    assert letter(life) == Letter(
        job_id="job-1",
        reason_code="exhausted_retries",
        stage="exec",
        last_error=Error(
            "DiskFull", "second", code="E28", category="engine", stage="exec", reason_code="exhausted_retries"
        ),
        attempts=2,
        last_owner=WORKER,
        last_lease_expires_at=lease_expires_at,
        correlation_id="order-7",
    )


@pytest.mark.requirement("STD-10")
def test_dead_letter_that_nobody_ever_took_says_so() -> None:
    life = queued()
    life.do(DeadLetter(role="operator", reason="not wanted any more"))

    assert (letter(life).attempts, letter(life).last_owner, letter(life).last_lease_expires_at) == (0, None, None)
    assert letter(life).last_error.message == "not wanted any more"
    assert letter(life).correlation_id == "job-1"


@pytest.mark.requirement("STD-10")
def test_dead_letter_set_aside_while_it_waited_names_its_last_error_and_lease() -> None:
    life = running()
    lease_expires_at = life.job.lease_expires_at
    life.fail("DiskFull", "no space")
    life.do(DeadLetter(role="operator"))

    assert (letter(life).last_error.type, letter(life).last_error.message) == ("DiskFull", "no space")
    assert (letter(life).last_owner, letter(life).last_lease_expires_at) == (WORKER, lease_expires_at)


@pytest.mark.requirement("STD-10", "ALL-11")
def test_why_an_operator_set_a_failed_job_aside_is_on_the_record() -> None:
    life = running()
    life.fail("DiskFull", "no space")
    life.do(DeadLetter(role="operator", actor="ana", reason="ticket 7"))
    told = life.events[-1]

    assert told.actor == "ana"
    assert "ticket 7" in (told.cause or "")


# -- nothing else leads there ----------------------------------------------------------------------------------------


def complete(life: Life) -> None:
    life.complete()


def fail_for_now(life: Life) -> None:
    life.fail()


def fail_for_good(life: Life) -> None:
    life.fail("PermanentError")


def release(life: Life) -> None:
    life.do(Release(**life.as_owner()))


def crash(life: Life) -> None:
    life.reconcile()


def cancel(life: Life) -> None:
    life.do(Cancel(mode="hard"))


def cancel_softly(life: Life) -> None:
    life.do(Cancel())
    life.reconcile()


@pytest.mark.requirement("STD-09")
@pytest.mark.parametrize("act", [complete, fail_for_now, fail_for_good, release, crash, cancel, cancel_softly])
def test_job_with_attempts_left_is_not_set_aside_by_anything_but_dead_letter(act: Callable[[Life], None]) -> None:
    life = running()
    act(life)

    assert life.job.state != "dead_lettered"
    assert dead_letter_of(STANDARD, life.job) is None


@pytest.mark.requirement("STD-09")
@pytest.mark.parametrize("role", ["client", "scheduler", "gateway"])
def test_client_and_scheduler_cannot_set_a_job_aside(role: Role) -> None:
    life = running()
    before = life.job
    answer = life.ask(DeadLetter(role=role))

    assert isinstance(answer, Refused)
    assert answer.code == "wrong_actor"
    assert life.job == before


@pytest.mark.requirement("STD-09")
def test_worker_that_does_not_hold_the_job_cannot_set_it_aside() -> None:
    life = running()
    answer = life.ask(DeadLetter(**life.as_owner() | {"worker": "somebody-else"}))

    assert isinstance(answer, Refused)
    assert answer.code == "not_owner"


@pytest.mark.requirement("STD-09")
@pytest.mark.parametrize("lifecycle", [DISPATCH, ENGINE, CONTRACT, DOCUMENT], ids=lambda lifecycle: lifecycle.name)
def test_lifecycle_without_dead_letters_refuses_the_verb(lifecycle: Lifecycle) -> None:
    life = Life(lifecycle)
    answer = life.ask(DeadLetter(role="operator", expected_rev=1))

    assert isinstance(answer, Refused)
    assert answer.code == "illegal_move"
    assert "dead_letter" not in answer.allowed


@pytest.mark.requirement("STD-10")
def test_job_that_failed_for_good_is_no_dead_letter() -> None:
    life = running()
    life.fail("PermanentError")

    assert life.job.error is not None
    assert dead_letter_of(STANDARD, life.job) is None
