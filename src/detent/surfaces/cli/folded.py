"""What `detent replay` tells programs: its shapes, with moments as times, made of what folding gave."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from msgspec import Struct

from detent.client.moments import to_micros, to_moment
from detent.client.replaying import Replay, State
from detent.lifecycle.words import Phase

_MOMENTS: Final = ("_at", "_by")  # how the names of columns end that hold one
_YEAR_ONE: Final = datetime.fromisoformat("0001-01-01T00:00:00Z")


class JobAtShape(Struct, frozen=True, kw_only=True):
    """One job at a moment (`at`): the columns that its log determines. A digest stands for what was said at length."""

    job_id: str
    at: datetime
    state: str
    phase: Phase
    created_at: datetime
    updated_at: datetime
    rerun_of: str | None
    rev: int
    attempt: int
    owner: str | None
    lease_s: float | None
    lease_expires_at: datetime | None
    heartbeat_by: datetime | None
    last_owner: str | None
    last_lease_expires_at: datetime | None
    due_at: datetime | None
    claim_at: datetime | None
    wake_at: datetime | None
    order_at: datetime | None
    deadline_at: datetime | None
    cancel_by: datetime | None
    failures: int
    crashes: int
    interruptions: int
    retries: int
    verdict: str | None
    rule: str | None
    result_ptr: str | None
    payload_digest: str
    result_digest: str | None
    error_digest: str | None
    checkpoint_digest: str | None
    claimed_at: datetime | None
    started_at: datetime | None
    ended_at: datetime | None


class StateCountShape(Struct, frozen=True, kw_only=True):
    """How many jobs were in a state at the two ends of the period. `before` is null without --since."""

    lifecycle: str
    state: str
    before: int | None
    after: int


class DifferenceShape(Struct, frozen=True, kw_only=True):
    """A column of a record that is not what its log adds up to."""

    job_id: str
    column: str
    folded: Any
    shown: Any


class ReplayShape(Struct, frozen=True, kw_only=True):
    """What folding gave. `differences` is null with --until: there are no records of earlier moments to compare.

    At most 1,000 of them are listed; `differing` counts all.
    """

    since: datetime | None
    until: datetime | None
    jobs: int
    events: int
    states: list[StateCountShape]
    differences: list[DifferenceShape] | None
    differing: int


def job_at_shape(job_id: str, at: datetime, columns: State) -> JobAtShape:
    return JobAtShape(job_id=job_id, at=at, **{name: value_of(name, columns[name]) for name in columns})


def value_of(column: str, value: Any) -> Any:
    """A number in a column of moments is one, however absurd: a log that was tampered with must still be shown."""
    if not column.endswith(_MOMENTS) or not isinstance(value, int):
        return value
    return to_moment(max(value, to_micros("the year 1", _YEAR_ONE)))


def replay_shape(
    replayed: Replay, since: datetime | None, until: datetime | None, order: Iterable[tuple[str, str]]
) -> ReplayShape:
    """`order` are the lifecycles' states, as they are to be listed. A log that was tampered with may have others."""
    others = sorted({*replayed.before, *replayed.after}.difference(order))
    met = [key for key in (*order, *others) if replayed.before[key] or replayed.after[key]]
    return ReplayShape(
        since=since,
        until=until,
        jobs=replayed.jobs,
        events=replayed.events,
        states=[_state(replayed, key, has_before=since is not None) for key in met],
        differences=_differences(replayed) if until is None else None,
        differing=replayed.differing,
    )


def _state(replayed: Replay, key: tuple[str, str], *, has_before: bool) -> StateCountShape:
    before = replayed.before[key] if has_before else None
    return StateCountShape(lifecycle=key[0], state=key[1], before=before, after=replayed.after[key])


def _differences(replayed: Replay) -> list[DifferenceShape]:
    return [
        DifferenceShape(
            job_id=each.job_id,
            column=each.column,
            folded=value_of(each.column, each.folded),
            shown=value_of(each.column, each.shown),
        )
        for each in replayed.differences
    ]
