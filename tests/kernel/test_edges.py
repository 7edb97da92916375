"""Where two rules meet: the answers that are easy to get wrong."""

import pytest

from detent.errors import InvalidArgument, Refused
from detent.kernel import Change, Error, decide
from detent.kernel.command import Cancel, Claim, Complete, Enqueue, Fail, ReportProgress, Rerun, Schedule, Start
from detent.kernel.job import Progress
from detent.lifecycle import Lifecycle, Policy, Retry, State, move
from detent.lifecycles import CONTRACT, DISPATCH, DOCUMENT, ENGINE, STANDARD
from tests.driving import WORKER, Life

ONCE = Policy(retry=Retry(max_attempts=1, used_up="fail"))


@pytest.mark.requirement("ALL-05", "DSP-01")
def test_id_of_a_job_on_another_lifecycle_is_taken_all_the_same() -> None:
    taken = Life(DISPATCH).job

    answer = decide(STANDARD, taken, Enqueue(job_id="job-1", kind="scan"), 0)

    assert isinstance(answer, Refused)
    assert (answer.code, answer.state, answer.allowed) == ("job_exists", "PENDING", ())


@pytest.mark.requirement("ALL-05")
def test_same_request_id_for_another_lifecycle_is_a_conflict() -> None:
    enqueue = Enqueue(job_id="j", kind="k", request_id="r")
    first = decide(STANDARD, None, enqueue, 0)
    assert isinstance(first, Change)

    again = decide(STANDARD, first.job, enqueue, 1, receipt=first.receipt)
    other = decide(ENGINE, first.job, enqueue, 1, receipt=first.receipt)

    assert isinstance(again, Change)
    assert again.answer == "repeat"
    assert isinstance(other, Refused)
    assert other.code == "request_conflict"


@pytest.mark.requirement("ALL-17", "ALL-16")
@pytest.mark.parametrize(("lifecycle", "state"), [(STANDARD, "failed"), (DOCUMENT, "FAILED")])
def test_failure_that_uses_the_budget_up_is_final_even_after_a_cancel_request(lifecycle: Lifecycle, state: str) -> None:
    life = Life(lifecycle, policy=ONCE, submit=True)
    life.claim(start=True)
    life.do(Cancel(mode="soft"))

    life.fail("TransientError", "scanner is busy")

    assert life.job.state == state
    assert life.job.error is not None
    assert (life.job.error.type, life.job.error.reason_code) == ("TransientError", "exhausted_retries")


@pytest.mark.requirement("ALL-17")
def test_error_that_came_with_a_cancel_is_kept_as_the_last_one() -> None:
    life = Life(DOCUMENT, submit=True)
    life.claim()
    life.do(Cancel(mode="soft"))

    life.fail("TransientError", "scanner is busy")

    assert life.job.error is not None
    assert life.job.error.type == "Cancelled"
    assert life.job.last_error is not None
    assert life.job.last_error.message == "scanner is busy"


@pytest.mark.requirement("DOC-03", "ENG-11")
def test_rerun_by_hand_starts_its_count_anew_and_names_what_it_reruns() -> None:
    life = Life(DOCUMENT, policy=DOCUMENT.policy(retry=Retry.fixed(delay_s=0, max_attempts=2)), submit=True)
    for _ in range(2):
        life.claim()
        life.fail()
        if not life.job.is_ended:
            life.reconcile()

    again = decide(DOCUMENT, life.job, Rerun(new_job_id="job-2"), life.now)

    assert isinstance(again, Change)
    assert (life.job.retries, again.job.retries, again.job.rerun_of) == (1, 0, "job-1")


@pytest.mark.requirement("ALL-06")
def test_rerun_decided_on_an_older_revision_is_refused() -> None:
    life = Life(STANDARD)
    life.do(Cancel(mode="hard"))

    answer = decide(STANDARD, life.job, Rerun(new_job_id="job-2", expected_rev=life.job.rev - 1), life.now)

    assert isinstance(answer, Refused)
    assert answer.code == "stale_rev"


@pytest.mark.requirement("ALL-07")
@pytest.mark.parametrize("lifecycle", [STANDARD, CONTRACT], ids=["fence_required", "rev_required"])
def test_unfenced_result_of_a_worker_that_lost_the_job_is_a_late_one(lifecycle: Lifecycle) -> None:
    life = Life(lifecycle)
    life.claim(start=True)
    life.reconcile()
    if life.job.phase == "parked":
        life.reconcile()
    life.do(Claim(worker="somebody-else"))

    answer = life.ask(Complete(worker=WORKER, result=b"1"))

    assert isinstance(answer, Refused)
    assert [note.kind for note in life.notes] == ["late_result"]


