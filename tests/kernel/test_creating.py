"""What a job is made of: everything its enqueue said, in its place."""

from typing import Any

import pytest

from detent.errors import InvalidArgument
from detent.kernel import Change, decide
from detent.kernel.command import Enqueue
from detent.lifecycle import Policy
from detent.lifecycles import CONTRACT, DISPATCH, DOCUMENT, STANDARD

SAID: dict[str, Any] = {
    "kind": "scan",
    "payload": b"[1]",
    "tenant": "acme",
    "queue": "slow",
    "priority": 7,
    "run_at": 5_000_000,
    "policy": Policy(lease_s=90),
    "dedupe_key": "a.pdf",
    "correlation_id": "c-1",
    "trace_id": "t-1",
    "parent_job_id": "p-1",
    "workflow_id": "w-1",
    "step_index": 3,
    "topic": "job.chat.simple",
    "context_ptr": "s3://in",
    "adapter_id": "gpu",
    "env": {"locale": "de"},
    "limit_key": "acme",
}


@pytest.mark.requirement("DSP-01", "ALL-14")
def test_every_field_of_an_enqueue_is_kept_under_its_own_name() -> None:
    made = decide(DISPATCH, None, Enqueue(job_id="j", **SAID), 0)

    assert isinstance(made, Change)
    spec = made.job.spec
    assert {name: getattr(spec, name) for name in SAID} == SAID
    assert (spec.id, spec.lifecycle, spec.lifecycle_version) == ("j", "dispatch", 1)
    assert set(spec.__struct_fields__) == {*SAID, "id", "lifecycle", "lifecycle_version"}


@pytest.mark.requirement("ALL-11")
def test_a_job_without_a_correlation_id_correlates_to_itself() -> None:
    made = decide(STANDARD, None, Enqueue(job_id="j", kind="k"), 0)

    assert isinstance(made, Change)
    assert made.events[0].correlation_id == "j"


def test_a_time_limit_that_the_lifecycle_cannot_answer_is_refused_at_once() -> None:
    with pytest.raises(InvalidArgument) as refused:
        decide(CONTRACT, None, Enqueue(job_id="j", kind="k", policy=Policy(timeouts={"queued": 5})), 0)

    assert refused.value.code == "no_timeout_answer"


def test_a_time_limit_on_a_state_that_is_not_there_is_refused() -> None:
    with pytest.raises(InvalidArgument) as refused:
        decide(STANDARD, None, Enqueue(job_id="j", kind="k", policy=Policy(timeouts={"runnign": 5})), 0)

    assert refused.value.code == "unknown_state"
    assert "'runnign'" in str(refused.value)


def test_submitting_along_is_one_change_with_two_events() -> None:
    made = decide(DOCUMENT, None, Enqueue(job_id="j", kind="k", submit=True), 0)

    assert isinstance(made, Change)
    assert [event.type for event in made.events] == ["job_created", "job_queued"]
    assert made.job.state == "QUEUED"
