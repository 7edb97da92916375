"""Bad histories, made by hand out of good ones: for each invariant, logs that break it and nothing else."""

from collections.abc import Callable
from typing import Any, Final

from msgspec.structs import replace

from detent.kernel.command import Cancel, Fail, Release, Renew, Requeue, Stall
from detent.kernel.digest import digest_of
from detent.kernel.fold import fold
from detent.lifecycle import Compensation, Policy, Retry
from detent.lifecycles import CONTRACT, DISPATCH, DOCUMENT, ENGINE, STANDARD
from tests.audit.stories import (
    ALLOW,
    TWICE,
    expired,
    running,
    submitted,
    success,
)
from tests.audit.telling import BEGIN, PERMANENT, SECOND, Story, appended, cut, edited

LEASE: Final = ("owner", "lease_s", "lease_expires_at", "heartbeat_by", "last_owner", "last_lease_expires_at")


def under(policy: Policy, story: Story) -> Story:
    """The same history, of a job whose policy was another."""
    story.job = replace(story.job, spec=replace(story.job.spec, policy=policy))
    return story


def without(verb: str, story: Story) -> Story:
    """The history without the last event but one, closed up behind it."""
    number = story.events.index(story.event(verb))
    gone = story.events.pop(number)
    following = story.events[number]
    lease_ends = fold(story.events[:number])["lease_expires_at"]
    changes = following.changes | {"last_lease_expires_at": lease_ends}
    story.events[number] = replace(following, rev=gone.rev, from_state=gone.from_state, changes=changes)
    return story


def retried_after(story: Story) -> Story:
    """A way back to queued, as a job that was not asked to stop would take it."""
    other = running().fail()
    back = other.event("retry")
    return appended(story, back, at=story.now + SECOND, changes=back.changes | {"cancel_by": None})


# -- I1: the chain ----------------------------------------------------------------------------------------------------


def event_missing() -> Story:
    story = success()
    del story.events[2]
    return story


def event_twice() -> Story:
    story = success()
    story.events.insert(3, story.events[2])
    return story


def events_swapped() -> Story:
    story = success()
    story.events[2:4] = reversed(story.events[2:4])
    return story


def begins_elsewhere() -> Story:
    return edited(running().do(Cancel(mode="hard")), "cancel", from_state="assigned")


def begins_late() -> Story:
    return edited(Story(STANDARD), "enqueue", rev=2)


# -- I2: declared moves -----------------------------------------------------------------------------------------------


def completed_without_start() -> Story:
    return without("start", running().complete())


def implied_start_not_written() -> Story:
    return without("start", Story(DISPATCH).do(ALLOW).claim().complete())


def completed_by_client() -> Story:
    return edited(running().complete(), "complete", role="client", worker=None)


def stranger_cancels_after_a_request() -> Story:
    return edited(Story(DISPATCH).do(ALLOW).claim().do(Cancel(role="operator")).own(Cancel), "cancel", role="policy")


def owner_cancels_unasked() -> Story:
    story = Story(DISPATCH).do(ALLOW).claim().do(Cancel(mode="hard", role="operator"))
    return edited(story, "cancel", role="owner", worker="w1")


def misnamed() -> Story:
    return edited(running(), "start", type="job_claimed")


def claim_named_a_heartbeat() -> Story:
    return edited(running(), "claim", type="job_heartbeat")


def begins_without_enqueue() -> Story:
    return edited(Story(STANDARD), "enqueue", verb="requeue")


def progress_as_a_move() -> Story:
    story = cut(running().own(Renew), "renew", columns=(*LEASE, "wake_at"))
    return edited(story, "renew", verb="progress", type="job_progress")


# -- I4: the end ------------------------------------------------------------------------------------------------------


def finished_twice() -> Story:
    story = running().complete()
    return appended(story, story.event("complete"))


def claimed_after_the_end() -> Story:
    story = running().complete()
    return appended(story, story.event("claim"), at=story.now)


def still_woken_after_the_end() -> Story:
    return edited(running().complete(), "complete", changes={"wake_at": BEGIN})


def end_not_stamped() -> Story:
    return cut(running().complete(), "complete", columns=("ended_at",))


# -- I5: attempts -----------------------------------------------------------------------------------------------------


def attempt_skipped() -> Story:
    return edited(Story(STANDARD).claim(), "claim", attempt=2, changes={"attempt": 2})


def claim_not_counted() -> Story:
    return edited(Story(STANDARD).claim(), "claim", attempt=0, changes={"attempt": 0})


