"""`contract`: compare-and-set orchestration. Every verb names its revision; a lost job stalls, then is queued again."""

from typing import Final

from detent.lifecycle import SAME, Lifecycle, Policy, Retry, State, move

CONTRACT: Final = Lifecycle(
    name="contract",
    version=1,
    summary="Compare-and-set orchestration: every verb names the revision it was decided on; lost work stalls first.",
    states=(
        State("queued", "ready"),
        State("claimed", "held"),
        State("running", "active"),
        State("stalled", "parked"),
        State("succeeded", "ended", "success", event="succeeded"),
        State("failed", "ended", "failure", event="failed"),
    ),
    moves=(
        move("-", "enqueue", "queued", by="client"),
        move("queued", "claim", "claimed", by="worker"),
        move("stalled", "claim", "claimed", by="worker"),  # a reclaim: only where the policy allows it
        move("claimed", "start", "running", by="owner"),
        move("claimed, running", "renew", SAME, by="owner"),
        move("running", "complete", "succeeded", by="owner"),
        move("running", "fail", "failed", by="owner"),
        move("claimed, running", "stall", "stalled", by="system, owner", recovery=True),
        move("stalled", "requeue", "queued", by="system, operator", recovery=True),
    ),
    events={
        "enqueue": "enqueued",
        "claim": "claimed",
        "start": "started",
        "renew": "heartbeat",
        "heartbeat": "heartbeat",
        "stall": "stalled",
        "requeue": "requeued",
    },
    on_expiry="stall",
    on_timeout="stall",
    requires_rev=True,
    defaults=Policy(lease_s=60, retry=Retry(max_attempts=5, base_s=1, factor=2, max_s=60)),
)
