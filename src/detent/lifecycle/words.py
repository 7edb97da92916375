"""The closed vocabularies: phases, outcomes, roles, verbs, and what the event of a verb is called."""

from typing import Final, Literal, get_args

Phase = Literal["parked", "ready", "held", "active", "ended"]
Outcome = Literal["success", "failure", "cancelled"]
Role = Literal["client", "gateway", "scheduler", "worker", "owner", "reconciler", "operator", "policy"]
Verb = Literal[
    "enqueue", "submit", "schedule", "approve", "deny", "claim", "start", "renew", "complete", "fail", "retry",
    "release", "stall", "requeue", "expire", "time_out", "request_cancel", "cancel", "dead_letter",
]  # fmt: skip

ErrorClass = Literal["ValidationError", "TransientError", "PermanentError", "LeaseConflictError"]

PHASES: Final[tuple[str, ...]] = get_args(Phase)
OUTCOMES: Final[tuple[str, ...]] = get_args(Outcome)
ROLES: Final[tuple[str, ...]] = get_args(Role)
VERBS: Final[tuple[str, ...]] = get_args(Verb)
ERROR_CLASSES: Final[tuple[str, ...]] = get_args(ErrorClass)

# What an owner can say of a leased job without moving it: it is asked like a verb and leaves a note.
NOTING: Final = ("progress", "artifact")

LEASED: Final = frozenset({"held", "active"})
# The two roles a worker can act in: any worker, or the one that holds the lease.
WORKING: Final = frozenset({"worker", "owner"})
# Verbs that may be declared as recovery: they end an attempt without ending the job, or follow such an end.
RECOVERING: Final = frozenset({"retry", "expire", "time_out", "release", "stall", "requeue"})
# Verbs that can answer when a lease, or the time in a state, is over.
EXPIRY_ANSWERS: Final = ("expire", "stall")
TIMEOUT_ANSWERS: Final = ("time_out", "stall")
# Words in the tables that stand for several roles.
GROUPS: Final[dict[str, tuple[Role, ...]]] = {
    "system": ("reconciler", "scheduler"),
    "control plane": ("operator", "gateway"),
}
SYSTEM: Final = frozenset(GROUPS["system"])

# The event type of a move that does not end the job. `heartbeat` is a renewal that carries something;
# `progress`, `artifact` and `compensated` name notes.
EVENT_TYPES: Final[dict[str, str]] = {
    "enqueue": "job_queued",
    "submit": "job_submitted",
    "schedule": "job_scheduled",
    "approve": "job_approved",
    "deny": "job_denied",
    "claim": "job_claimed",
    "start": "job_started",
    "renew": "job_lease_renewed",
    "heartbeat": "job_heartbeat",
    "complete": "job_completed",
    "fail": "job_failed",
    "retry": "job_retried",
    "release": "job_released",
    "stall": "job_stalled",
    "requeue": "job_requeued",
    "expire": "job_lease_expired",
    "time_out": "job_timed_out",
    "request_cancel": "job_cancel_requested",
    "cancel": "job_cancelled",
    "dead_letter": "job_dead_lettered",
    "progress": "job_progress",
    "artifact": "job_artifact_registered",
    "compensated": "job_compensated",
}

# Types every worker may report without configuring anything. What is in no table is retryable: most faults pass.
KNOWN_TYPES: Final[dict[str, ErrorClass]] = {
    "ValidationError": "ValidationError",
    "TransientError": "TransientError",
    "PermanentError": "PermanentError",
    "LeaseConflictError": "LeaseConflictError",
    "TransientSystemError": "TransientError",
    "DeadlineExceeded": "TransientError",
    "QueueOverload": "TransientError",
    "DependencyUnavailable": "TransientError",
    "InvalidInput": "ValidationError",
    "PermanentTimeout": "PermanentError",
    "ConfigurationError": "PermanentError",
    "ResourceLimitExceeded": "PermanentError",
}
