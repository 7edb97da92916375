"""A claim by one statement, where jobs are like those that were claimed last: found, moved and logged in one go.

Nothing is decided by the server. The claim is decided here, on a job like those that the last one took, at a moment
that is reckoned. The statement takes the first jobs of the queue, as ever, and compares: if every one of them is like
that job in all that a decision looks at (`kernel/alike.py`), they move as was decided. If a single one is not, none
moves, and the claim goes the long way.

It is for jobs that were never claimed before. So nearly all of a record is known from the one it was decided on, and
only the rest is read.
"""

from collections.abc import Sequence
from functools import lru_cache
from operator import itemgetter
from typing import Any, Final

from msgspec.structs import astuple, replace

from detent import kernel
from detent.kernel import Change, Job
from detent.kernel.alike import whole
from detent.kernel.change import together
from detent.kernel.job import FOLDED, NULL
from detent.lifecycle import Lifecycle
from detent.store.planning import Plan
from detent.store.postgres.columns import EVENT, TYPES, Names
from detent.store.postgres.composing import COMPOSED_MAX, assigned
from detent.store.postgres.models import Model
from detent.store.postgres.round import TOLERANCE_US, event_row
from detent.store.postgres.session import Session
from detent.store.postgres.statements import SQL
from detent.store.postgres.values import array
from detent.store.postgres.watermarks import Lane, Place
from detent.store.request import ClaimRequest, Replies, Reply
from detent.store.rows import SPEC_WIDTH, Row, spec_of

# What a record has that was never claimed: none of these, and nothing counted. A claim sets the moments itself.
_EMPTY: Final = (
    "rerun_of", "owner", "lease_s", "lease_expires_at", "heartbeat_by", "last_owner", "last_lease_expires_at",
    "deadline_at", "cancel_by", "verdict", "rule", "result_ptr", "checkpoint_digest", "claimed_at", "started_at",
    "last_error", "checkpoint", "progress",
)  # fmt: skip
_UNCOUNTED: Final = ("attempt", "failures", "crashes", "interruptions", "retries")
_MOMENTS: Final = frozenset({"updated_at", "due_at", "claim_at", "wake_at", "order_at"})
_STEP: Final = {"from_rev": "bigint", "to_rev": "bigint", "to_state": "text", "at": "bigint"}
# A row: the number of the job, what it is, when it was made, its digest, its place in the order; then about them all.
_CREATED_AT: Final = 1 + SPEC_WIDTH
_ORDER_AT: Final = _CREATED_AT + 2
_ABOUT_ALL: Final = _CREATED_AT + 4
_lane: Final = itemgetter(6, 2, 18)  # queue, kind, adapter
# Where a record has what is its own.
_CREATED: Final = 1 + FOLDED.index("created_at")
_DIGEST: Final = 1 + FOLDED.index("payload_digest")