def renewal_counted() -> Story:
    return edited(running().own(Renew), "renew", changes={"attempt": 2})


def expiry_under_another_attempt() -> Story:
    return edited(Story(STANDARD).claim().reconcile(), "expire", attempt=2)


# -- I6: the fence ----------------------------------------------------------------------------------------------------


def completed_by_another() -> Story:
    return edited(running().complete(), "complete", worker="w2", actor="w2")


def completed_under_an_older_attempt() -> Story:
    return edited(expired(), "complete", attempt=1)


def completed_after_the_lease() -> Story:
    story = running().complete()
    late = story.event("start").at + 60 * SECOND
    return edited(story, "complete", at=late, changes={"ended_at": late})


def failure_of_a_zombie_retried() -> Story:
    return edited(running().fail(), "retry", worker="w0", actor="w0")


def completed_by_nobody() -> Story:
    return edited(running().complete(), "complete", worker=None)


# -- I7: one holder ---------------------------------------------------------------------------------------------------


def queued_with_a_lease() -> Story:
    return cut(running().own(Release), "release", columns=LEASE)


def held_without_heartbeat() -> Story:
    return edited(Story(STANDARD).claim(), "claim", changes={"heartbeat_by": None})


def handed_over() -> Story:
    return edited(running().own(Renew), "renew", changes={"owner": "w2"})


def claimed_while_held() -> Story:
    story = Story(STANDARD).claim()
    taken = story.event("claim")
    changes = taken.changes | {"owner": "w2", "attempt": 2}
    return appended(story, taken, worker="w2", attempt=2, to_state="assigned", changes=changes)


def claimed_for_another() -> Story:
    return edited(Story(STANDARD).claim(), "claim", worker="w2")


def held_and_on_offer() -> Story:
    return edited(Story(STANDARD).claim(), "claim", changes={"claim_at": BEGIN})


def lease_over_when_it_begins() -> Story:
    story = Story(STANDARD).claim()
    return edited(story, "claim", changes={"lease_expires_at": story.now})


def wrong_phase() -> Story:
    return edited(Story(STANDARD), "enqueue", changes={"phase": "parked"})


def lease_stretched_by_a_cancel_request() -> Story:
    story = running().do(Cancel())
    return edited(story, "request_cancel", changes={"lease_expires_at": story.now + 999 * SECOND})


def holder_forgotten() -> Story:
    return cut(running().own(Release), "release", columns=("last_owner",))


# -- I8: not before it is late ----------------------------------------------------------------------------------------


def expired_early() -> Story:
    story = Story(STANDARD).claim()
    early = story.now + 30 * SECOND
    return edited(story.reconcile(), "expire", at=early)


def stalled_as_a_crash_early() -> Story:
    story = Story(CONTRACT).claim().do(Stall(role="reconciler"))
    return edited(story, "stall", changes={"interruptions": 0, "crashes": 1})


def stalled_as_a_timeout_early() -> Story:
    story = Story(CONTRACT, policy=Policy(timeout_s=20)).claim().start().do(Stall(role="reconciler"))
    return edited(story, "stall", changes={"interruptions": 0, "failures": 1})


def timed_out_early() -> Story:
    story = Story(STANDARD, policy=Policy(timeout_s=20)).claim(start=True)
    early = story.now + SECOND
    return edited(story.reconcile(), "time_out", at=early)


def timed_out_without_a_limit() -> Story:
    story = running()
    out = Story(STANDARD, policy=Policy(timeout_s=20)).claim(start=True).reconcile().event("time_out")
    lease_ends = story.job.lease_expires_at
    return appended(story, out, changes=out.changes | {"last_lease_expires_at": lease_ends})


# -- I9: the count ----------------------------------------------------------------------------------------------------


def failure_counted_twice() -> Story:
    return edited(running().fail(), "retry", changes={"failures": 2})


def failure_counted_as_two_things() -> Story:
    return edited(running().own(Release), "release", changes={"failures": 1})


def crash_counted_as_two_things() -> Story:
    return edited(Story(CONTRACT).claim().reconcile(), "stall", changes={"interruptions": 1})


def expired_for_good_with_retries_left() -> Story:
    story = Story(DOCUMENT, submit=True, policy=Policy(retry=Retry.never())).claim().reconcile()
    return under(Policy(retry=Retry(max_attempts=3)), story)


def loss_not_counted() -> Story:
    return cut(running().fail(), "retry", columns=("failures",))


