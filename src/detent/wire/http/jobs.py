"""A job in JSON: the record, flat. Nothing is lost on the way, so that a client can make the record of it again."""

import zlib
from base64 import b64decode, b64encode
from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, Literal

import msgspec
from msgspec import Raw

from detent.errors import InvalidArgument
from detent.kernel import Job
from detent.kernel.change import Answer
from detent.kernel.job import NULL, Spec
from detent.lifecycle import Policy
from detent.telemetry.traceparent import trace_id_of, whole_of
from detent.wire.fields import JobFields
from detent.wire.moments import micros_of, micros_of_or_none, to_moment, to_moment_or_none

Withheld = Literal["scope", "size"]
VALUES: Final = ("payload", "result", "checkpoint")
_NULL: Final = Raw(NULL)
SEALED: Final = b"\x00"  # no JSON text begins like this: a codec has compressed or encrypted it
_COMPRESSED: Final = b"\x00z"
OPENED_MAX: Final = 16 * 1_048_576
_POLICIES_MAX: Final = 256  # that are remembered: jobs are many, and their policies few


class JobShape(JobFields, frozen=True, kw_only=True):
    """A job as it is. `sealed` has those of payload, result and checkpoint that a codec has encrypted, in base64; they
    are null in their own places. `answer` says how the request was answered that returned it: `applied`; `repeat` of
    one that was carried out before; `duplicate`, the live job of its dedupe key; `unchanged`, it was so already;
    `noted`.

    `withheld` says why payload, result, checkpoint and whatever else was put in or said are not here, though there may
    be some: `scope`, the token may not read them; `size`, the answer would have been too large: get the job by itself.
    """

    order_at: int | None
    payload_digest: str
    result_digest: str | None
    error_digest: str | None
    checkpoint_digest: str | None
    sealed: dict[str, str] = msgspec.field(default_factory=dict)
    answer: Answer = "applied"
    withheld: Withheld | None = None


class JobRecord(JobShape, frozen=True, kw_only=True):
    """The same, as a client reads it: values stay the bytes that came, and the policy until it is wanted."""

    payload: Raw
    result: Raw
    checkpoint: Raw
    policy: Raw  # type: ignore[assignment]


def job_shape(job: Job, answer: Answer = "applied", *, is_opened: bool = True) -> JobShape:
    """`is_opened`: what a codec has compressed is inflated, so that anybody can read it; else it is as it is kept."""
    spec = job.spec
    read = opened_of if is_opened else bytes
    sealed: dict[str, str] = {}
    return JobShape(
        id=spec.id, kind=spec.kind, lifecycle=spec.lifecycle, lifecycle_version=spec.lifecycle_version,
        state=job.state, phase=job.phase, outcome=job.outcome, rev=job.rev, attempt=job.attempt, tenant=spec.tenant,
        queue=spec.queue, priority=spec.priority, owner=job.owner, lease_s=job.lease_s,
        lease_expires_at=to_moment_or_none(job.lease_expires_at), heartbeat_by=to_moment_or_none(job.heartbeat_by),
        last_owner=job.last_owner, last_lease_expires_at=to_moment_or_none(job.last_lease_expires_at),
        run_at=to_moment_or_none(spec.run_at), due_at=to_moment_or_none(job.due_at),
        claim_at=to_moment_or_none(job.claim_at),
        wake_at=to_moment_or_none(job.wake_at), order_at=job.order_at, deadline_at=to_moment_or_none(job.deadline_at),
        cancel_by=to_moment_or_none(job.cancel_by), payload=_value("payload", spec.payload, sealed, read),
        result=_value("result", job.result, sealed, read), result_ptr=job.result_ptr, error=job.error,
        last_error=job.last_error, checkpoint=_value("checkpoint", job.checkpoint, sealed, read), progress=job.progress,
        failures=job.failures, crashes=job.crashes, interruptions=job.interruptions, retries=job.retries,
        verdict=job.verdict, rule=job.rule, dedupe_key=spec.dedupe_key, limit_key=spec.limit_key,
        correlation_id=spec.correlation_id, trace_id=trace_id_of(spec.trace_id),
        traceparent=whole_of(spec.trace_id), parent_job_id=spec.parent_job_id,
        rerun_of=job.rerun_of, workflow_id=spec.workflow_id, step_index=spec.step_index, topic=spec.topic,
        context_ptr=spec.context_ptr, adapter_id=spec.adapter_id, env=spec.env, policy=spec.policy,
        payload_digest=job.payload_digest, result_digest=job.result_digest, error_digest=job.error_digest,
        checkpoint_digest=job.checkpoint_digest, created_at=to_moment(job.created_at),
        updated_at=to_moment(job.updated_at),
        claimed_at=to_moment_or_none(job.claimed_at), started_at=to_moment_or_none(job.started_at),
        ended_at=to_moment_or_none(job.ended_at), sealed=sealed, answer=answer,
    )  # fmt: skip


