"""Good histories of the five lifecycles: every way to move that they have, told by the kernel itself."""

from collections.abc import Callable
from typing import Final

from detent.kernel import Error
from detent.kernel.command import (
    Approve,
    Cancel,
    Complete,
    DeadLetter,
    Deny,
    Fail,
    Release,
    Renew,
    ReportProgress,
    RequestCancel,
    Requeue,
    Rerun,
    Schedule,
    Stall,
    Start,
    Submit,
)
from detent.kernel.command import Retry as RetryCommand
from detent.kernel.job import Progress
from detent.lifecycle import Policy, Retry
from detent.lifecycles import CONTRACT, DISPATCH, DOCUMENT, ENGINE, STANDARD
from tests.audit.telling import BEGIN, PERMANENT, SECOND, Story

TWICE: Final = Policy(retry=Retry(max_attempts=2))
ALLOW: Final = Schedule(verdict="allow", rule="default")


def running() -> Story:
    return Story(STANDARD).claim().start()


def success() -> Story:
    story = running().own(Renew).own(Renew, checkpoint=b"1", progress=Progress(0.5, "half"))
    return story.complete().refused(Complete(worker="w1", attempt=1))


def at_once() -> Story:
    return Story(STANDARD).claim(start=True).complete()


def retried() -> Story:
    return running().fail().claim("w2", after_s=60).own(Renew, "w2").do(Cancel(mode="hard"))


def failures_used_up() -> Story:
    story = Story(STANDARD, policy=TWICE).claim(start=True).fail()
    return story.claim(after_s=60, start=True).fail()


def failures_used_up_by_error() -> Story:
    own = Retry(max_attempts=2, by_error={"Flaky": Retry(max_attempts=1, used_up="fail")})
    story = Story(STANDARD, policy=Policy(retry=own)).claim(start=True)
    return story.own(Fail, error=Error("Flaky"))


def failed_for_good() -> Story:
    return running().fail(PERMANENT)


def expired() -> Story:
    return Story(STANDARD).claim().reconcile().claim("w2", start=True).own(Complete, "w2")


def crashes_used_up() -> Story:
    policy = Policy(retry=Retry(max_attempts=5, crashes_max=2))
    return Story(STANDARD, policy=policy).claim().reconcile().claim().start().reconcile()


def timed_out() -> Story:
    policy = Policy(timeout_s=20, retry=Retry(max_attempts=2))
    story = Story(STANDARD, policy=policy).claim(start=True).reconcile()
    return story.claim(after_s=60, start=True).reconcile()


def released() -> Story:
    return running().own(Release, checkpoint=b"7").claim("w2", start=True).own(Complete, "w2")


def cancelled_while_queued() -> Story:
    return Story(STANDARD).do(Cancel())


def cancelled_softly() -> Story:
    return running().do(Cancel()).own(Renew).own(Release)


def cancelled_before_start() -> Story:
    return Story(STANDARD).claim().do(RequestCancel()).start().fail()


def cancelled_when_grace_was_over() -> Story:
    return running().do(Cancel()).own(Renew).own(Renew, after_s=28).reconcile()


def completed_in_grace() -> Story:
    return running().do(Cancel()).complete()


def set_aside() -> Story:
    story = running().fail().claim(after_s=60)
    return story.do(DeadLetter(role="operator", reason_code="policy_violation", stage="output"))


def retried_by_the_system() -> Story:
    return running().do(RetryCommand(role="scheduler")).claim("w2", after_s=60, start=True).own(Complete, "w2")


def lost_for_good_where_failures_fail() -> Story:
    policy = Policy(retry=Retry(max_attempts=1, used_up="fail"))
    return Story(STANDARD, policy=policy).claim().reconcile()


def crash_with_a_budget_of_its_own() -> Story:
    return Story(STANDARD, policy=own_budget("LeaseExpired")).claim().reconcile()


def timeout_with_a_budget_of_its_own() -> Story:
    return Story(STANDARD, policy=own_budget("TimedOut")).claim(start=True).reconcile()


def own_budget(error_type: str) -> Policy:
    return Policy(timeout_s=20, retry=Retry(max_attempts=9, by_error={error_type: Retry.never()}))


def patient_with_one_error() -> Story:
    policy = Policy(retry=Retry(max_attempts=1, by_error={"Flaky": Retry(max_attempts=9)}))
    story = Story(STANDARD, policy=policy).claim(start=True).fail(Error("Flaky")).claim(after_s=60)
    return story.do(Cancel()).own(Renew, after_s=20).reconcile()


def delayed() -> Story:
    return Story(STANDARD, run_at=BEGIN + 90 * SECOND).claim(after_s=90).start().complete()


def run_again() -> Story:
    return running().fail(PERMANENT).do(Rerun(new_job_id="j2"))


def allowed() -> Story:
    return dispatched().start().complete()


def dispatched() -> Story:
    return Story(DISPATCH).do(ALLOW).claim()


def held_then_approved() -> Story:
    return Story(DISPATCH).do(Schedule(verdict="hold", rule="big")).do(Approve(), after_s=500).claim().complete()


def held_then_denied() -> Story:
    return Story(DISPATCH).do(Schedule(verdict="hold", rule="big")).do(Deny(role="operator"))


