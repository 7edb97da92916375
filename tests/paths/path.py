"""A failure path: a way in which a job does not simply succeed. What brings it about, and what must be on the record.

The rows themselves are in `rows/`, named like the lifecycles.
"""

from collections.abc import Iterator
from typing import Any, Final, Literal

from msgspec import Struct

from detent.lifecycle import Lifecycle, Retry

LEASE_S: Final = 3.0
LIMIT_S: Final = 1.0  # of a run that is to exceed it; time enough for one that is not
# Of a job whose lease is to run out soon. All others keep the long leases that their lifecycles have.
SOON: Final[dict[str, Any]] = {"lease_s": LEASE_S, "heartbeat_s": LEASE_S / 2, "allow_unusual_lease": True}

# Of one that is not to run out before the other workers are gone.
LATER: Final[dict[str, Any]] = SOON | {"lease_s": 2 * LEASE_S, "heartbeat_s": LEASE_S}
# An engine has 10 s to start a job, and somebody 30 s to take it: on a busy machine that is soon over.
PATIENT: Final[dict[str, dict[str, Any]]] = {"engine": {"timeouts": {"queued": 600.0, "dispatched": 600.0}}}

Edge = tuple[str, str, str]  # from, verb, to
Moves = tuple[str, ...]  # "verb state", each


class Told(Struct, frozen=True):
    """What the record says of an error."""

    type: str
    category: str
    reason: str | None = None
    stage: str = "exec"
    code: str | None = None


class Deed(Struct, frozen=True):
    """What somebody does to the job, as soon as it is in the state `when`.

    `by` "cli": `words` are a command, to which the job's id is added; it may be refused with a code. "elsewhere" is a
    runtime of somebody else, that owns the job; any other is a role in which the client is asked. `words` are a verb
    then, and `given` is what it is asked with.
    """

    when: str
    by: Literal["cli", "elsewhere", "operator", "scheduler"]
    words: tuple[str, ...]
    refused: str | None = None
    given: dict[str, Any] = {}


class Heir(Struct, frozen=True, kw_only=True):
    """The job that came of this one: it runs it again, or undoes it."""

    what: Literal["rerun", "undo"]
    moves: Moves
    retries: int = 0
    reason: str | None = None


class Path(Struct, frozen=True, kw_only=True):
    """`kind` says which worker has the job first, and how the handler is isolated: see `app.py`. `acts` is what the
    handler does, attempt by attempt: see `acts.py`. `payload` goes to it as it is, if given. `policy` is what the job
    type has of its own.

    `by` is the role of the last move, or either of two that may be first. Of `moves` renewals are left out; `renews`
    is a state in which there must be one. `instead` is the way that a job may go as well, because two are after it at
    the same moment, and both may be first. A path that `rests` ends where nothing moves the job any more, though it has
    not ended.
    """

    name: str
    moves: Moves
    kind: str = "play"
    acts: tuple[str, ...] = ("succeed",)
    payload: Any = None
    policy: dict[str, Any] = {}
    topic: str | None = None
    is_submitted: bool = True
    instead: Moves = ()
    deeds: tuple[Deed, ...] = ()
    by: str = "owner"
    error: Told | None = None
    last: str = ""  # the type of the last error of a job that did not end with it
    result: Any = None
    attempts: int = 1
    failures: int = 0
    crashes: int = 0
    interruptions: int = 0
    retries: int = 0
    notes: tuple[str, ...] = ()
    renews: str = ""
    rests: bool = False
    artifact: str | None = None  # what counts of the one that the handler registers
    heir: Heir | None = None
    shows: tuple[str, ...] = ()


def cli(when: str, *words: str, refused: str | None = None) -> Deed:
    return Deed(when, "cli", words, refused)


def soft(when: str) -> tuple[Deed, ...]:
    return (cli(when, "job", "cancel"),)


def hard(when: str) -> tuple[Deed, ...]:
    return (cli(when, "job", "cancel", "--hard"),)


def elsewhere(when: str, verb: str) -> Deed:
    return Deed(when, "elsewhere", (verb,))


def retry(max_attempts: int, **more: Any) -> Retry:
    """So many attempts, without a wait worth the name."""
    return Retry(**{"max_attempts": max_attempts, "base_s": 0.01, "jitter": False, **more})


def edges_of(moves: Moves) -> Iterator[Edge]:
    before = "-"
    for move in moves:
        verb, state = move.split()
        yield before, verb, state
        before = state


def taken_by(path: Path) -> set[Edge]:
    """Every edge that a path shows, also by a job that runs it again; what undoes it has a lifecycle of its own."""
    renewals = {(path.renews, "renew", path.renews)} if path.renews else set()
    rerun = path.heir.moves if path.heir is not None and path.heir.what == "rerun" else ()
    return {*edges_of(path.moves), *edges_of(rerun), *renewals}


def declared_by(lifecycle: Lifecycle) -> set[Edge]:
    """Every edge there is: where a verb has two ends, both; and the cancel requests that a cancel implies."""
    table = lifecycle.table
    edges = {("-", "enqueue", table.start.leg.state.name)}
    for state, verbs in table.allowed.items():
        for verb in verbs:
            route = table.routes[state][verb]
            edges |= {(state, verb, leg.state.name) for leg in (route.forward, route.recovery) if leg is not None}
    return edges