def without_values(shape: JobShape, why: Withheld, *, has_input: bool = False) -> JobShape:
    """What was put in, what came out and what was said is null. Their digests stay.

    `has_input`: but for what was put in, for whoever has put it in.
    """
    said: dict[str, Any] = {"error": None, "last_error": None, "progress": None, "result_ptr": None}
    put_in: dict[str, Any] = {} if has_input else {"payload": _NULL, "env": {}, "context_ptr": None}
    sealed = {name: text for name, text in shape.sealed.items() if has_input and name == "payload"}
    nothing = {"result": _NULL, "checkpoint": _NULL, **said, **put_in}
    return msgspec.structs.replace(shape, withheld=why, sealed=sealed, **nothing)


def value_bytes(shape: JobShape) -> int:
    """How much its values take up, as they are shown."""
    shown = sum(len(bytes(getattr(shape, name))) for name in VALUES)
    return shown + sum(len(text) for text in shape.sealed.values())


def record_of(shape: JobRecord) -> Job:
    spec = Spec(
        shape.id, shape.kind, shape.lifecycle, shape.lifecycle_version, _policy(bytes(shape.policy)), shape.tenant,
        shape.queue, shape.priority, _kept(shape, "payload") or NULL, micros_of_or_none(shape.run_at), shape.dedupe_key,
        shape.correlation_id, shape.traceparent or shape.trace_id, shape.parent_job_id, shape.workflow_id,
        shape.step_index, shape.topic,
        shape.context_ptr, shape.adapter_id, shape.env, shape.limit_key,
    )  # fmt: skip
    return Job(
        spec, shape.state, shape.phase, micros_of(shape.created_at), micros_of(shape.updated_at), shape.rerun_of,  # type: ignore[arg-type]
        shape.rev, shape.attempt, shape.owner, shape.lease_s, micros_of_or_none(shape.lease_expires_at),
        micros_of_or_none(shape.heartbeat_by), shape.last_owner, micros_of_or_none(shape.last_lease_expires_at),
        micros_of_or_none(shape.due_at), micros_of_or_none(shape.claim_at), micros_of_or_none(shape.wake_at),
        shape.order_at,
        micros_of_or_none(shape.deadline_at), micros_of_or_none(shape.cancel_by), shape.failures, shape.crashes,
        shape.interruptions, shape.retries, shape.verdict, shape.rule, shape.result_ptr, shape.payload_digest,
        shape.result_digest, shape.error_digest, shape.checkpoint_digest, micros_of_or_none(shape.claimed_at),
        micros_of_or_none(shape.started_at), micros_of_or_none(shape.ended_at),
        None if shape.result_digest is None else _kept(shape, "result"), shape.error, shape.last_error,
        None if shape.checkpoint_digest is None else _kept(shape, "checkpoint"), shape.progress,
    )  # fmt: skip


def _value(name: str, kept: bytes | None, sealed: dict[str, str], read: Callable[[bytes], bytes]) -> Raw:
    """JSON as it is kept. What is compressed is opened, since no worker of another language could."""
    if kept is None:
        return _NULL
    opened = read(kept)
    if opened.startswith(SEALED):
        sealed[name] = b64encode(opened).decode()
        return _NULL
    return Raw(opened)


def is_compressed(kept: bytes) -> bool:
    return kept.startswith(_COMPRESSED)


def opened_of(kept: bytes, most: int = OPENED_MAX) -> bytes:
    """What was compressed, inflated; but nothing that would inflate without bound."""
    if not is_compressed(kept):
        return kept
    inflater = zlib.decompressobj()
    try:
        opened = inflater.decompress(kept[len(_COMPRESSED) :], most)
    except zlib.error:
        return kept
    return opened if inflater.eof else kept


@lru_cache(_POLICIES_MAX)
def _policy(said: bytes) -> Policy:
    """Made and checked once for all jobs that have it."""
    try:
        return msgspec.json.decode(said, type=Policy)
    except msgspec.ValidationError as wrong:
        raise InvalidArgument(f"policy is not as it should be: {wrong}", code="value_unreadable") from None


def _kept(shape: JobRecord, name: str) -> bytes:
    if name in shape.sealed:
        return unsealed(name, shape.sealed[name])
    return bytes(getattr(shape, name))


def unsealed(name: str, text: str) -> bytes:
    """What a codec has sealed, out of base64. Only what is sealed: a JSON text has a place of its own."""
    try:
        kept = b64decode(text, validate=True)
    except ValueError:
        raise InvalidArgument(f"sealed.{name} is not base64", code="value_unreadable") from None
    if not kept.startswith(SEALED):
        raise InvalidArgument(f"sealed.{name} was sealed by no codec; give it as {name}", code="value_unreadable")
    return kept
