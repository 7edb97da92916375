"""A change while it is being decided: the record so far and the moves taken so far. Lives for one `decide`."""

from typing import Any

from msgspec import Struct

from detent.kernel.change import Answer, Change, evolve
from detent.kernel.command import Command
from detent.kernel.event import Event, Note
from detent.kernel.job import Job
from detent.lifecycle import Lifecycle
from detent.lifecycle.table import Leg, Route
from detent.lifecycle.words import WORKING


class Draft(Struct, gc=False):
    """`job` is the record that rules decide on. It lags behind `move` until `catch_up`, which a second move needs."""

    lifecycle: Lifecycle
    before: Job
    job: Job
    command: Command
    route: Route
    role: str
    now: int
    random: float
    events: tuple[Event, ...] = ()
    values: dict[str, Any] | None = None

    def route_of(self, verb: str) -> Route | None:
        return self.lifecycle.table.routes[self.job.state].get(verb)

    def move(
        self,
        verb: str,
        leg: Leg,
        columns: dict[str, Any],
        role: str | None = None,
        event_type: str | None = None,
        cause: str | None = None,
        payload: dict[str, Any] | None = None,
        values: dict[str, Any] | None = None,
    ) -> None:
        """Take one move: the next revision, and the one event that says so. (Keyword-only arguments would cost 0.1 µs.)

        `columns` go on the record and into the log; `values` go on the record only, by digest in the log.
        """
        job, command = self.job, self.command
        # Only a worker speaks as one. A claim names the worker that will be: a scheduler may make it for a pool.
        worker = command.worker
        if worker is not None and self.role not in WORKING and role not in WORKING and verb != "claim":
            worker = None
        spec, rev = job.spec, job.rev
        event = Event(
            spec.tenant, spec.id, rev + 1, event_type or leg.event, verb, job.state if rev else None, leg.state.name,
            self.now, command.actor or worker or self.role, role or self.role, worker,
            columns.get("attempt", job.attempt), command.request_id, spec.correlation_id,
            command.trace_id or spec.trace_id, cause or command.reason, columns, payload,
        )  # fmt: skip
        self.events = (*self.events, event) if self.events else (event,)
        if values:
            self.values = values

    def catch_up(self) -> None:
        """Bring the record up to the last move, for the next to be decided on."""
        self.job = evolve(self.job, self.events[-1])

    def done(
        self, answer: Answer = "applied", notes: tuple[Note, ...] = (), spawned: tuple[Change, ...] = ()
    ) -> Change:
        needs_lease = self.before.owner is not None and self.role in WORKING
        return Change(self.before, self.events, needs_lease, self.values, answer, notes, spawned)


def actor_of(command: Command, role: str) -> str:
    return command.actor or command.worker or role
