"""Rows and the kernel's structs, each made from the other by position. No SQL here; the order is that of the .sql."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

import msgspec
from msgspec.structs import astuple

from detent.kernel import Error, Event, Job, Note
from detent.kernel.job import FOLDED, Progress, Spec
from detent.lifecycle import Lifecycle, Policy
from detent.store.limits import KeyRate, KeyUse, Rate

Row = tuple[Any, ...]

encode: Final = msgspec.json.Encoder().encode
_decode_dict: Final = msgspec.json.Decoder(dict[str, Any]).decode
_decode_env: Final = msgspec.json.Decoder(dict[str, str]).decode
_decode_claimed: Final = msgspec.json.Decoder(dict[str, int]).decode
_decode_error: Final = msgspec.json.Decoder(Error).decode
_decode_rate: Final = msgspec.json.Decoder(Rate).decode
_decode_progress: Final = msgspec.json.Decoder(Progress).decode
# Notes keep bytes as they were; JSON could not.
_pack: Final = msgspec.msgpack.Encoder().encode
_unpack: Final = msgspec.msgpack.Decoder(dict[str, Any]).decode

_SPEC: Final = 1  # after the number of the job
SPEC_WIDTH: Final = 20
_RECORD: Final = _SPEC + SPEC_WIDTH
_SAID: Final = _RECORD + len(FOLDED)
WIDTH: Final = _SAID + 5  # of a row that makes a record
LIFECYCLES_MAX: Final = 128  # kept in memory beside those that are in use


def text(value: object) -> str:
    return encode(value).decode()


@lru_cache(maxsize=LIFECYCLES_MAX)
def lifecycle_of(definition: str) -> Lifecycle:
    """Checked and compiled once in a process, however many connections read it."""
    return msgspec.json.decode(definition, type=Lifecycle)


def _as_is(value: Any) -> Any:
    return value


# How each thing that can be said at length is kept.
ENCODERS: Final[dict[str, Callable[[Any], Any]]] = {
    "result": _as_is,
    "checkpoint": _as_is,
    "error": text,
    "last_error": text,
    "progress": text,
}


def job_of(row: Row, lifecycle: Lifecycle, policy: Policy) -> Job:
    spec = spec_of(row[_SPEC:_RECORD], lifecycle, policy)
    return Job(spec, *row[_RECORD:_SAID], *_said_of(row[_SAID:]))


def spec_of(row: Row, lifecycle: Lifecycle, policy: Policy) -> Spec:
    (id_, kind, _, _, tenant, queue, priority, payload, run_at, dedupe_key, correlation_id, trace_id, parent, workflow,
     step, topic, context_ptr, adapter_id, env, limit_key) = row  # fmt: skip
    return Spec(
        id_, kind, lifecycle.name, lifecycle.version, policy, tenant, queue, priority, payload, run_at, dedupe_key,
        correlation_id or id_, trace_id, parent, workflow, step, topic, context_ptr, adapter_id,
        {} if env is None else _decode_env(env), limit_key,
    )  # fmt: skip


def _said_of(said: Row) -> Row:
    result, error, last_error, checkpoint, progress = said
    if error is None and last_error is None and progress is None:
        return said
    return (
        result,
        None if error is None else _decode_error(error),
        None if last_error is None else _decode_error(last_error),
        checkpoint,
        None if progress is None else _decode_progress(progress),
    )


def job_row(spec: Spec, lifecycle: int, policy: int) -> Row:
    own = spec.correlation_id == spec.id
    return (
        spec.id, spec.kind, lifecycle, policy, spec.tenant, spec.queue, spec.priority, spec.payload, spec.run_at,
        spec.dedupe_key, None if own else spec.correlation_id, spec.trace_id, spec.parent_job_id, spec.workflow_id,
        spec.step_index, spec.topic, spec.context_ptr, spec.adapter_id, text(spec.env) if spec.env else None,
        spec.limit_key,
    )  # fmt: skip


def record_row(first: Event, spec: Spec, number: int, lifecycle: int) -> Row:
    """As the first event of a job leaves its record."""
    lane = (spec.tenant, spec.queue, spec.kind, spec.adapter_id or "", spec.limit_key, concurrency_max_of(spec))
    return (number, *lane, lifecycle, first.to_state, first.at, *first.changes.values())


def concurrency_max_of(spec: Spec) -> int | None:
    limit = spec.policy.limit
    return None if limit is None else limit.concurrency_max


def rate_row(kept: KeyRate) -> Row:
    rate = kept.rate
    return kept.tenant, kept.limit_key, text(rate), rate.full_until, rate.expires_at


def use_of(leased: int, strictest: int | None, rate: str | None) -> KeyUse:
    return KeyUse(leased, strictest, Rate() if rate is None else _decode_rate(rate))


def event_row(event: Event, number: int, payload: str | None) -> Row:
    """The fields in their order, but for the job's number, and without what the job has: its id, its correlation."""
    fields = astuple(event)
    changes = encode(event.changes).decode()
    return (fields[0], number, *fields[2:13], *fields[14:16], changes, payload, fields[18])


def event_of(row: Row) -> Event:
    (_, tenant, job_id, rev, type_, verb, from_state, to_state, at, actor, role, worker, attempt, request_id,
     correlation_id, trace_id, cause, changes, payload, version) = row  # fmt: skip
    return Event(
        tenant, job_id or "", rev, type_, verb, from_state, to_state, at, actor, role, worker, attempt, request_id,
        correlation_id or job_id or "", trace_id, cause, _decode_dict(changes),
        None if payload is None else _decode_dict(payload), version,
    )  # fmt: skip


def note_row(note: Note, number: int, expires_at: int | None) -> Row:
    return (
        note.tenant, number, note.rev, note.kind, note.type, note.at, note.actor, _pack(note.payload), note.version,
        expires_at,
    )  # fmt: skip


def note_of(row: Row, job_id: str) -> Note:
    tenant, rev, kind, type_, at, actor, payload, version = row
    return Note(tenant, job_id, rev, kind, type_, at, actor, _unpack(payload), version)


def claimed_of(claimed: str | None) -> dict[str, int] | None:
    return None if claimed is None else _decode_claimed(claimed)
