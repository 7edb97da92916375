"""The jobs a claim may take, first come first: merged from one run of the index for each queue and kind."""

from collections.abc import Iterator
from heapq import merge
from itertools import islice
from typing import Final

from detent.kernel import Job
from detent.store.request import ClaimRequest
from detent.store.sqlite.session import Session
from detent.store.sqlite.statements import SQL

_KINDS, _LANE = SQL["kinds"], SQL["lane"]
# How far past jobs that the kernel, or the adapters, pass over a claim looks before it gives up.
SCANNED_MAX: Final = 1_000
Place = tuple[int, int]  # order_at and the number of the job
_FIRST: Final[Place] = (-(2**63), 0)


def candidates(session: Session, request: ClaimRequest) -> Iterator[Job]:
    """Jobs that are due, in the order of the queue. A worker that lacks a job's adapter leaves it alone."""
    lanes = [
        _lane(session, request, queue, kind)
        for queue in dict.fromkeys(request.queues)
        for kind in _kinds(session, request, queue)
    ]
    places = islice(lanes[0] if len(lanes) == 1 else merge(*lanes), SCANNED_MAX + request.limit)
    while page := [number for _, number in islice(places, request.limit)]:
        for job in session.numbered(page):
            if request.adapters is None or job.spec.adapter_id is None or job.spec.adapter_id in request.adapters:
                yield job


def _kinds(session: Session, request: ClaimRequest, queue: str) -> list[str]:
    if request.kinds is not None:
        return list(dict.fromkeys(request.kinds))
    return [kind for (kind,) in session.connection.execute(_KINDS, (request.tenant, queue))]


def _lane(session: Session, request: ClaimRequest, queue: str, kind: str) -> Iterator[Place]:
    """Places in one run of the index, a page at a time."""
    place: Place = _FIRST
    while True:
        bindings = (request.tenant, queue, kind, session.now, *place, request.limit)
        page = session.connection.execute(_LANE, bindings)
        yield from ((order_at, number) for order_at, number in page)
        if len(page) < request.limit:
            return
        place = page[-1][0], page[-1][1]
