"""`dispatch`: a gateway accepts, a scheduler asks the policy, pools execute. Nothing unchecked can run."""

from typing import Final

from detent.lifecycle import SAME, Lifecycle, Policy, Retry, State, move

DISPATCH: Final = Lifecycle(
    name="dispatch",
    version=1,
    summary="A gateway accepts, a scheduler asks the policy, worker pools execute. A retry is a new, linked job.",
    states=(
        State("PENDING", "parked"),
        State("SCHEDULED", "ready"),
        State("DISPATCHED", "held", timeout_s=60),
        State("RUNNING", "active"),
        State("SUCCEEDED", "ended", "success"),
        State("FAILED", "ended", "failure"),
        State("CANCELLED", "ended", "cancelled"),
        State("DENIED", "ended", "failure"),
        State("TIMEOUT", "ended", "failure", event="job_timed_out"),
    ),
    moves=(
        move("-", "enqueue", "PENDING", by="gateway"),
        # The verdict decides when it is claimable: allow now, throttle later, hold after approve, deny never.
        move("PENDING", "schedule", "SCHEDULED", by="scheduler"),
        move("SCHEDULED", "approve", SAME, by="operator"),
        move("SCHEDULED", "deny", "DENIED", by="scheduler, operator"),
        move("SCHEDULED", "claim", "DISPATCHED", by="scheduler, worker"),
        move("DISPATCHED", "start", "RUNNING", by="owner"),
        move("DISPATCHED, RUNNING", "renew", SAME, by="owner"),
        move("RUNNING", "complete", "SUCCEEDED", by="owner"),
        move("RUNNING", "fail", "FAILED", by="owner"),
        move("DISPATCHED, RUNNING", "time_out", "TIMEOUT", by="reconciler"),
        move("DISPATCHED, RUNNING", "expire", "TIMEOUT", by="reconciler"),
        move("PENDING, SCHEDULED, DISPATCHED, RUNNING", "cancel", "CANCELLED", by="control plane, client"),
    ),
    events={"enqueue": "job_accepted", "claim": "job_dispatched"},
    settles_repeats=True,
    implies_start=True,
    defaults=Policy(lease_s=60, timeout_s=3600, retry=Retry.never()),
)
