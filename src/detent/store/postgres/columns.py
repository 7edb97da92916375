"""The columns of what is written, with their types, in the order of the rows that `round.py` makes."""

from functools import cache
from typing import Final

Names = tuple[str, ...]
Columns = tuple[tuple[str, str], ...]


def _typed(kind: str, *names: str) -> dict[str, str]:
    return dict.fromkeys(names, kind)


# The columns of a record that moves set.
TYPES: Final[dict[str, str]] = {
    **_typed(
        "text", "phase", "rerun_of", "owner", "last_owner", "verdict", "rule", "result_ptr", "payload_digest",
        "result_digest", "error_digest", "checkpoint_digest", "last_error", "error", "progress", "outcome",
    ),
    **_typed(
        "bigint", "created_at", "attempt", "lease_expires_at", "heartbeat_by", "last_lease_expires_at", "due_at",
        "claim_at", "wake_at", "order_at", "deadline_at", "cancel_by", "failures", "crashes", "interruptions",
        "retries", "claimed_at", "started_at", "ended_at",
    ),
    **_typed("bytea", "result", "checkpoint"),
    **_typed("double precision", "lease_s"),
}  # fmt: skip
# What every new record has. Whatever else its first event sets comes after these.
BEGUN: Final = (
    "phase", "created_at", "rerun_of", "due_at", "claim_at", "wake_at", "order_at", "deadline_at", "retries",
    "payload_digest",
)  # fmt: skip
# The first of each differs from row to row, whatever else does.
SPEC: Final[Columns] = (
    ("id", "text"), ("kind", "text"), ("lifecycle", "bigint"), ("policy", "bigint"), ("tenant", "text"),
    ("queue", "text"), ("priority", "bigint"), ("payload", "bytea"), ("run_at", "bigint"), ("dedupe_key", "text"),
    ("correlation_id", "text"), ("job_trace_id", "text"), ("parent_job_id", "text"), ("workflow_id", "text"),
    ("step_index", "bigint"), ("topic", "text"), ("context_ptr", "text"), ("adapter_id", "text"), ("env", "text"),
    ("limit_key", "text"), ("concurrency_max", "bigint"),
)  # fmt: skip
FIRST_EVENT: Final[Columns] = (
    ("type", "text"), ("to_state", "text"), ("at", "bigint"), ("actor", "text"), ("role", "text"), ("worker", "text"),
    ("event_attempt", "bigint"), ("request_id", "text"), ("trace_id", "text"), ("cause", "text"), ("changes", "text"),
    ("event_payload", "text"), ("version", "bigint"),
)  # fmt: skip
STEP: Final[Columns] = (
    ("job", "bigint"), ("from_rev", "bigint"), ("to_rev", "bigint"), ("to_state", "text"), ("at", "bigint"),
    ("leased", "bigint"), ("said", "text"),
)  # fmt: skip
EVENT: Final[Columns] = (
    ("job", "bigint"), ("tenant", "text"), ("rev", "bigint"), ("type", "text"), ("verb", "text"),
    ("from_state", "text"), ("to_state", "text"), ("at", "bigint"), ("actor", "text"), ("role", "text"),
    ("worker", "text"), ("attempt", "bigint"), ("request_id", "text"), ("trace_id", "text"), ("cause", "text"),
    ("changes", "text"), ("payload", "text"), ("version", "bigint"),
)  # fmt: skip
DETAIL: Final[Columns] = (("job", "bigint"), ("rev", "bigint"), ("payload", "text"), ("expires_at", "bigint"))
NOTE: Final[Columns] = (
    ("job", "bigint"), ("tenant", "text"), ("rev", "bigint"), ("kind", "text"), ("type", "text"), ("at", "bigint"),
    ("actor", "text"), ("payload", "bytea"), ("version", "bigint"), ("expires_at", "bigint"), ("kept_max", "bigint"),
)  # fmt: skip
RECEIPT: Final[Columns] = (
    ("request_id", "text"), ("tenant", "text"), ("verb", "text"), ("job_id", "text"), ("digest", "text"),
    ("answer_job_id", "text"), ("rev", "bigint"), ("claimed", "text"), ("expires_at", "bigint"),
)  # fmt: skip


# Of a new job these may be there or not, in any combination; mostly none is.
_OPTIONAL: Final = frozenset(
    ("run_at", "dedupe_key", "correlation_id", "job_trace_id", "parent_job_id", "workflow_id", "step_index", "topic",
     "context_ptr", "adapter_id", "env", "limit_key", "concurrency_max", "request_id", "trace_id", "cause", "rerun_of")
)  # fmt: skip
_HEADS: Final[dict[str, Columns]] = {
    "insert_record": (*SPEC, *FIRST_EVENT),
    "move_record": STEP,
    "end_records": STEP,
    "say": STEP[:1],
    "insert_event": EVENT,
    "insert_detail": DETAIL,
    "insert_note": NOTE,
    "keep_receipt": RECEIPT,
}


@cache
def columns_of(block: str, names: Names) -> Columns:
    """What the rows of a block are made of: its own columns, then those of the record that it sets."""
    return (*_HEADS[block], *((name, TYPES[name]) for name in names))


@cache
def optional(block: str, names: Names) -> tuple[bool, ...]:
    return tuple([block == "insert_record" and name in _OPTIONAL for name, _ in columns_of(block, names)])
