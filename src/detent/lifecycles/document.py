"""`document`: create, submit, process, retry after a fixed delay."""

from typing import Final

from detent.lifecycle import SAME, Lifecycle, Policy, Retry, State, move

DOCUMENT: Final = Lifecycle(
    name="document",
    version=1,
    summary="Create, submit, process; at most three retries a second apart. Payload-blind document processing.",
    states=(
        State("CREATED", "parked"),
        State("QUEUED", "ready"),
        State("RUNNING", "active"),
        State("RETRYING", "parked", timer=True),
        State("SUCCEEDED", "ended", "success"),
        State("FAILED", "ended", "failure"),
    ),
    moves=(
        move("-", "enqueue", "CREATED", by="client"),
        move("CREATED", "submit", "QUEUED", by="client"),
        move("QUEUED", "claim", "RUNNING", by="worker"),
        move("RUNNING", "renew", SAME, by="owner"),
        move("RUNNING", "complete", "SUCCEEDED", by="owner"),
        move("RUNNING", "fail", "FAILED", by="owner"),
        move("RUNNING", "retry", "RETRYING", by="system", recovery=True),
        move("RUNNING", "release", "RETRYING", by="owner", recovery=True),
        move("RETRYING", "requeue", "QUEUED", by="reconciler", recovery=True),
        move("RUNNING", "expire", "RETRYING", by="reconciler", recovery=True),
        move("RUNNING", "expire", "FAILED", by="reconciler"),
        move("RUNNING", "time_out", "RETRYING", by="reconciler", recovery=True),
        move("RUNNING", "time_out", "FAILED", by="reconciler"),
        move("QUEUED", "fail", "FAILED", by="system"),
        move("CREATED, QUEUED, RUNNING, RETRYING", "cancel", "FAILED", by="client, operator"),
    ),
    events={"enqueue": "job_created", "submit": "job_queued", "claim": "job_started", "retry": "job_retrying"},
    defaults=Policy(lease_s=60, retry=Retry.fixed(delay_s=1, max_attempts=4)),
)
