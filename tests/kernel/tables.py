"""The five tables written out by hand, and a way to bring a job to each of their places.

No row is read off the lifecycles' data, so that a slip there shows here.
"""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from detent.kernel import Error, Job
from detent.kernel.command import COMMANDS, Cancel, Command, DeadLetter, Schedule, Stall, Submit
from detent.kernel.job import Progress
from detent.lifecycle import Lifecycle, Policy, Retry
from detent.lifecycles import BUILT_IN
from tests.driving import WORKER, Life

ROLES: Final = ("client", "gateway", "scheduler", "worker", "owner", "reconciler", "operator", "policy")
VERBS: Final = (
    "submit", "schedule", "approve", "deny", "claim", "start", "renew", "complete", "fail", "retry", "release", "stall",
    "requeue", "expire", "time_out", "request_cancel", "cancel", "dead_letter",
)  # fmt: skip
WORKERS: Final = frozenset({"worker", "owner"})  # told apart by the record, not by what the caller says
LEASED: Final = frozenset({"held", "active"})
SYSTEM: Final = "reconciler, scheduler"
CONTROL_PLANE: Final = "operator, gateway"
OTHER_WORKER: Final = "worker-2"


class Row(NamedTuple):
    """One verb from one state: where it can lead, and who may ask."""

    to: frozenset[str]
    by: frozenset[str]


Table = dict[tuple[str, str], Row]
Place = tuple[str, str]  # a lifecycle and one of its states


def table(*rows: tuple[str, str, str, str]) -> Table:
    return {
        (state, verb): Row(words(to.replace("same", state)), words(by))
        for states, verb, to, by in rows
        for state in words(states)
    }


def words(listed: str) -> frozenset[str]:
    return frozenset(word.strip() for word in listed.split(","))


PHASES: Final[dict[str, dict[str, str]]] = {
    "standard": {
        "queued": "ready", "assigned": "held", "running": "active",
        "succeeded": "ended", "failed": "ended", "cancelled": "ended", "dead_lettered": "ended",
    },
    "dispatch": {
        "PENDING": "parked", "SCHEDULED": "ready", "DISPATCHED": "held", "RUNNING": "active",
        "SUCCEEDED": "ended", "FAILED": "ended", "CANCELLED": "ended", "DENIED": "ended", "TIMEOUT": "ended",
    },
    "engine": {
        "queued": "ready", "dispatched": "held", "running": "active", "completed": "ended", "failed": "ended",
    },
    "contract": {
        "queued": "ready", "claimed": "held", "running": "active", "stalled": "parked",
        "succeeded": "ended", "failed": "ended",
    },
    "document": {
        "CREATED": "parked", "QUEUED": "ready", "RUNNING": "active", "RETRYING": "parked",
        "SUCCEEDED": "ended", "FAILED": "ended",
    },
}  # fmt: skip

OUTCOMES: Final[dict[str, dict[str, str]]] = {
    "standard": {
        "succeeded": "success", "failed": "failure", "cancelled": "cancelled", "dead_lettered": "failure",
    },
    "dispatch": {
        "SUCCEEDED": "success", "FAILED": "failure", "CANCELLED": "cancelled", "DENIED": "failure",
        "TIMEOUT": "failure",
    },
    "engine": {"completed": "success", "failed": "failure"},
    "contract": {"succeeded": "success", "failed": "failure"},
    "document": {"SUCCEEDED": "success", "FAILED": "failure"},
}  # fmt: skip

# Where enqueue leads, and who may ask for it.
FIRST: Final[dict[str, tuple[str, str]]] = {
    "standard": ("queued", "client"),
    "dispatch": ("PENDING", "gateway"),
    "engine": ("queued", "client"),
    "contract": ("queued", "client"),
    "document": ("CREATED", "client"),
}

