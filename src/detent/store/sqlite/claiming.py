"""The jobs a claim may take, first come first: merged from one run of the index for each lane."""

from collections.abc import Collection, Iterator
from heapq import merge
from itertools import islice
from typing import Final

from detent.kernel import Job
from detent.store.request import ClaimRequest
from detent.store.rows import encode
from detent.store.sqlite.session import Session
from detent.store.sqlite.statements import SQL

_KINDS, _ADAPTERS = SQL["kinds"], SQL["adapters"]
LANES: Final = tuple(SQL[name].replace("{passed}", "") for name in ("lane", "patient_lane"))
PASSING: Final = tuple(SQL[name].replace("{passed}", SQL["passing_over"]) for name in ("lane", "patient_lane"))
# How far past jobs that the kernel refuses a claim looks before it gives up.
SCANNED_MAX: Final = 1_000
Lane = tuple[str, str, str, str]  # tenant, queue, kind, adapter
Place = tuple[int, int]  # order_at and the number of the job
_FIRST: Final[Place] = (-(2**63), 0)


def candidates(session: Session, request: ClaimRequest, passed: Collection[str] = ()) -> Iterator[Job]:
    """Jobs that are due, in the order of the queue. A worker that lacks a job's adapter leaves it alone.

    Those of limit keys in `passed` are left out; it may grow while they are taken.
    """
    lanes = [
        _lane(session, (request.tenant, queue, kind, adapter), request.limit, passed)
        for queue in dict.fromkeys(request.queues)
        if not session.is_paused(request.tenant, queue)
        for kind in _kinds(session, request, queue)
        for adapter in _adapters(session, request, queue, kind)
    ]
    places = islice(lanes[0] if len(lanes) == 1 else merge(*lanes), SCANNED_MAX + request.limit)
    while page := [number for _, number in islice(places, request.limit)]:
        yield from session.numbered(page)


def claimable(session: Session, request: ClaimRequest, now: int) -> list[Job]:
    """Those that a claim would take. Of a limit key that is not used up yet there may be more than it lets through."""
    session.now = now
    return list(islice(candidates(session, request, session.used_up(request.tenant)), request.limit))


def _kinds(session: Session, request: ClaimRequest, queue: str) -> list[str]:
    if request.kinds is not None:
        return list(dict.fromkeys(request.kinds))
    return [kind for (kind,) in session.connection.execute(_KINDS, (request.tenant, queue))]


def _adapters(session: Session, request: ClaimRequest, queue: str, kind: str) -> list[str]:
    """Those the worker has, and none at all."""
    if request.adapters is not None:
        return list(dict.fromkeys(("", *request.adapters)))
    waiting = session.connection.execute(_ADAPTERS, (request.tenant, queue, kind))
    return [adapter for (adapter,) in waiting if (queue, kind, adapter) not in request.spared]


def _lane(session: Session, lane: Lane, size: int, passed: Collection[str]) -> Iterator[Place]:
    """Places in one run of the index, a page at a time: up to the present, then those that let others go first."""
    for plain, passing in zip(LANES, PASSING, strict=True):
        place = _FIRST
        while True:
            sql, without = (passing, (encode(list(passed)),)) if passed else (plain, ())
            page = session.connection.execute(sql, (*lane, session.now, *place, size, *without))
            yield from ((order_at, number) for order_at, number in page)
            if len(page) < size:
                break
            place = page[-1][0], page[-1][1]
