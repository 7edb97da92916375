"""What arrives is read strictly: nothing unknown, nothing oversized, and every refusal has a stable code."""

from typing import Any

import msgspec
import pytest

from detent.errors import InvalidArgument
from detent.kernel import Error
from detent.wire.bounds import MESSAGE_BYTES_MAX, POINTER_CHARS_MAX, TEXT_CHARS_MAX
from detent.wire.contract import ContractEvent
from detent.wire.dispatch import JobRequest, JobResult
from detent.wire.shape import Shape, error_text, json_value, read
from detent.wire.standard import DeadLetter, StandardEvent, read_event

REQUEST: dict[str, Any] = {"job_id": "j", "topic": "job.chat.simple"}
RESULT: dict[str, Any] = {"job_id": "j", "status": "SUCCEEDED"}
EVENT: dict[str, Any] = {
    "id": "j:1", "job_id": "j", "type": "job_queued", "ts": "2025-02-01T16:00:00Z", "actor": "client",
    "correlation_id": "c", "cause": None, "payload": None, "version": 1,
}  # fmt: skip


def code_of(shape: type[Shape], data: bytes | dict[str, Any]) -> str:
    with pytest.raises(InvalidArgument) as refusal:
        read(shape, data)
    return refusal.value.code


@pytest.mark.parametrize(("shape", "data"), [(JobRequest, REQUEST), (JobResult, RESULT), (StandardEvent, EVENT)])
def test_json_and_plain_data_read_the_same(shape: type[Shape], data: dict[str, Any]) -> None:
    assert read(shape, data) == read(shape, msgspec.json.encode(data))


@pytest.mark.parametrize(
    ("shape", "data"),
    [(JobRequest, REQUEST), (JobResult, RESULT), (StandardEvent, EVENT), (DeadLetter, {}), (ContractEvent, {})],
)
def test_unknown_field_is_refused(shape: type[Shape], data: dict[str, Any]) -> None:
    surplus = data | {"surprise": 1}

    assert code_of(shape, surplus) == "unknown_field"
    assert code_of(shape, msgspec.json.encode(surplus)) == "unknown_field"


@pytest.mark.parametrize(
    "change",
    [
        {"job_id": ""},
        {"job_id": "j" * 256},
        {"job_id": 7},
        {"topic": None},
        {"priority": "urgent"},
        {"priority": 1_001},
        {"priority": -1_001},
        {"priority": True},
        {"priority": 1.5},
        {"context_ptr": "p" * (POINTER_CHARS_MAX + 1)},
        {"context_ptr": "a\x00b"},
        {"adapter_id": "a" * 256},
        {"env": {"": "no name"}},
        {"env": {"k" * 256: "v"}},
        {"env": {"k": "v" * (TEXT_CHARS_MAX + 1)}},
        {"env": {"k": 1}},
        {"env": {f"k{n}": "v" for n in range(65)}},
        {"step_index": -1},
        {"step_index": 2**53},
    ],
    ids=str,
)
def test_request_out_of_bounds_is_refused(change: dict[str, Any]) -> None:
    assert read(JobRequest, REQUEST)
    assert code_of(JobRequest, REQUEST | change) == "invalid_argument"
    assert code_of(JobRequest, msgspec.json.encode(REQUEST | change)) == "invalid_argument"


@pytest.mark.parametrize(
    "change",
    [
        {"status": "DONE"},
        {"status": "succeeded"},
        {"result_ptr": "p" * (POINTER_CHARS_MAX + 1)},
        {"worker_id": ""},
        {"execution_ms": -1},
        {"execution_ms": 2**53},
        {"error_code": "c" * 256},
        {"error_message": "m" * (TEXT_CHARS_MAX + 1)},
        {"error_message": "a\x00b"},
    ],
    ids=str,
)
def test_result_out_of_bounds_is_refused(change: dict[str, Any]) -> None:
    assert read(JobResult, RESULT)
    assert code_of(JobResult, RESULT | change) == "invalid_argument"


@pytest.mark.parametrize("missing", ["job_id", "topic"])
def test_missing_field_is_refused(missing: str) -> None:
    rest = {name: value for name, value in REQUEST.items() if name != missing}

    assert code_of(JobRequest, rest) == "invalid_argument"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{",
        b'{"job_id": "\xff"}',
        b'{"job_id": "\\ud800"}',
        b"job_id=1",
        b'{"payload": {"deep": ' + b"[" * 500_000,
    ],
    ids=["empty", "cut off", "not UTF-8", "half a pair", "a form", "nested too deep"],
)
def test_what_is_not_json_is_refused(data: bytes) -> None:
    assert code_of(StandardEvent, data) == "bad_json"


def test_message_over_the_limit_is_refused_before_it_is_decoded() -> None:
    most = b"x" * MESSAGE_BYTES_MAX

    assert code_of(JobRequest, most) == "bad_json"
    assert code_of(JobRequest, most + b"x") == "message_too_large"


def test_half_of_a_surrogate_pair_is_refused_in_plain_data() -> None:
    assert code_of(JobRequest, REQUEST | {"context_ptr": "\ud800"}) == "invalid_argument"


def test_event_whose_time_is_no_time_is_refused() -> None:
    with pytest.raises(InvalidArgument) as refusal:
        read_event(EVENT | {"ts": "yesterday"})

    assert refusal.value.code == "bad_moment"


def test_stored_blob_that_is_not_json_is_named_by_its_job() -> None:
    assert json_value("j", b'{"a": [1, null]}') == {"a": [1, None]}
    with pytest.raises(InvalidArgument, match="job 42") as refusal:
        json_value("job 42", b"\x80pickle")

    assert refusal.value.code == "payload_not_json"


def test_error_text_says_the_code_or_else_the_type() -> None:
    assert error_text(Error("ValidationError", "torn page", code="BAD_ASSET")) == "BAD_ASSET: torn page"
    assert error_text(Error("TimedOut", "too slow")) == "TimedOut: too slow"
    assert error_text(Error("TimedOut")) == "TimedOut"


def test_error_text_is_bounded() -> None:
    assert len(error_text(Error("X", "m" * 1_000_000))) == TEXT_CHARS_MAX