@pytest.mark.requirement("CON-02", "ALL-07")
def test_progress_needs_the_fence_but_no_revision_where_mutations_need_one() -> None:
    life = Life(CONTRACT)
    life.claim(start=True)

    fenced = life.do(ReportProgress(worker=WORKER, attempt=1, progress=Progress(0.5)))
    bare = life.ask(ReportProgress(worker=WORKER, progress=Progress(0.6)))

    assert (fenced.answer, fenced.job.progress) == ("noted", Progress(0.5))
    assert isinstance(bare, Refused)
    assert bare.code == "fence_required"


@pytest.mark.requirement("CON-08")
def test_reclaim_makes_nothing_claimable_that_declares_no_claim() -> None:
    life = Life(DOCUMENT, policy=DOCUMENT.policy(reclaim=True), submit=True)
    life.claim()

    life.fail()

    assert (life.job.state, life.job.claim_at, life.job.order_at) == ("RETRYING", None, None)


@pytest.mark.requirement("DSP-05", "ALL-07")
def test_worker_that_wakes_up_too_late_is_not_told_that_it_is_running() -> None:
    life = Life(DISPATCH)
    life.do(Schedule(verdict="allow", rule="r"))
    life.claim(start=True)

    in_time = life.ask(Start(worker=WORKER, attempt=1))
    unfenced = life.ask(Start(worker=WORKER))
    life.wait(61)
    too_late = life.ask(Start(worker=WORKER, attempt=1))

    assert isinstance(in_time, Change)
    assert isinstance(unfenced, Refused)
    assert isinstance(too_late, Refused)


@pytest.mark.requirement("ALL-16", "STD-09")
def test_reason_of_a_used_up_budget_is_the_kernels_to_say() -> None:
    life = Life(STANDARD, policy=Policy(retry=Retry(max_attempts=1)))
    life.claim(start=True)

    life.do(Fail(**life.as_owner(), error=Error("X", reason_code="parse_error"), execution_ms=12))

    assert life.job.error is not None
    assert life.job.error.reason_code == "exhausted_retries"
    assert life.events[-1].payload is not None
    assert life.events[-1].payload["execution_ms"] == 12


@pytest.mark.requirement("DSP-03")
def test_only_a_throttle_delays() -> None:
    allowed, throttled = Life(DISPATCH), Life(DISPATCH)

    allowed.do(Schedule(verdict="allow", rule="r", delay_s=30))
    throttled.do(Schedule(verdict="throttle", rule="r", delay_s=30))

    assert allowed.job.claim_at == allowed.now
    assert throttled.job.claim_at == throttled.now + 30_000_000


@pytest.mark.requirement("DSP-06")
def test_amendment_of_an_older_attempt_is_refused() -> None:
    life = Life(STANDARD, policy=Policy(accept_amendments=True))
    life.claim(start=True)
    life.reconcile()
    life.claim(start=True)
    life.complete()

    older = life.ask(Complete(worker=WORKER, attempt=1, result=b"1"))
    last = life.ask(Complete(worker=WORKER, attempt=2, result=b"2"))

    assert isinstance(older, Refused)
    assert isinstance(last, Change)
    assert last.answer == "noted"


@pytest.mark.requirement("STD-20")
def test_mapping_to_a_class_that_does_not_exist_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="PermanantError"):
        Policy(error_classes={"KeyError": "PermanantError"})


@pytest.mark.requirement("DOC-03")
def test_settings_of_a_job_type_start_from_the_lifecycles_own() -> None:
    policy = DOCUMENT.policy(lease_s=45)

    assert policy.retry == DOCUMENT.defaults.retry
    assert (policy.lease_s, policy.heartbeat_s) == (45, 22.5)


@pytest.mark.requirement("ALL-17")
@pytest.mark.parametrize("is_failure", [True, False], ids=["failure", "lost lease"])
def test_used_up_budget_that_only_parks_a_job_does_not_outlive_a_cancel_request(is_failure: bool) -> None:
    waiting = Lifecycle(
        name="waiting",
        version=1,
        states=(
            State("queued", "ready"),
            State("running", "active"),
            State("aside", "parked"),
            State("done", "ended", "success"),
            State("lost", "ended", "failure"),
            State("off", "ended", "cancelled"),
        ),
        moves=(
            move("-", "enqueue", "queued", by="client"),
            move("queued", "claim", "running", by="worker"),
            move("running", "complete", "done", by="owner"),
            move("running", "fail", "lost", by="owner"),
            move("running", "retry", "aside", by="system", recovery=True),
            move("running", "stall", "aside", by="system, owner", recovery=True),
            move("aside", "requeue", "queued", by="system, operator", recovery=True),
            move("queued, running, aside", "cancel", "off", by="client"),
        ),
        on_expiry="stall",
        on_timeout="stall",
    )
    life = Life(waiting, policy=Policy(retry=Retry(max_attempts=1), grace_s=3600))
    life.claim()
    life.do(Cancel(mode="soft"))

    if is_failure:
        life.fail("TransientError")
    else:
        life.reconcile()

    assert (life.job.state, life.job.cancel_by) == ("off", None)