class AtOnce:
    """One claim's."""

    def __init__(
        self, session: Session, request: ClaimRequest, model: Model, lifecycle: Lifecycle, change: Change
    ) -> None:
        self._session = session
        self._request = request
        self._model = model
        self._lifecycle = lifecycle
        self._change = change
        self.took_s: float | None = None  # to find the jobs
        self.places: dict[Lane, Place] = {}  # how far it came in each lane

    def around(self, look: str, values: dict[str, Any]) -> tuple[str, dict[str, Any]]:
        """The statement that finds jobs, made into one that also moves them."""
        columns, job = together(self._change.events), self._model.job
        last = self._change.events[-1]
        step = columns | {"from_rev": job.rev, "to_rev": last.rev, "to_state": last.to_state, "at": last.at}
        like = {"lifecycle": self._model.lifecycle, "policy": self._model.policy, "state": job.state, "rev": job.rev}
        return _statement(look, tuple(columns)), {
            **values, **{f"to_{name}": value for name, value in step.items()}, **self._events(),
            **{f"like_{name}": value for name, value in like.items()},
            "reckoned": self._session.reckoned, "clock": self._session.clock, "tolerance": TOLERANCE_US,
        }  # fmt: skip

    def heard(self, rows: Sequence[Row]) -> Replies | None:
        """The jobs as they are now; None, if they were not alike."""
        moment, took_us, is_written, transaction = rows[0][_ABOUT_ALL:]
        self.took_s = took_us / 1e6
        self._session.heard(transaction, moment)
        if not is_written:
            return None
        jobs = self._jobs(rows)
        last_of_lanes = {_lane(row): row for row in rows}.items()
        self.places = {(*lane, adapter or ""): (row[_ORDER_AT], row[0]) for (*lane, adapter), row in last_of_lanes}
        self._wrote(jobs, rows)
        return [Reply(job) for job in jobs]

    def _jobs(self, rows: Sequence[Row]) -> list[Job]:
        """Each is the model's record after the change, with what is its own."""
        after = astuple(replace(self._model.job, **whole(self._change)))
        first, middle, last = after[1:_CREATED], after[_CREATED + 1 : _DIGEST], after[_DIGEST + 1 :]
        lifecycle, policy, at = self._lifecycle, self._model.job.spec.policy, _CREATED_AT
        return [
            Job(spec_of(row[1:at], lifecycle, policy), *(*first, row[at], *middle, row[at + 1], *last)) for row in rows
        ]

    def _wrote(self, jobs: Sequence[Job], rows: Sequence[Row]) -> None:
        session, request, model, taken, first = self._session, self._request, self._model, len(jobs), jobs[0].spec
        event = replace(self._change.events[0], job_id=first.id, correlation_id=first.correlation_id)
        written = {(job.spec.tenant, job.spec.id): job for job in jobs}
        session.numbered(zip(written, [row[0] for row in rows], strict=True))
        session.wrote(((first.tenant, first.id), event), written)
        session.at_commit.append(lambda: session.models.keep(request, taken, model))

    def _events(self) -> dict[str, str]:
        rows = [event_row(event, None) for event in self._change.events]
        return {
            f"event_{name}": array(kind, column)
            for (name, kind), column in zip(EVENT[1:], zip(*rows, strict=True), strict=True)
        }


@lru_cache(COMPOSED_MAX)
def _statement(look: str, columns: Names) -> str:
    typed = {name: TYPES[name] for name in columns} | _STEP
    step = ", ".join(f":to_{name}::{kind} as {name}" for name, kind in typed.items())
    sql = SQL["claim_at_once"].replace("{assignments}", assigned(columns)).replace("{step}", step)
    return sql.replace("{look}", look)


def at_once(session: Session, request: ClaimRequest) -> AtOnce | None:
    """None, if the last claim of this kind took jobs that differ, or nobody knows what time it is, or a look takes so
    long that it has to be found out where the next may begin.
    """
    model = session.models.get(request)
    if model is None or session.reckoned is None or session.watermarks.wants_mark(request):
        return None
    spec = model.job.spec
    lifecycle = session.definitions.named(spec.lifecycle, spec.lifecycle_version)
    if (
        lifecycle is None
        or lifecycle.requires_rev
        or not session.definitions.has_read(model.lifecycle, model.policy, spec)
    ):
        return None
    change = kernel.decide(lifecycle, model.job, request.command, session.reckoned, 0.5)
    if not isinstance(change, Change) or not _is_now(change, session.reckoned):
        return None
    return AtOnce(session, request, model, lifecycle, change)


def _is_now(change: Change, reckoned: int) -> bool:
    """Whether it was decided at this moment, and not at a later one, which the model saw before a clock was put back;
    and all moments of a record are set by it.
    """
    return bool(change.events) and change.events[0].at == reckoned and whole(change).keys() >= _MOMENTS


def remember(session: Session, request: ClaimRequest, planned: Plan) -> None:
    """For the next claim: whether there is more, and what it is like, if all that this one took was alike."""
    model, taken = _model(session, [change for change, _ in planned.changes]), len(planned.changes)
    if request.command.request_id is None:
        session.at_commit.append(lambda: session.models.keep(request, taken, model))


def _model(session: Session, changes: Sequence[Change]) -> Model | None:
    if not changes or not _is_plain(changes[0]) or not all(change.like is changes[0] for change in changes[1:]):
        return None
    job = changes[0].before
    numbers = session.definitions.numbers_read(job.spec)
    without_payload = replace(job, spec=replace(job.spec, payload=NULL))  # which may be large, and is each job's own
    return None if numbers is None else Model(without_payload, *numbers)


def _is_plain(change: Change) -> bool:
    job = change.before
    is_new = not any(getattr(job, name) is not None for name in _EMPTY) and not any(getattr(job, n) for n in _UNCOUNTED)
    is_own = job.spec.trace_id is None and job.spec.limit_key is None
    is_alone = not change.notes and not change.spawned and change.receipt is None
    return is_new and is_own and is_alone and change.values is None