def crash_counted_as_interruption() -> Story:
    return edited(Story(STANDARD).claim().reconcile(), "expire", changes={"crashes": 0, "interruptions": 1})


def success_counted_as_failure() -> Story:
    return edited(running().complete(), "complete", changes={"failures": 1})


def renewal_counted_as_failure() -> Story:
    return edited(running().own(Renew), "renew", changes={"failures": 1})


def claimed_on_a_spent_budget() -> Story:
    return under(Policy(retry=Retry.never()), running().fail().claim(after_s=60))


def more_crashes_than_allowed() -> Story:
    story = Story(STANDARD).claim().reconcile().claim().reconcile()
    return under(Policy(retry=Retry(crashes_max=1)), story)


def sent_round_again_by_the_system() -> Story:
    story = Story(CONTRACT, policy=TWICE).claim().reconcile().reconcile().claim().reconcile()
    story.do(Requeue(role="operator"))
    counts = {"failures": 0, "crashes": 2, "interruptions": 0}
    return edited(story, "requeue", 2, role="reconciler", changes=counts)


def operator_forgives_half() -> Story:
    story = Story(CONTRACT, policy=TWICE).claim().reconcile().reconcile().claim().reconcile()
    return edited(story.do(Requeue(role="operator")), "requeue", 2, changes={"crashes": 1})


def failed_with_retries_left() -> Story:
    story = submitted().claim().own(Fail, error=PERMANENT)
    error = replace(story.job.error or PERMANENT, type="TransientError")
    story.job = replace(story.job, error=error)
    payload = {"error": {"type": "TransientError"}}
    return edited(story, "fail", payload=payload, changes={"error_digest": digest_of(error)})


# -- I16, I17, I18: stopping and waiting ------------------------------------------------------------------------------


def queued_again_after_a_cancel_request() -> Story:
    return retried_after(running().do(Cancel()))


def grace_prolonged() -> Story:
    story = running().do(Cancel()).own(Renew)
    return edited(story, "renew", changes={"cancel_by": story.now + 99 * SECOND})


def cancel_request_without_an_end() -> Story:
    return edited(running().do(Cancel()), "request_cancel", changes={"cancel_by": None})


def limit_not_set() -> Story:
    return edited(Story(ENGINE), "enqueue", changes={"deadline_at": None, "wake_at": None})


def timer_that_never_runs_out() -> Story:
    return edited(submitted().claim().fail(), "retry", changes={"due_at": None, "wake_at": None})


def limit_set_too_late() -> Story:
    story = Story(ENGINE)
    return edited(story, "enqueue", changes={"deadline_at": story.now + 31 * SECOND})


def looked_at_too_late() -> Story:
    story = Story(STANDARD).claim()
    return edited(story, "claim", changes={"wake_at": story.now + 61 * SECOND})


def nobody_looks() -> Story:
    return edited(Story(STANDARD).claim(), "claim", changes={"wake_at": None})


def claimed_before_its_time() -> Story:
    story = Story(STANDARD, run_at=BEGIN + 90 * SECOND).claim(after_s=90)
    return edited(story, "claim", at=BEGIN + SECOND)


def claimable_before_its_time() -> Story:
    story = edited(Story(STANDARD, run_at=BEGIN + 90 * SECOND), "enqueue", changes={"claim_at": BEGIN})
    return edited(story.claim(after_s=90), "claim", at=BEGIN + SECOND)


def claimed_while_on_hold() -> Story:
    story = Story(DISPATCH).do(ALLOW).claim()
    return edited(story, "schedule", changes={"verdict": "hold", "claim_at": None, "due_at": None})


def requeued_before_the_delay() -> Story:
    story = submitted().claim().fail().reconcile()
    return edited(story, "requeue", at=story.event("retry").at)


# -- I21: dead letters ------------------------------------------------------------------------------------------------


def set_aside_with_attempts_left() -> Story:
    story = Story(STANDARD, policy=Policy(retry=Retry.never())).claim().reconcile()
    return under(Policy(retry=Retry(max_attempts=3)), story)


def failure_set_aside_with_attempts_left() -> Story:
    story = Story(STANDARD, policy=Policy(retry=Retry.never())).claim(start=True).fail()
    return under(Policy(retry=Retry(max_attempts=3)), story)


def set_aside_though_it_should_fail() -> Story:
    story = Story(STANDARD, policy=Policy(retry=Retry.never())).claim(start=True).fail()
    return under(Policy(retry=Retry(max_attempts=1, used_up="fail")), story)