DECLARED: Final[dict[str, Table]] = {
    "standard": table(
        ("queued", "claim", "assigned", "worker"),
        ("assigned", "start", "running", "owner"),
        ("assigned, running", "renew", "same", "owner"),
        ("running", "complete", "succeeded", "owner"),
        ("running", "fail", "failed", "owner"),
        ("queued, assigned, running", "cancel", "cancelled", "client, operator, policy, owner, reconciler"),
        ("queued, assigned, running", "dead_letter", "dead_lettered", "owner, reconciler, operator, policy"),
        ("running", "retry", "queued", SYSTEM),
        ("running", "time_out", "queued, dead_lettered", "reconciler, owner"),
        ("assigned, running", "expire", "queued, dead_lettered", "reconciler"),
        ("assigned, running", "release", "queued", "owner"),
    ),
    "dispatch": table(
        ("PENDING", "schedule", "SCHEDULED", "scheduler"),
        ("SCHEDULED", "approve", "same", "operator"),
        ("SCHEDULED", "deny", "DENIED", "scheduler, operator"),
        ("SCHEDULED", "claim", "DISPATCHED", "scheduler, worker"),
        ("DISPATCHED", "start", "RUNNING", "owner"),
        ("DISPATCHED, RUNNING", "renew", "same", "owner"),
        ("RUNNING", "complete", "SUCCEEDED", "owner"),
        ("RUNNING", "fail", "FAILED", "owner"),
        ("DISPATCHED, RUNNING", "time_out", "TIMEOUT", "reconciler"),
        ("DISPATCHED, RUNNING", "expire", "TIMEOUT", "reconciler"),
        ("PENDING, SCHEDULED, DISPATCHED, RUNNING", "cancel", "CANCELLED", f"{CONTROL_PLANE}, client"),
    ),
    "engine": table(
        ("queued", "claim", "dispatched", "scheduler, worker"),
        ("dispatched", "start", "running", "owner"),
        ("dispatched, running", "renew", "same", "owner"),
        ("running", "complete", "completed", "owner"),
        ("running", "fail", "failed", "owner"),
        ("queued, dispatched, running", "time_out", "failed", "reconciler"),
        ("dispatched, running", "expire", "failed", "reconciler"),
        ("queued, dispatched, running", "cancel", "failed", "client, operator"),
    ),
    "contract": table(
        ("queued", "claim", "claimed", "worker"),
        ("stalled", "claim", "claimed", "worker"),
        ("claimed", "start", "running", "owner"),
        ("claimed, running", "renew", "same", "owner"),
        ("running", "complete", "succeeded", "owner"),
        ("running", "fail", "failed", "owner"),
        ("claimed, running", "stall", "stalled", f"{SYSTEM}, owner"),
        ("stalled", "requeue", "queued", f"{SYSTEM}, operator"),
    ),
    "document": table(
        ("CREATED", "submit", "QUEUED", "client"),
        ("QUEUED", "claim", "RUNNING", "worker"),
        ("RUNNING", "renew", "same", "owner"),
        ("RUNNING", "complete", "SUCCEEDED", "owner"),
        ("RUNNING", "fail", "FAILED", "owner"),
        ("RUNNING", "retry", "RETRYING", SYSTEM),
        ("RUNNING", "release", "RETRYING", "owner"),
        ("RETRYING", "requeue", "QUEUED", "reconciler"),
        ("RUNNING", "expire", "RETRYING, FAILED", "reconciler"),
        ("RUNNING", "time_out", "RETRYING, FAILED", "reconciler"),
        ("QUEUED", "fail", "FAILED", SYSTEM),
        ("CREATED, QUEUED, RUNNING, RETRYING", "cancel", "FAILED", "client, operator"),
    ),
}

# Whoever may cancel a leased job may also ask it to stop. `contract` has no cancel, and so nothing to ask for.
IMPLIED: Final[dict[str, Table]] = {
    "standard": table(
        ("assigned, running", "request_cancel", "same", "client, operator, policy, owner, reconciler"),
    ),
    "dispatch": table(("DISPATCHED, RUNNING", "request_cancel", "same", f"{CONTROL_PLANE}, client")),
    "engine": table(("dispatched, running", "request_cancel", "same", "client, operator")),
    "contract": {},
    "document": table(("RUNNING", "request_cancel", "same", "client, operator")),
}

TABLES: Final[dict[str, Table]] = {name: dict(sorted((DECLARED[name] | IMPLIED[name]).items())) for name in DECLARED}

# In `dispatch` a result for a job that was not started yet starts it first: accepted, though from another row.
WITH_START: Final[dict[str, Table]] = {name: {} for name in DECLARED} | {
    "dispatch": table(("DISPATCHED", "complete", "SUCCEEDED", "owner"), ("DISPATCHED", "fail", "FAILED", "owner")),
}

ROWS: Final = tuple((name, state, verb) for name, rows in TABLES.items() for state, verb in rows)
PLACES: Final = tuple((name, state) for name, states in PHASES.items() for state in states)
LEASED_PLACES: Final = tuple(place for place in PLACES if PHASES[place[0]][place[1]] in LEASED)
ENDED_PLACES: Final = tuple(place for place in PLACES if PHASES[place[0]][place[1]] == "ended")


# -- a job in each place ---------------------------------------------------------------------------------------------

POLICIES: Final[dict[str, Policy]] = {
    "standard": Policy(timeout_s=20, grace_s=5, retry=Retry.fixed(delay_s=1, max_attempts=5)),
    "dispatch": Policy(timeout_s=20, grace_s=5, retry=Retry.never()),
    "engine": Policy(timeout_s=20, grace_s=5, retry=Retry.never()),
    "contract": Policy(reclaim=True, retry=Retry.fixed(delay_s=1, max_attempts=5)),
    "document": Policy(timeout_s=20, grace_s=5, retry=Retry.fixed(delay_s=1, max_attempts=4)),
}

