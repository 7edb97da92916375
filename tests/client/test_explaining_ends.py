"""`client.explain` of jobs that have ended: as what, on which attempt, by whom and why."""

from datetime import timedelta

import pytest

from detent.lifecycle import Compensation, Policy, Retry
from tests.client.explained import BROKEN, BUSY, explained, first, now, reasons, run
from tests.client.world import World


def test_success_names_the_attempt_and_who_had_it(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42")
    run(fresh)
    fresh.blocking.complete("42", worker="w1", attempt=1)

    reason = first(fresh, after_s=60)

    assert (reason.code, reason.text) == ("succeeded", "it succeeded on attempt 1 with 'w1'")
    assert reason.since == now(fresh)


def test_failure_names_the_error_and_who_had_it(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42")
    run(fresh)
    fresh.blocking.fail("42", worker="w1", attempt=1, error=BROKEN)

    reason = first(fresh)

    assert reason.code == "failed"
    assert reason.text == "it failed for good on attempt 1 with 'w1': PermanentError: no such page (stage exec)"
    assert list(reasons(fresh)) == ["failed"]


def test_failure_of_a_job_that_nobody_claimed_says_so(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42", lifecycle="engine")
    fresh.clock.pass_s(31)
    fresh.blocking.reconcile()

    text = first(fresh).text

    assert text.startswith("it failed for good before anybody had claimed it: TimedOut: time in 'queued' is over")
    assert "(timeout, stage fetch)" in text


def test_dead_letter_says_that_its_attempts_are_used_up(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42", policy=Policy(retry=Retry(max_attempts=2, base_s=0)))
    for attempt in (1, 2):
        run(fresh)
        fresh.blocking.fail("42", worker="w1", attempt=attempt, error=BUSY)

    found = reasons(fresh)

    assert list(found) == ["dead_letter", "budget_used_up"]
    assert found["dead_letter"].text == (
        "it was set aside as a dead letter on attempt 2 with 'w1': "
        "TransientError: scanner is busy (exhausted_retries, stage exec)"
    )
    assert found["budget_used_up"].text == "its attempts are used up: 2 failures and 0 crashes, of at most 2"


def test_dead_letter_that_somebody_made_on_purpose_has_attempts_left(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42")
    fresh.blocking.dead_letter("42", role="operator", reason_code="policy_violation", reason="spam")

    assert list(reasons(fresh)) == ["dead_letter"]
    assert "before anybody had claimed it: DeadLettered: spam (policy_violation" in first(fresh).text


def test_cancelled_job_names_who_and_why(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42")
    fresh.blocking.cancel("42", actor="ann", reason="wrong file")

    assert (first(fresh).code, first(fresh).text) == ("cancelled", "it was cancelled by ann (wrong file)")


def test_job_cancelled_after_its_grace_names_who_had_asked(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42")
    run(fresh)
    fresh.blocking.cancel("42", actor="ann", reason="wrong file")
    fresh.clock.pass_s(31)
    fresh.blocking.reconcile()

    assert first(fresh).text == (
        "it was cancelled by reconciler (cancel requested, grace over); ann had asked it to stop (wrong file)"
    )


@pytest.mark.parametrize("lifecycle", ["engine", "document"])
def test_cancelled_job_is_called_cancelled_where_its_state_is_not(fresh: World, lifecycle: str) -> None:
    fresh.blocking.enqueue("scan", job_id="42", lifecycle=lifecycle, submit=True)
    job = fresh.blocking.cancel("42", actor="ann")

    assert (job.outcome, first(fresh).code) == ("failure", "cancelled")
    assert first(fresh).text.startswith("it was cancelled by ann")


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (None, "it was denied by ann under rule 'big'"),
        ("no budget", "it was denied by ann under rule 'big' (no budget)"),
    ],
    ids=["no reason", "a reason"],
)
def test_denied_job_names_who_and_by_which_rule(fresh: World, reason: str | None, text: str) -> None:
    fresh.prepare("onhold")
    fresh.blocking.deny("onhold", rule="big", actor="ann", role="operator", reason=reason)

    assert (first(fresh, "onhold").code, first(fresh, "onhold").text) == ("denied", text)


def test_job_that_was_run_again_names_the_new_one(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="42")
    fresh.blocking.cancel("42")
    fresh.blocking.enqueue("other", job_id="child", parent_job_id="42")
    again = fresh.blocking.rerun("42")

    assert reasons(fresh)["rerun"].text == f"it was run again, as job {again.id}"
    assert [way.verb for way in explained(fresh).ways] == ["rerun"]


def test_end_does_not_become_overdue(fresh: World) -> None:
    fresh.prepare("ended")

    found = explained(fresh, "ended", after_s=10**6)

    assert [reason.code for reason in found.reasons] == ["succeeded"]
    assert found.at - now(fresh) == timedelta(seconds=10**6)


@pytest.mark.requirement("STD-19")
def test_job_whose_work_is_undone_names_the_job_that_does_it(fresh: World) -> None:
    policy = Policy(retry=Retry.never(), compensate=Compensation(kind="undo"))
    fresh.blocking.enqueue("scan", job_id="42", policy=policy)
    run(fresh)
    fresh.blocking.fail("42", worker="w1", attempt=1, error=BROKEN)
    before = reasons(fresh)
    (undo,) = fresh.blocking.claim(worker="w1", start=True)
    fresh.blocking.complete(undo.id, worker="w1", attempt=1)
    after = reasons(fresh)

    assert before["compensating"].text == f"its work is to be undone by job {undo.id}"
    assert after["compensated"].text == f"its work was undone by job {undo.id}"
    assert "compensating" not in after