def reason_not_kept() -> Story:
    story = Story(STANDARD, policy=Policy(retry=Retry.never())).claim(start=True).fail()
    error: dict[str, Any] = {"type": "TransientError", "stage": "exec"}
    return edited(story, "dead_letter", payload={"error": error})


def compensation_set_aside_for_another_reason() -> Story:
    story = Story(STANDARD, policy=Policy(retry=Retry.never(), is_compensation=True)).claim(start=True).fail()
    error: dict[str, Any] = {"type": "TransientError", "stage": "exec", "reason_code": "exhausted_retries"}
    return edited(story, "dead_letter", payload={"error": error})


# -- I29: compensation ------------------------------------------------------------------------------------------------

UNDONE: Final = Policy(retry=Retry.never(), compensate=Compensation(kind="undo"))


def undone_by_nobody() -> Story:
    return Story(STANDARD, policy=UNDONE).claim(start=True).fail(PERMANENT)


def cancelled_and_undone_by_nobody() -> Story:
    return Story(STANDARD, policy=UNDONE).claim(start=True).do(Cancel(mode="hard"))


def undone_though_it_succeeded() -> Story:
    story = Story(STANDARD, policy=UNDONE).claim(start=True).complete()
    return edited(story, "complete", payload={"compensation_job_id": "undo"})


def undone_though_it_never_ran() -> Story:
    story = Story(STANDARD, policy=UNDONE).do(Cancel())
    return edited(story, "cancel", payload={"mode": "soft", "compensation_job_id": "undo"})


def undone_and_run_again() -> Story:
    both = {"compensation_job_id": "undo", "rerun_job_id": "again"}
    return edited(Story(ENGINE, policy=UNDONE).claim(start=True).fail(), "fail", payload=both)


# -- I22: time --------------------------------------------------------------------------------------------------------


def clock_stepped_back() -> Story:
    story = running().own(Renew)
    return edited(story, "renew", at=story.event("start").at - 1)


BAD: Final[dict[str, tuple[Callable[[], Story], ...]]] = {
    "I1": (event_missing, event_twice, events_swapped, begins_elsewhere, begins_late),
    "I2": (
        completed_without_start, implied_start_not_written, completed_by_client, owner_cancels_unasked,
        stranger_cancels_after_a_request, misnamed,
        claim_named_a_heartbeat, begins_without_enqueue, progress_as_a_move,
    ),
    "I4": (finished_twice, claimed_after_the_end, still_woken_after_the_end, end_not_stamped),
    "I5": (attempt_skipped, claim_not_counted, renewal_counted, expiry_under_another_attempt),
    "I6": (
        completed_by_another, completed_under_an_older_attempt, completed_after_the_lease,
        failure_of_a_zombie_retried, completed_by_nobody,
    ),
    "I7": (
        queued_with_a_lease, held_without_heartbeat, handed_over, claimed_while_held, claimed_for_another,
        held_and_on_offer, lease_over_when_it_begins, wrong_phase, lease_stretched_by_a_cancel_request,
        holder_forgotten,
    ),
    "I8": (
        expired_early, stalled_as_a_crash_early, stalled_as_a_timeout_early, timed_out_early,
        timed_out_without_a_limit,
    ),
    "I9": (
        failure_counted_twice, failure_counted_as_two_things, crash_counted_as_two_things,
        expired_for_good_with_retries_left, loss_not_counted, crash_counted_as_interruption,
        success_counted_as_failure, renewal_counted_as_failure, claimed_on_a_spent_budget, more_crashes_than_allowed,
        sent_round_again_by_the_system, operator_forgives_half, failed_with_retries_left,
    ),
    "I16": (queued_again_after_a_cancel_request, grace_prolonged, cancel_request_without_an_end),
    "I17": (limit_not_set, limit_set_too_late, timer_that_never_runs_out, nobody_looks, looked_at_too_late),
    "I18": (
        claimed_before_its_time, claimable_before_its_time, claimed_while_on_hold, requeued_before_the_delay,
    ),
    "I21": (
        set_aside_with_attempts_left, failure_set_aside_with_attempts_left, set_aside_though_it_should_fail,
        reason_not_kept, compensation_set_aside_for_another_reason,
    ),
    "I22": (clock_stepped_back,),
    "I29": (
        undone_by_nobody, cancelled_and_undone_by_nobody, undone_though_it_succeeded, undone_though_it_never_ran,
        undone_and_run_again,
    ),
}  # fmt: skip
