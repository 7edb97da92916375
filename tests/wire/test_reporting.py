"""What a received JobResult does to a job: one command for each status, by the role the status belongs to."""

import msgspec
import pytest

from detent.errors import InvalidArgument, Refused
from detent.kernel import Change
from detent.kernel.command import Cancel, Claim, Complete, Deny, Fail, Schedule, Start, TimeOut
from detent.lifecycle import Policy
from detent.lifecycles import DISPATCH
from detent.wire.dispatch import JobResult, Status, result_of
from detent.wire.reporting import UNSPECIFIED, command_for
from tests.driving import WORKER, Life


def scheduled(policy: Policy | None = None) -> Life:
    life = Life(DISPATCH, policy=policy)
    life.do(Schedule(verdict="allow", rule="default"))
    return life


def dispatched(policy: Policy | None = None) -> Life:
    life = scheduled(policy)
    life.claim()
    return life


def running(policy: Policy | None = None) -> Life:
    life = dispatched(policy)
    life.start()
    return life


def report(life: Life, status: Status, **fields: object) -> Change | Refused:
    told = msgspec.convert({"job_id": life.job.id, "status": status, "worker_id": WORKER} | fields, JobResult)
    return life.ask(command_for(told, attempt=life.job.attempt))


@pytest.mark.requirement("DSP-02")
@pytest.mark.parametrize(
    ("status", "command"),
    [
        ("DISPATCHED", Claim),
        ("RUNNING", Start),
        ("SUCCEEDED", Complete),
        ("FAILED", Fail),
        ("CANCELLED", Cancel),
        ("DENIED", Deny),
        ("TIMEOUT", TimeOut),
    ],
)
def test_each_status_asks_for_the_move_that_leads_to_it(status: Status, command: type) -> None:
    asked = command_for(JobResult(job_id="j", status=status, worker_id=WORKER))

    assert type(asked) is command
    assert status in DISPATCH.table.targets[asked.verb]


@pytest.mark.requirement("DSP-02")
def test_success_ends_the_job_with_its_pointer_and_time() -> None:
    life = running()
    report(life, "SUCCEEDED", result_ptr="redis://res/1", execution_ms=12)

    assert (life.job.state, life.job.result_ptr, life.job.result) == ("SUCCEEDED", "redis://res/1", b"null")
    assert result_of(life.job, life.events[-1]).execution_ms == 12


@pytest.mark.requirement("DSP-02")
def test_failure_ends_the_job_with_its_code_and_message() -> None:
    life = running()
    report(life, "FAILED", error_code="E_RATE", error_message="429")
    told = result_of(life.job, life.events[-1])

    assert (told.status, told.error_code, told.error_message) == ("FAILED", "E_RATE", "429")


@pytest.mark.requirement("DSP-02")
def test_failure_without_a_code_is_still_a_failure() -> None:
    life = running()
    report(life, "FAILED")

    assert life.job.error is not None
    assert (life.job.state, life.job.error.type) == ("FAILED", UNSPECIFIED)


@pytest.mark.requirement("DSP-02")
def test_error_code_is_what_the_classes_of_a_policy_are_keyed_by() -> None:
    policy = Policy(rerun_failed=True, error_classes={"E_BAD": "ValidationError"})
    bad, unlucky = running(policy), running(policy)
    report(bad, "FAILED", error_code="E_BAD")
    report(unlucky, "FAILED", error_code="E_RATE")

    assert bad.job.error is not None
    assert bad.job.error.category == "validation"
    assert len(bad.spawned) == 0
    assert len(unlucky.spawned) == 1


@pytest.mark.requirement("DSP-03")
def test_result_for_a_job_not_started_brings_its_start_along() -> None:
    life = dispatched()
    report(life, "SUCCEEDED")

    assert [event.to_state for event in life.events[-2:]] == ["RUNNING", "SUCCEEDED"]


@pytest.mark.requirement("DSP-03")
def test_acknowledgement_takes_a_scheduled_job() -> None:
    life = scheduled()
    report(life, "DISPATCHED")

    assert (life.job.state, life.job.owner) == ("DISPATCHED", WORKER)


@pytest.mark.requirement("DSP-03")
def test_cancel_is_hard_and_by_the_control_plane() -> None:
    life = running()
    report(life, "CANCELLED", error_message="user left")

    assert (life.job.state, life.events[-1].role, life.events[-1].cause) == ("CANCELLED", "operator", "user left")


@pytest.mark.requirement("DSP-03")
def test_denial_is_the_schedulers_and_names_the_rule() -> None:
    life = scheduled()
    report(life, "DENIED", error_code="no-chat")

    assert (life.job.state, life.events[-1].role) == ("DENIED", "scheduler")
    assert result_of(life.job, life.events[-1]).error_message == "denied by rule no-chat"


@pytest.mark.requirement("DSP-03")
def test_timeout_is_the_reconcilers_and_only_when_the_time_is_over() -> None:
    life = dispatched()
    early = report(life, "TIMEOUT")
    life.wait(60)
    report(life, "TIMEOUT")

    assert isinstance(early, Refused)
    assert early.code == "not_due"
    assert (life.job.state, life.events[-1].role) == ("TIMEOUT", "reconciler")


