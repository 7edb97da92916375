"""A claim by one statement, where jobs are like those that were claimed last: found, moved and logged in one go.

Nothing is decided by the server. The claim is decided here, on a job like those that the last one took, at a moment
that is reckoned. The statement takes the first jobs of the queue, as ever, and compares: if every one of them is like
that job in all that a decision looks at (`kernel/alike.py`), they move as was decided. If a single one is not, none
moves, and the claim goes on the long way with what was found.
"""

from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from detent import kernel
from detent.kernel import Change, Job
from detent.kernel.alike import whole
from detent.kernel.change import together
from detent.store.planning import Plan
from detent.store.postgres.columns import EVENT, TYPES
from detent.store.postgres.composing import assigned
from detent.store.postgres.models import Model
from detent.store.postgres.round import TOLERANCE_US, event_row
from detent.store.postgres.session import Session
from detent.store.postgres.statements import SQL
from detent.store.postgres.values import array
from detent.store.request import ClaimRequest, Replies, Reply
from detent.store.rows import WIDTH, Row

LEAST: Final = 16  # jobs in a claim, before it is worth while
# What is empty in any job that the next can be like: each of these would have to be compared else.
_EMPTY: Final = ("owner", "lease_s", "lease_expires_at", "deadline_at", "cancel_by", "progress")
_STEP: Final = {"from_rev": "bigint", "to_rev": "bigint", "to_state": "text", "at": "bigint"}


class AtOnce:
    """One claim's. `is_written`: it took place, and `replies` are its answer."""

    def __init__(self, session: Session, request: ClaimRequest, model: Model, change: Change, reckoned: int) -> None:
        self._session = session
        self._request = request
        self._model = model
        self._change = change
        self._reckoned = reckoned
        self.is_written = False
        self.took_s: float | None = None  # to find the jobs

    def around(self, lane: str, values: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """The statement that finds jobs, made into one that also moves them."""
        columns, job = together(self._change.events), self._model.job
        sql = SQL["claim_at_once"].replace("{lane}", lane).replace("{assignments}", assigned(tuple(columns)))
        typed = {name: TYPES[name] for name in columns} | _STEP
        sql = sql.replace("{step}", ", ".join(f":to_{name}::{kind} as {name}" for name, kind in typed.items()))
        last = self._change.events[-1]
        step = columns | {"from_rev": job.rev, "to_rev": last.rev, "to_state": last.to_state, "at": last.at}
        like = {"lifecycle": self._model.lifecycle, "policy": self._model.policy, "state": job.state, "rev": job.rev}
        return sql, {
            **values, **{f"to_{name}": value for name, value in step.items()}, **self._events(),
            **{f"like_{name}": value for name, value in like.items()}, "like_attempt": job.attempt,
            "now": self._reckoned, "clock": self._session.clock, "tolerance": TOLERANCE_US,
        }  # fmt: skip

    def heard(self, rows: Sequence[Row]) -> None:
        if rows:
            moment, took_us, self.is_written, transaction = rows[0][WIDTH + 1 :]
            self.took_s = took_us / 1e6
            self._session.heard(transaction, moment)
        if not self.is_written or len(rows) < self._request.limit:
            self._session.models.drop(self._request)

    def replies(self, found: Sequence[Job]) -> Replies:
        """As the jobs are now."""
        columns, first = whole(self._change), found[0]
        jobs = [replace(job, **columns) for job in found]
        event = replace(self._change.events[0], job_id=first.id, correlation_id=first.spec.correlation_id)
        written = {(each.spec.tenant, each.id): each for each in jobs}
        self._session.wrote(((first.spec.tenant, first.id), event), written)
        return [Reply(job) for job in jobs]

    def _events(self) -> dict[str, str]:
        rows = [event_row(event, None) for event in self._change.events]
        return {
            f"event_{name}": array(kind, column)
            for (name, kind), column in zip(EVENT[1:], zip(*rows, strict=True), strict=True)
        }


def at_once(session: Session, request: ClaimRequest) -> AtOnce | None:
    """None, if the last claim of this kind took jobs that differ, or nobody knows what time it is."""
    model = session.models.get(request)
    if model is None or session.reckoned is None or request.limit < LEAST:
        return None
    spec = model.job.spec
    lifecycle = session.definitions.named(spec.lifecycle, spec.lifecycle_version)
    if lifecycle is None:
        return None
    change = kernel.decide(lifecycle, model.job, request.command, session.reckoned, 0.5)
    if not isinstance(change, Change) or not change.events:
        return None
    return AtOnce(session, request, model, change, session.reckoned)


def remember(session: Session, request: ClaimRequest, planned: Plan) -> None:
    """For the next claim, if there is sure to be more, and all that this one took was alike."""
    if len(planned.changes) < max(request.limit, LEAST) or request.command.request_id is not None:
        return
    first, *others = [change for change, _ in planned.changes]
    job = first.before
    numbers = session.definitions.numbers_read(job.spec)
    if numbers is not None and _is_plain(first) and all(change.like is first for change in others):
        model = Model(job, *numbers)
        session.at_commit.append(lambda: session.models.keep(request, model))


def _is_plain(change: Change) -> bool:
    job = change.before
    is_empty = all(getattr(job, name) is None for name in _EMPTY)
    is_own = job.spec.trace_id is None and job.spec.limit_key is None
    return is_empty and is_own and not change.notes and not change.spawned and change.values is None
