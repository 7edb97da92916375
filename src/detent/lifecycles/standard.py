"""`standard`: leases, retries, cancellation, dead letters. The default."""

from typing import Final

from detent.lifecycle import SAME, Lifecycle, Policy, Retry, State, move

STANDARD: Final = Lifecycle(
    name="standard",
    version=1,
    summary="Leases, retries with backoff, soft and hard cancel, dead letters. The default for background work.",
    states=(
        State("queued", "ready"),
        State("assigned", "held"),
        State("running", "active"),
        State("succeeded", "ended", "success"),
        State("failed", "ended", "failure"),
        State("cancelled", "ended", "cancelled"),
        State("dead_lettered", "ended", "failure"),
    ),
    moves=(
        move("-", "enqueue", "queued", by="client"),
        move("queued", "claim", "assigned", by="worker"),
        move("assigned", "start", "running", by="owner"),
        move("assigned, running", "renew", SAME, by="owner"),
        move("running", "complete", "succeeded", by="owner"),
        move("running", "fail", "failed", by="owner"),
        move("queued, assigned, running", "cancel", "cancelled", by="client, operator, policy, owner, reconciler"),
        move("queued, assigned, running", "dead_letter", "dead_lettered", by="owner, reconciler, operator, policy"),
        # A worker never names queued. It reports a failure or loses its lease, and the way back is the system's.
        move("running", "retry", "queued", by="system", recovery=True),
        move("running", "time_out", "queued", by="reconciler, owner", recovery=True),
        move("running", "time_out", "dead_lettered", by="reconciler, owner"),
        move("assigned, running", "expire", "queued", by="reconciler", recovery=True),
        move("assigned, running", "expire", "dead_lettered", by="reconciler"),
        move("assigned, running", "release", "queued", by="owner", recovery=True),
    ),
    defaults=Policy(lease_s=60, retry=Retry(max_attempts=5, base_s=0.5, factor=2, max_s=60)),
)