@pytest.mark.requirement("DSP-03")
def test_every_move_is_recorded_with_a_role_that_the_lifecycle_gives_it_to() -> None:
    life = scheduled()
    report(life, "DISPATCHED")
    report(life, "RUNNING")
    report(life, "SUCCEEDED")

    for event in life.events[2:]:
        assert event.from_state is not None
        assert event.role in DISPATCH.table.routes[event.from_state][event.verb].by


@pytest.mark.requirement("DSP-03")
@pytest.mark.parametrize("name", ["operator", "reconciler", "scheduler", "client"])
def test_worker_that_calls_itself_by_a_role_does_not_get_it(name: str) -> None:
    life = running()
    answer = report(life, "SUCCEEDED", worker_id=name)

    assert isinstance(answer, Refused)
    assert answer.code == "not_owner"


@pytest.mark.requirement("DSP-02")
def test_pool_reports_for_the_worker_that_did_the_work() -> None:
    life = scheduled()
    life.do(Claim(role="scheduler", worker="pool-chat"))
    told = JobResult(job_id=life.job.id, status="SUCCEEDED", worker_id="gpu-7")
    life.do(command_for(told, worker="pool-chat", attempt=1))

    assert (life.events[-1].worker, life.events[-1].actor) == ("pool-chat", "gpu-7")


@pytest.mark.requirement("DSP-05")
@pytest.mark.parametrize("status", ["DISPATCHED", "RUNNING", "SUCCEEDED", "FAILED", "CANCELLED", "TIMEOUT"])
def test_same_report_twice_succeeds_and_writes_nothing(status: Status) -> None:
    life = {"DISPATCHED": scheduled, "RUNNING": dispatched}.get(status, running)()
    life.wait(4_000 if status == "TIMEOUT" else 1)
    first = report(life, status)
    events = len(life.events)
    again = report(life, status)

    assert isinstance(first, Change)
    assert first.answer == "applied"
    assert isinstance(again, Change)
    assert again.answer == "unchanged"
    assert len(life.events) == events


@pytest.mark.requirement("DSP-05")
@pytest.mark.parametrize("status", ["DISPATCHED", "DENIED"])
def test_report_that_would_go_back_is_refused(status: Status) -> None:
    life = running()
    answer = report(life, status)

    assert isinstance(answer, Refused)
    assert life.job.state == "RUNNING"


@pytest.mark.requirement("DSP-06")
@pytest.mark.parametrize("status", ["SUCCEEDED", "FAILED"])
def test_result_that_comes_after_the_end_is_noted_and_overwrites_nothing(status: Status) -> None:
    life = running()
    life.do(Cancel(mode="hard"))
    answer = report(life, status)

    assert isinstance(answer, Refused)
    assert life.job.state == "CANCELLED"
    assert [note.kind for note in life.notes] == ["late_result"]


@pytest.mark.requirement("DSP-06")
def test_result_after_the_end_is_an_amendment_where_the_policy_allows() -> None:
    life = running(Policy(accept_amendments=True))
    life.do(Cancel(mode="hard"))
    answer = report(life, "SUCCEEDED")

    assert isinstance(answer, Change)
    assert answer.answer == "noted"
    assert [note.kind for note in life.notes] == ["amendment"]
    assert life.job.state == "CANCELLED"


@pytest.mark.parametrize("status", ["PENDING", "SCHEDULED"])
def test_status_that_no_worker_can_report_is_refused_with_who_does_it(status: Status) -> None:
    with pytest.raises(InvalidArgument, match="JobRequest") as refusal:
        command_for(JobResult(job_id="j", status=status, worker_id=WORKER))

    assert refusal.value.code == "status_not_reportable"


@pytest.mark.parametrize("status", ["DISPATCHED", "RUNNING", "SUCCEEDED", "FAILED"])
def test_workers_report_without_a_worker_is_refused(status: Status) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        command_for(JobResult(job_id="j", status=status))

    assert refusal.value.code == "worker_required"


@pytest.mark.parametrize(
    "told",
    [
        JobResult(job_id="j", status="SUCCEEDED", worker_id=WORKER, error_code="E"),
        JobResult(job_id="j", status="SUCCEEDED", worker_id=WORKER, error_message="but"),
        JobResult(job_id="j", status="FAILED", worker_id=WORKER, result_ptr="redis://res/1"),
    ],
)
def test_result_that_contradicts_itself_is_refused(told: JobResult) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        command_for(told)

    assert refusal.value.code == "contradictory_result"


def test_reason_is_cut_to_what_is_kept() -> None:
    life = running()
    report(life, "CANCELLED", error_message="m" * 16_000)

    assert life.events[-1].cause == "m" * 4_096


def test_worker_name_that_cannot_be_printed_is_refused() -> None:
    with pytest.raises(InvalidArgument):
        command_for(JobResult(job_id="j", status="SUCCEEDED", worker_id="a\nb"))


@pytest.mark.requirement("DSP-05")
def test_request_id_and_revision_travel_with_the_command() -> None:
    asked = command_for(
        JobResult(job_id="j", status="SUCCEEDED", worker_id=WORKER), attempt=3, expected_rev=9, request_id="r"
    )

    assert (asked.attempt, asked.expected_rev, asked.request_id) == (3, 9, "r")
