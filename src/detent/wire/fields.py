"""What is said of a job in JSON, whoever says it: the command line and the service add what is their own."""

from datetime import datetime
from typing import Any

from msgspec import Struct

from detent.kernel import Error
from detent.kernel.job import Progress
from detent.lifecycle import Policy


class JobFields(Struct, frozen=True, kw_only=True):
    """The record, flat. Moments are RFC 3339, values are JSON."""

    id: str
    kind: str
    lifecycle: str
    lifecycle_version: int
    state: str
    phase: str
    outcome: str | None
    rev: int
    attempt: int
    tenant: str
    queue: str
    priority: int
    owner: str | None
    lease_s: float | None
    lease_expires_at: datetime | None
    heartbeat_by: datetime | None
    last_owner: str | None
    last_lease_expires_at: datetime | None
    run_at: datetime | None
    due_at: datetime | None
    claim_at: datetime | None
    wake_at: datetime | None
    deadline_at: datetime | None
    cancel_by: datetime | None
    payload: Any
    result: Any
    result_ptr: str | None
    error: Error | None
    last_error: Error | None
    checkpoint: Any
    progress: Progress | None
    failures: int
    crashes: int
    interruptions: int
    retries: int
    verdict: str | None
    rule: str | None
    dedupe_key: str | None
    limit_key: str | None
    correlation_id: str
    trace_id: str | None
    traceparent: str | None
    parent_job_id: str | None
    rerun_of: str | None
    workflow_id: str | None
    step_index: int | None
    topic: str | None
    context_ptr: str | None
    adapter_id: str | None
    env: dict[str, str]
    policy: Policy
    created_at: datetime
    updated_at: datetime
    claimed_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None
