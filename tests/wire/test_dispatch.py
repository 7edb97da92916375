"""JobRequest and JobResult: their fields, from the wire to the record and back, and what a priority is worth."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.errors import InvalidArgument, Refused
from detent.kernel import Error, Job
from detent.kernel.command import Cancel, Claim, Complete, Enqueue, Fail, Rerun, Schedule
from detent.lifecycles import DISPATCH, STANDARD
from detent.wire.bounds import POINTER_CHARS_MAX
from detent.wire.dispatch import PRIORITIES, STATUSES, JobRequest, JobResult, enqueue_of, request_of, result_of
from detent.wire.shape import read
from tests.chance import examples
from tests.driving import START, Life

REQUEST: dict[str, Any] = {
    "job_id": "0190-7a", "topic": "job.chat.simple", "priority": "interactive", "context_ptr": "redis://ctx/1",
    "adapter_id": "llama", "env": {"tenant": "acme", "locale": "de"}, "parent_job_id": "0190-79",
    "workflow_id": "flow-3", "step_index": 2, "kind": None,
}  # fmt: skip
MINUTE = 60_000_000


def accepted(*, at: int = START, **changes: Any) -> Life:
    return Life(DISPATCH, enqueue_of(read(JobRequest, REQUEST | changes)), at=at)


def scheduled(*, at: int = START, **changes: Any) -> Life:
    life = accepted(at=at, **changes)
    life.do(Schedule(verdict="allow", rule="default"))
    return life


def running(**changes: Any) -> Life:
    life = scheduled(**changes)
    life.claim(start=True)
    return life


# -- requests --------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("DSP-01")
def test_request_becomes_a_pending_job_with_every_field_kept() -> None:
    job = accepted().job

    assert job.state == "PENDING"
    assert (job.id, job.spec.topic, job.spec.priority) == ("0190-7a", "job.chat.simple", 10)
    assert (job.spec.context_ptr, job.spec.adapter_id) == ("redis://ctx/1", "llama")
    assert job.spec.env == {"tenant": "acme", "locale": "de"}
    assert (job.spec.parent_job_id, job.spec.workflow_id, job.spec.step_index) == ("0190-79", "flow-3", 2)


@pytest.mark.requirement("DSP-01")
def test_topic_names_the_pool_and_stands_in_for_the_kind() -> None:
    assert (accepted().job.spec.kind, accepted().job.spec.queue) == ("job.chat.simple", "job.chat.simple")
    assert (accepted(kind="chat").job.spec.kind, accepted(kind="chat").job.spec.queue) == ("chat", "job.chat.simple")


@pytest.mark.requirement("DSP-01")
def test_tenant_in_env_is_a_note_to_the_worker_not_the_tenant_of_the_job() -> None:
    assert accepted().job.spec.tenant == "default"


names = st.text(st.characters(codec="ascii", categories=("L", "N")), min_size=1, max_size=20)
requests = st.builds(
    JobRequest,
    job_id=names,
    topic=names,
    priority=st.sampled_from(["critical", "interactive", "batch", -1_000, 7, 1_000]),
    context_ptr=st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=50),
    adapter_id=st.none() | names,
    env=st.dictionaries(names, names, max_size=3),
    parent_job_id=st.none() | names,
    workflow_id=st.none() | names,
    step_index=st.none() | st.integers(0, 2**53 - 1),
    kind=st.none() | names,
)


@pytest.mark.requirement("DSP-01")
@settings(max_examples=examples(100), deadline=None)
@given(requests)
def test_request_comes_back_from_the_job_as_it_was_sent(request: JobRequest) -> None:
    sent = read(JobRequest, msgspec.json.encode(request))
    back = request_of(Life(DISPATCH, enqueue_of(sent)).job)

    kind = None if request.kind == request.topic else request.kind
    assert back == msgspec.structs.replace(sent, kind=kind)


@pytest.mark.requirement("DSP-01")
def test_job_id_is_taken_once_and_the_same_request_again_changes_nothing() -> None:
    life = accepted()

    assert life.do(enqueue_of(read(JobRequest, REQUEST))).answer == "unchanged"
    other = life.ask(enqueue_of(read(JobRequest, REQUEST | {"topic": "job.code.llm"})))
    assert isinstance(other, Refused)
    assert other.code == "job_exists"
    assert life.job.spec.topic == "job.chat.simple"


@pytest.mark.parametrize("field", ["job_id", "topic", "adapter_id", "workflow_id", "kind"])
def test_name_that_cannot_be_printed_is_refused(field: str) -> None:
    sent = read(JobRequest, REQUEST | {"kind": "chat", field: "a\nb"})

    with pytest.raises(InvalidArgument, match="printable"):
        enqueue_of(sent)


def test_job_that_came_without_a_topic_is_requested_by_its_kind() -> None:
    assert request_of(Life(STANDARD, kind="scan").job).topic == "scan"


@pytest.mark.requirement("DSP-07")
def test_retry_is_requested_under_a_new_id_that_names_the_old_one() -> None:
    life = running()
    life.fail("PermanentError")
    again = life.do(Rerun(new_job_id="0190-7b")).job

    assert request_of(again).job_id == "0190-7b"
    assert request_of(again).parent_job_id == "0190-7a"
    assert request_of(again).workflow_id == "flow-3"


# -- priority --------------------------------------------------------------------------------------------------------


def in_order(*lives: Life) -> list[str]:
    def place(job: Job) -> tuple[int, str]:
        assert job.order_at is not None
        return job.order_at, job.id

    return [job.id for job in sorted((life.job for life in lives), key=place)]


@pytest.mark.requirement("DSP-04")
def test_critical_goes_before_interactive_before_batch() -> None:
    lives = [scheduled(job_id=name, priority=name) for name in ("batch", "critical", "interactive")]

    assert in_order(*lives) == ["critical", "interactive", "batch"]


@pytest.mark.requirement("DSP-04")
@pytest.mark.parametrize(("name", "minutes"), [("interactive", 10), ("critical", 20)])
def test_batch_that_has_waited_long_enough_goes_before_what_is_fresh(name: str, minutes: int) -> None:
    batch = scheduled(job_id="batch", priority="batch")
    early = scheduled(job_id="early", priority=name, at=START + minutes * MINUTE - 1)
    fresh = scheduled(job_id="fresh", priority=name, at=START + minutes * MINUTE + 1)

    assert in_order(batch, early, fresh) == ["early", "batch", "fresh"]


@pytest.mark.requirement("DSP-04")
def test_batch_job_is_taken_at_last_however_many_critical_ones_keep_coming() -> None:
    waiting = [scheduled(job_id="batch", priority="batch")]
    for minute in range(120):
        waiting.append(scheduled(job_id=f"critical-{minute}", priority="critical", at=START + minute * MINUTE))
        first, *_ = in_order(*waiting)
        waiting = [life for life in waiting if life.job.id != first]
        if first == "batch":
            break

    assert first == "batch"
    assert minute == 20


@pytest.mark.requirement("DSP-04")
def test_priority_may_be_a_number_between_the_names() -> None:
    between = accepted(priority=15)

    assert between.job.spec.priority == 15
    assert request_of(between.job).priority == 15
    assert [request_of(accepted(priority=number).job).priority for number in PRIORITIES.values()] == list(PRIORITIES)


def test_request_without_a_priority_is_batch() -> None:
    sent = read(JobRequest, {"job_id": "j", "topic": "t"})

    assert enqueue_of(sent).priority == PRIORITIES["batch"] == Enqueue(job_id="j", kind="k").priority


# -- results ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("DSP-02")
def test_statuses_are_the_states_of_the_lifecycle() -> None:
    assert list(STATUSES) == list(DISPATCH.by_name)


@pytest.mark.requirement("DSP-02")
def test_success_is_told_with_its_pointer_worker_and_time() -> None:
    life = running()
    life.do(Complete(**life.as_owner(), result_ptr="redis://res/1", execution_ms=1234))

    assert msgspec.to_builtins(result_of(life.job, life.events[-1])) == {
        "job_id": "0190-7a",
        "status": "SUCCEEDED",
        "result_ptr": "redis://res/1",
        "worker_id": "worker-1",
        "execution_ms": 1234,
        "error_code": None,
        "error_message": None,
    }


@pytest.mark.requirement("DSP-02")
def test_failure_is_told_with_its_code_and_message() -> None:
    life = running()
    life.do(Fail(**life.as_owner(), error=Error("RateLimited", "429", code="E_RATE")))
    told = result_of(life.job, life.events[-1])

    assert (told.status, told.error_code, told.error_message) == ("FAILED", "E_RATE", "429")
    assert told.result_ptr is None


@pytest.mark.requirement("DSP-02")
def test_timeout_is_told_with_the_worker_that_was_lost() -> None:
    life = running()
    life.run_out()
    told = result_of(life.job, life.events[-1])

    assert (told.status, told.worker_id, told.error_code) == ("TIMEOUT", "worker-1", "LeaseExpired")


@pytest.mark.requirement("DSP-02")
def test_denial_is_told_with_the_rule_that_denied() -> None:
    life = accepted()
    life.do(Schedule(verdict="deny", rule="no-chat"))
    told = result_of(life.job, life.events[-1])

    assert (told.status, told.worker_id, told.error_code) == ("DENIED", None, "Denied")
    assert told.error_message == "denied by rule no-chat"


@pytest.mark.requirement("DSP-02")
def test_cancel_is_told_without_an_error() -> None:
    life = running()
    life.do(Cancel(mode="hard"))
    told = result_of(life.job, life.events[-1])

    assert (told.status, told.worker_id, told.error_code) == ("CANCELLED", "worker-1", None)


@pytest.mark.requirement("DSP-02")
def test_intermediate_states_are_told_too() -> None:
    life = accepted()
    told = [result_of(life.job, life.events[-1])]
    life.do(Schedule(verdict="allow", rule="default"))
    told.append(result_of(life.job, life.events[-1]))
    life.claim()
    told.append(result_of(life.job, life.events[-1]))
    life.start()
    told.append(result_of(life.job, life.events[-1]))

    assert [(result.status, result.worker_id) for result in told] == [
        ("PENDING", None),
        ("SCHEDULED", None),
        ("DISPATCHED", "worker-1"),
        ("RUNNING", "worker-1"),
    ]


@pytest.mark.requirement("DSP-02")
def test_worker_is_the_one_that_did_the_work_though_its_pool_holds_the_lease() -> None:
    life = scheduled()
    life.do(Claim(role="scheduler", actor="scheduler", worker="pool-chat"))
    assert result_of(life.job, life.events[-1]).worker_id == "pool-chat"

    life.do(Complete(worker="pool-chat", actor="gpu-7", role="owner", attempt=1))
    assert result_of(life.job, life.events[-1]).worker_id == "gpu-7"


def test_result_told_can_be_read_however_much_was_said() -> None:
    life = running()
    life.fail("X" * 300, "m" * 100_000)
    told = result_of(life.job, life.events[-1])

    assert read(JobResult, msgspec.json.encode(told)) == told


def test_state_of_another_lifecycle_is_no_status() -> None:
    life = Life(STANDARD)

    with pytest.raises(InvalidArgument) as refusal:
        result_of(life.job, life.events[-1])
    assert refusal.value.code == "unknown_status"


# -- pointers --------------------------------------------------------------------------------------------------------

HOSTILE = [
    "file:///etc/passwd",
    "../../../../root/.ssh/id_rsa",
    "..\\..\\windows\\system32",
    "javascript:alert(1)",
    "http://169.254.169.254/latest/meta-data/",
    "gopher://localhost:6379/_FLUSHALL",
    "%2e%2e%2f%00",
    "redis://user:secret@host/0?x=1#frag",
    "a\r\nSet-Cookie: x",
    "'; DROP TABLE job; --",
    "{{7*7}} ${jndi:ldap://x}",
    "\u202eexe.txt\u0301 \U0001f600 é e\u0301",
    " leading and trailing ",
    "",
    "x" * POINTER_CHARS_MAX,
]


@pytest.mark.requirement("DSP-10")
@pytest.mark.parametrize("pointer", HOSTILE, ids=lambda pointer: repr(pointer[:20]))
def test_pointer_passes_through_byte_for_byte_whatever_it_says(pointer: str) -> None:
    life = running(context_ptr=pointer)
    life.do(Complete(**life.as_owner(), result_ptr=pointer))
    requested = msgspec.json.encode(request_of(life.job))
    told = msgspec.json.encode(result_of(life.job, life.events[-1]))

    assert msgspec.json.decode(requested)["context_ptr"].encode() == pointer.encode()
    assert msgspec.json.decode(told)["result_ptr"].encode() == pointer.encode()
    assert read(JobRequest, requested).context_ptr == pointer
    assert read(JobResult, told).result_ptr == pointer
