"""Each fault in a log is found, under one invariant and no other."""

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from detent.audit import check_event
from detent.kernel import Error
from detent.kernel.command import Cancel, Complete, Fail
from detent.kernel.command import Retry as RetryCommand
from detent.kernel.fold import fold
from detent.lifecycle import Lifecycle, Policy, Retry, move
from detent.lifecycles import DISPATCH, DOCUMENT, ENGINE, STANDARD
from tests.audit.bad_stories import BAD, UNDONE, completed_after_the_lease, event_missing, under
from tests.audit.stories import (
    ALLOW,
    TWICE,
    crash_with_a_budget_of_its_own,
    running,
    submitted,
    timeout_with_a_budget_of_its_own,
)
from tests.audit.telling import PERMANENT, SECOND, Story, edited, found_in, ids


@pytest.mark.parametrize(
    ("invariant", "tell"),
    [
        pytest.param(invariant, tell, id=f"{invariant}-{tell.__name__}")
        for invariant, all_ in BAD.items()
        for tell in all_
    ],
)
def test_a_broken_log_is_reported_under_the_invariant_it_breaks(invariant: str, tell: Callable[[], Story]) -> None:
    story = tell()

    found = found_in(story)

    assert ids(found) == {invariant}
    assert all(violation.job_id == "j1" and violation.message for violation in found)


def test_a_log_with_a_hole_is_judged_no_further() -> None:
    story = event_missing()

    assert [violation.rev for violation in found_in(story)] == [4]


def test_a_dead_letter_whose_payload_was_pruned_is_not_held_to_its_reason() -> None:
    story = Story(STANDARD, policy=Policy(retry=Retry.never())).claim(start=True).fail()

    assert found_in(edited(story, "dead_letter", payload=None)) == []


def test_an_error_type_with_a_budget_of_its_own_is_held_to_that() -> None:
    own = Policy(retry=Retry(max_attempts=9, by_error={"Flaky": Retry.never()}))
    story = Story(STANDARD, policy=own).claim(start=True).own(Fail, error=Error("Flaky"))
    other = Policy(retry=Retry(max_attempts=9, by_error={"Other": Retry.never()}))

    assert found_in(story) == []
    assert ids(found_in(under(other, story))) == {"I21"}


def test_each_loss_beyond_the_budget_is_reported_where_it_happened() -> None:
    failures = under(TWICE, running().fail().claim(after_s=60, start=True).fail().claim(after_s=60, start=True).fail())
    patient = Retry(max_attempts=9, crashes_max=1, by_error={"Flaky": Retry(max_attempts=9)})
    crashes = under(Policy(retry=patient), Story(STANDARD).claim().reconcile().claim().reconcile())

    assert [(violation.rev, violation.invariant) for violation in found_in(failures)] == [(8, "I9"), (10, "I9")]
    assert [(violation.rev, violation.invariant) for violation in found_in(crashes)] == [(5, "I9")]


def test_a_failure_whose_payload_was_pruned_is_not_held_to_its_error() -> None:
    story = submitted().claim().fail(PERMANENT)

    assert found_in(edited(story, "fail", payload=None)) == []


def test_a_lifecycle_may_send_failures_to_where_its_dead_letters_are() -> None:
    rows = [row for row in STANDARD.moves if row.verb != "fail"]
    shared = Lifecycle(
        name="shared", version=1, states=tuple(state for state in STANDARD.states if state.name != "failed"),
        moves=(*rows, move("running", "fail", "dead_lettered", by="owner")),
    )  # fmt: skip

    story = Story(shared).claim().start().fail(PERMANENT)

    assert story.job.state == "dead_lettered"
    assert found_in(story) == []


@pytest.mark.parametrize(
    ("tell", "lost_to"),
    [(crash_with_a_budget_of_its_own, "LeaseExpired"), (timeout_with_a_budget_of_its_own, "TimedOut")],
    ids=["crash", "timeout"],
)
def test_what_takes_an_attempt_may_have_a_budget_of_its_own(tell: Callable[[], Story], lost_to: str) -> None:
    story = tell()
    other = Policy(timeout_s=20, retry=Retry(max_attempts=1, by_error={lost_to: Retry(max_attempts=9)}))

    assert story.job.state == "dead_lettered"
    assert found_in(story) == []
    assert ids(found_in(under(other, story))) == {"I21"}


def test_a_system_that_may_not_fail_a_job_sets_it_aside() -> None:
    story = Story(STANDARD, policy=Policy(retry=Retry(max_attempts=1, used_up="fail"))).claim(start=True)
    story.do(RetryCommand(role="reconciler"))

    assert story.job.state == "dead_lettered"
    assert found_in(story) == []


def test_a_move_to_a_state_that_is_none_is_undeclared_and_nothing_else() -> None:
    story = Story(STANDARD)
    [enqueued] = story.events

    found = check_event(STANDARD, fold(()), replace(enqueued, to_state="odd"), story.job.spec.policy)

    assert [violation.invariant for violation in found] == ["I2"]


def test_a_violation_reads_as_a_sentence_with_its_place_and_its_numbers() -> None:
    story = completed_after_the_lease()

    [violation] = found_in(story)

    ends = story.event("start").changes["lease_expires_at"]
    assert str(violation) == f"I6 j1 rev 4: 'complete' by 'w1' at {ends}; its lease ended at {ends}"


def test_an_owner_may_cancel_once_it_was_asked_to() -> None:
    asked = Story(DISPATCH).do(ALLOW).claim().do(Cancel(role="operator")).own(Cancel)

    assert found_in(asked) == []


def test_a_completion_right_before_the_end_of_the_lease_is_good() -> None:
    story = running()
    lasts = (story.event("start").changes["lease_expires_at"] - story.now) / SECOND

    story.own(Complete, after_s=lasts - 1 / SECOND)

    assert found_in(story) == []


def test_document_has_no_dead_letters_to_judge() -> None:
    story = Story(DOCUMENT, submit=True, policy=Policy(retry=Retry.never())).claim().fail()

    assert story.job.state == "FAILED"
    assert found_in(story) == []


@pytest.mark.requirement("STD-19")
@pytest.mark.parametrize("said", [{"compensation_job_id": "undo"}, {"rerun_job_id": "again"}])
def test_a_job_that_names_what_undoes_it_or_runs_it_again_is_in_order(said: dict[str, str]) -> None:
    story = Story(ENGINE, policy=UNDONE).claim(start=True).fail()

    assert found_in(edited(story, "fail", payload=said)) == []


@pytest.mark.requirement("STD-19")
def test_a_compensation_that_failed_for_good_may_be_set_aside_though_it_has_attempts_left() -> None:
    policy = Policy(retry=Retry(max_attempts=3), is_compensation=True)
    story = Story(STANDARD, policy=policy).claim(start=True).fail(PERMANENT)

    assert found_in(story) == []
    assert ids(found_in(under(replace(policy, is_compensation=False), story))) == {"I21"}
