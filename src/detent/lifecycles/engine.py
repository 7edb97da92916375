"""`engine`: jobs pushed to execution engines, with a limit on the time in every state and no silent failure."""

from typing import Final

from detent.lifecycle import SAME, Lifecycle, Policy, Retry, State, move

ENGINE: Final = Lifecycle(
    name="engine",
    version=1,
    summary="Jobs pushed to execution engines. Every state has a time limit and every failure is counted and named.",
    states=(
        State("queued", "ready", timeout_s=30),
        State("dispatched", "held", timeout_s=10),
        State("running", "active", timeout_s=60),
        State("completed", "ended", "success", event="JOB_COMPLETED"),
        State("failed", "ended", "failure", event="JOB_FAILED"),
    ),
    moves=(
        move("-", "enqueue", "queued", by="client"),
        # An offer is no move: the engine's acknowledgement is the claim.
        move("queued", "claim", "dispatched", by="scheduler, worker"),
        move("dispatched", "start", "running", by="owner"),
        move("dispatched, running", "renew", SAME, by="owner"),
        move("running", "complete", "completed", by="owner"),
        move("running", "fail", "failed", by="owner"),
        move("queued, dispatched, running", "time_out", "failed", by="reconciler"),
        move("dispatched, running", "expire", "failed", by="reconciler"),
        # There is no cancelled state: a cancelled job failed, in the category `cancelled`.
        move("queued, dispatched, running", "cancel", "failed", by="client, operator"),
    ),
    events={
        "enqueue": "JOB_QUEUED",
        "claim": "JOB_DISPATCHED",
        "start": "JOB_RUNNING",
        "renew": "JOB_LEASE_RENEWED",
        "heartbeat": "JOB_HEARTBEAT",
        "request_cancel": "JOB_CANCEL_REQUESTED",
        "progress": "JOB_PROGRESS",
    },
    aliases={"started": "running", "finished": "completed"},
    legacy_events={"JOB_RUNNING": "JOB_STARTED", "JOB_COMPLETED": "JOB_FINISHED"},
    defaults=Policy(lease_s=30, heartbeat_s=10, retry=Retry(max_attempts=3)),
)