STEPS: Final[dict[str, Callable[[Life], object]]] = {
    "submit": lambda life: life.do(Submit()),
    "allow": lambda life: life.do(Schedule(verdict="allow", rule="first")),
    "hold": lambda life: life.do(Schedule(verdict="hold", rule="first")),
    "deny": lambda life: life.do(Schedule(verdict="deny", rule="first")),
    "claim": lambda life: life.claim(),
    "start": lambda life: life.start(),
    "complete": lambda life: life.complete(),
    "fail": lambda life: life.fail("PermanentError"),
    "retry": lambda life: life.fail("TransientError"),
    "expire": lambda life: life.reconcile(),
    "stall": lambda life: life.do(Stall(role="reconciler", expected_rev=life.job.rev)),
    "cancel": lambda life: life.do(Cancel(mode="hard")),
    "dead_letter": lambda life: life.do(DeadLetter(role="operator")),
}

PATHS: Final[dict[Place, str]] = {
    ("standard", "queued"): "",
    ("standard", "assigned"): "claim",
    ("standard", "running"): "claim start",
    ("standard", "succeeded"): "claim start complete",
    ("standard", "failed"): "claim start fail",
    ("standard", "cancelled"): "claim start cancel",
    ("standard", "dead_lettered"): "claim start dead_letter",
    ("dispatch", "PENDING"): "",
    ("dispatch", "SCHEDULED"): "allow",
    ("dispatch", "DISPATCHED"): "allow claim",
    ("dispatch", "RUNNING"): "allow claim start",
    ("dispatch", "SUCCEEDED"): "allow claim start complete",
    ("dispatch", "FAILED"): "allow claim start fail",
    ("dispatch", "CANCELLED"): "allow claim start cancel",
    ("dispatch", "DENIED"): "deny",
    ("dispatch", "TIMEOUT"): "allow claim start expire",
    ("engine", "queued"): "",
    ("engine", "dispatched"): "claim",
    ("engine", "running"): "claim start",
    ("engine", "completed"): "claim start complete",
    ("engine", "failed"): "claim start fail",
    ("contract", "queued"): "",
    ("contract", "claimed"): "claim",
    ("contract", "running"): "claim start",
    ("contract", "stalled"): "claim start stall",
    ("contract", "succeeded"): "claim start complete",
    ("contract", "failed"): "claim start fail",
    ("document", "CREATED"): "",
    ("document", "QUEUED"): "submit",
    ("document", "RUNNING"): "submit claim",
    ("document", "RETRYING"): "submit claim retry",
    ("document", "SUCCEEDED"): "submit claim complete",
    ("document", "FAILED"): "submit claim fail",
}

# What a request needs beside who asks. Mostly other than on the way to a place, so as not to be taken for a repeat.
CONTENT: Final[dict[str, dict[str, Any]]] = {
    "schedule": {"verdict": "allow", "rule": "second"},
    "deny": {"rule": "first"},
    "complete": {"result": b'"other"'},
    "fail": {"error": Error("PermanentError", "another one")},
    "cancel": {"mode": "hard"},
    "progress": {"progress": Progress(0.5)},
    "artifact": {"name": "page", "pointer": "s3://made/page"},
}


def lifecycle_of(name: str) -> Lifecycle:
    return BUILT_IN[name]


def bring_to(name: str, state: str, *, verb: str = "", policy: Policy | None = None) -> Life:
    """A job in that state, at a moment at which time does not stand in the verb's way."""
    life = Life(lifecycle_of(name), policy=policy or POLICIES[name])
    # Only a job that is held has something to approve.
    path = "hold" if (state, verb) == ("SCHEDULED", "approve") else PATHS[name, state]
    for step in path.split():
        STEPS[step](life)
    assert life.job.state == state
    life.wait(1)
    life.now = max(life.now, due_for(life.job, verb) or 0)
    return life


def due_for(job: Job, verb: str) -> int | None:
    """The moment from which the verb is in time."""
    moments = {"claim": job.claim_at, "expire": job.heartbeat_by, "time_out": job.deadline_at, "requeue": job.due_at}
    return moments.get(verb)


def asked_by(job: Job, verb: str, role: str, **fields: Any) -> Command:
    """The verb from that role, rightly fenced. A worker role is the holder's; a claim is made by another worker."""
    who: dict[str, Any] = {"role": role, "attempt": job.attempt, "expected_rev": job.rev}
    if verb == "claim":
        who["worker"] = OTHER_WORKER
    elif role in WORKERS:
        who["worker"] = WORKER
    return COMMANDS[verb](**who | CONTENT.get(verb, {}) | fields)


def row_of(name: str, state: str, verb: str) -> Row | None:
    return TABLES[name].get((state, verb)) or WITH_START[name].get((state, verb))


def allowed_from(name: str, state: str) -> set[str]:
    """The verbs of the table's rows from that state, whoever asks."""
    return {verb for source, verb in TABLES[name] if source == state}


def one_who_may(name: str, state: str, verb: str) -> str:
    """A role of the row that is accepted in that state: an owner needs a lease."""
    row = TABLES[name][state, verb]
    is_leased = PHASES[name][state] in LEASED
    return min(role for role in row.by if is_leased or role != "owner")


def used_up(policy: Policy) -> Policy:
    """The same, with the first loss of an attempt being the last."""
    return replace(policy, retry=Retry.fixed(delay_s=1, max_attempts=1))
