"""The job record. Frozen: only a decided change makes the next one."""

from typing import Final

from msgspec import Struct

from detent.kernel.failure import Error
from detent.lifecycle import Policy
from detent.lifecycle.words import Outcome, Phase

# Already encoded by whoever enqueued it; the kernel never looks inside, so no move can depend on it.
Blob = bytes
NULL: Final[Blob] = b"null"


class Progress(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How far along a handler says it is: a fraction from 0 to 1, and a word on it."""

    fraction: float
    message: str = ""


class Spec(Struct, frozen=True, gc=False, omit_defaults=True):
    """What a job is: set when it is enqueued and never changed. A rerun starts from a copy of it."""

    id: str
    kind: str
    lifecycle: str
    lifecycle_version: int
    policy: Policy
    tenant: str = "default"
    queue: str = "default"
    priority: int = 0
    payload: Blob = NULL
    run_at: int | None = None  # not before
    dedupe_key: str | None = None
    correlation_id: str = ""
    trace_id: str | None = None
    parent_job_id: str | None = None
    workflow_id: str | None = None
    step_index: int | None = None
    topic: str | None = None
    context_ptr: str | None = None
    adapter_id: str | None = None
    env: dict[str, str] = {}
    limit_key: str | None = None  # jobs that share it share their limits


class Job(Struct, frozen=True, gc=False, omit_defaults=True):
    """One job as it is now. Moments are microseconds since the epoch.

    The order of the fields is that of a store's columns, which makes a record by position: half the time of keywords.
    """

    spec: Spec

    # where it is
    state: str
    phase: Phase
    created_at: int
    updated_at: int
    rerun_of: str | None = None  # the job that this one runs again
    rev: int = 0
    attempt: int = 0

    # who has it
    owner: str | None = None
    lease_s: float | None = None
    lease_expires_at: int | None = None
    heartbeat_by: int | None = None  # two heartbeats in a row are missed from then on
    last_owner: str | None = None
    last_lease_expires_at: int | None = None

    # when what is due
    due_at: int | None = None  # ready: runnable from; parked: goes back to ready then, if ever by itself
    claim_at: int | None = None  # claimable from; None = not
    wake_at: int | None = None  # the reconciler looks at it then; None = never
    order_at: int | None = None  # its place in the queue
    deadline_at: int | None = None  # the end of its time in this state
    cancel_by: int | None = None  # a soft cancel was requested; the grace ends then

    # what was counted
    failures: int = 0
    crashes: int = 0
    interruptions: int = 0
    retries: int = 0

    # what was said
    verdict: str | None = None
    rule: str | None = None
    result_ptr: str | None = None
    payload_digest: str = ""
    result_digest: str | None = None
    error_digest: str | None = None
    checkpoint_digest: str | None = None

    claimed_at: int | None = None
    started_at: int | None = None
    ended_at: int | None = None

    # what was said at length
    result: Blob | None = None
    error: Error | None = None
    last_error: Error | None = None
    checkpoint: Blob | None = None
    progress: Progress | None = None

    @property
    def id(self) -> str:
        return self.spec.id

    @property
    def is_leased(self) -> bool:
        return self.owner is not None

    @property
    def is_ended(self) -> bool:
        return self.phase == "ended"

    @property
    def outcome(self) -> Outcome | None:
        """How it ended; None before. Only a success has a result, and only a failure an error."""
        if not self.is_ended:
            return None
        if self.result_digest is not None:
            return "success"
        return "cancelled" if self.error_digest is None else "failure"

    @property
    def is_cancel_requested(self) -> bool:
        return self.cancel_by is not None


# What the log determines: folding a job's events gives exactly these columns. They are the fields between spec and
# what was said at length, in the same order.
FOLDED: Final[tuple[str, ...]] = (
    "state", "phase", "created_at", "updated_at", "rerun_of", "rev", "attempt",
    "owner", "lease_s", "lease_expires_at", "heartbeat_by", "last_owner", "last_lease_expires_at",
    "due_at", "claim_at", "wake_at", "order_at", "deadline_at", "cancel_by",
    "failures", "crashes", "interruptions", "retries", "verdict", "rule", "result_ptr",
    "payload_digest", "result_digest", "error_digest", "checkpoint_digest",
    "claimed_at", "started_at", "ended_at",
)  # fmt: skip