def throttled() -> Story:
    return Story(DISPATCH).do(Schedule(verdict="throttle", rule="slow", delay_s=30)).claim(after_s=30).complete()


def denied() -> Story:
    return Story(DISPATCH).do(Schedule(verdict="deny", rule="no"))


def start_implied_by_result() -> Story:
    return dispatched().complete()


def start_implied_by_failure() -> Story:
    return dispatched().fail()


def start_implied_by_progress() -> Story:
    return dispatched().own(ReportProgress, progress=Progress(0.1)).complete()


def dispatched_by_scheduler() -> Story:
    return Story(DISPATCH).do(ALLOW).claim("pool", role="scheduler", start=True).own(Complete, "pool")


def not_started_in_time() -> Story:
    story = dispatched()
    for _ in range(3):
        story.own(Renew, after_s=19)
    return story.reconcile()


def stale() -> Story:
    return dispatched().start().reconcile()


def cancelled_by_control_plane() -> Story:
    return dispatched().do(Cancel(role="operator")).own(Cancel)


def engine_success() -> Story:
    return Story(ENGINE).claim().start().own(Renew).complete()


def engine_never_taken() -> Story:
    return Story(ENGINE).reconcile()


def engine_not_started() -> Story:
    return Story(ENGINE).claim().reconcile()


def engine_lost() -> Story:
    return Story(ENGINE).claim().start().reconcile()


def engine_cancelled() -> Story:
    return Story(ENGINE).claim().do(Cancel(mode="hard"))


def engine_failed_and_run_again() -> Story:
    policy = Policy(lease_s=30, heartbeat_s=10, rerun_failed=True)
    return Story(ENGINE, policy=policy).claim(start=True).fail()


def contract_success() -> Story:
    return Story(CONTRACT).claim().start().own(Renew).complete()


def contract_failed() -> Story:
    return Story(CONTRACT).claim().start().fail()


def stalled_and_requeued() -> Story:
    story = Story(CONTRACT).claim().start().do(Stall(role="reconciler"))
    return story.reconcile().claim("w2").own(Stall, "w2").do(Requeue(role="operator"))


def reclaimed() -> Story:
    story = Story(CONTRACT, policy=Policy(reclaim=True)).claim().start().reconcile()
    return story.claim("w2").own(Start, "w2").own(Complete, "w2")


def used_up_until_an_operator_came() -> Story:
    story = Story(CONTRACT, policy=TWICE).claim().reconcile().reconcile().claim().reconcile()
    return story.do(Requeue(role="operator"), after_s=3600).claim().start().complete()


def requeued_within_its_budget() -> Story:
    return Story(CONTRACT, policy=own_budget("Other")).claim().reconcile().reconcile()


def run_limit_stalls() -> Story:
    return Story(CONTRACT, policy=Policy(timeout_s=20)).claim().start().reconcile().reconcile()


def document_success() -> Story:
    return Story(DOCUMENT).do(Submit()).claim().own(Renew).complete()


def document_retried() -> Story:
    return submitted().claim().fail().reconcile().claim("w2").own(Complete, "w2")


def submitted() -> Story:
    return Story(DOCUMENT, submit=True)


def document_retries_used_up() -> Story:
    story = submitted().claim()
    for _ in range(3):
        story.fail().reconcile().claim()
    return story.fail()


def document_expired() -> Story:
    story = submitted().claim()
    for _ in range(3):
        story.reconcile().reconcile().claim()
    return story.reconcile()


def document_timed_out() -> Story:
    return Story(DOCUMENT, submit=True, policy=Policy(timeout_s=20, retry=Retry.never())).claim().reconcile()


def document_released() -> Story:
    return submitted().claim().own(Release).reconcile().claim().complete()


def document_cancelled() -> Story:
    return submitted().claim().do(Cancel()).own(Cancel)


def document_cancelled_while_it_waits() -> Story:
    return submitted().claim().fail().do(Cancel(), after_s=0)


def document_never_taken() -> Story:
    return submitted().do(Fail(role="scheduler", error=PERMANENT))


TELLERS: Final[tuple[Callable[[], Story], ...]] = (
    success, at_once, retried, retried_by_the_system, lost_for_good_where_failures_fail,
    crash_with_a_budget_of_its_own, timeout_with_a_budget_of_its_own, patient_with_one_error,
    failures_used_up, failures_used_up_by_error, failed_for_good, expired, crashes_used_up,
    timed_out, released, cancelled_while_queued, cancelled_softly, cancelled_before_start,
    cancelled_when_grace_was_over, completed_in_grace, set_aside, delayed, run_again,
    allowed, held_then_approved, held_then_denied, throttled, denied, start_implied_by_result,
    start_implied_by_failure, start_implied_by_progress, dispatched_by_scheduler, not_started_in_time, stale,
    cancelled_by_control_plane,
    engine_success, engine_never_taken, engine_not_started, engine_lost, engine_cancelled, engine_failed_and_run_again,
    contract_success, contract_failed, stalled_and_requeued, reclaimed, used_up_until_an_operator_came,
    requeued_within_its_budget, run_limit_stalls,
    document_success, document_retried, document_retries_used_up, document_expired, document_timed_out,
    document_released, document_cancelled, document_never_taken,
    document_cancelled_while_it_waits,
)  # fmt: skip
GOOD: Final = {teller.__name__: teller for teller in TELLERS}
