"""The jobs a claim may take, first come first: the first of each lane, locked, and put in order."""

from collections.abc import Sequence
from functools import partial
from typing import Final

from detent.kernel import Job
from detent.store.postgres.script import Script, ask
from detent.store.postgres.session import Session
from detent.store.postgres.statements import SQL
from detent.store.postgres.values import numbers, texts
from detent.store.postgres.watermarks import FIRST, Lane, Place
from detent.store.request import ClaimRequest
from detent.store.waiting import now_s

# How far past jobs that the kernel refuses a claim looks before it gives up.
SCANNED_MAX: Final = 1_000


class Candidates:
    """Jobs that are due, in the order of the queue, a page at a time, and locked as they are found.

    A page is empty when there are no more. Of several lanes more may be locked than are taken; for the moment of a
    transaction others pass them over.
    """

    def __init__(self, session: Session, request: ClaimRequest) -> None:
        self._session = session
        self._request = request
        self._sqls = [SQL["lane"], SQL["patient_lane"]]
        self._places: dict[Lane, Place] = {}
        self._began: dict[Lane, Place] = {}
        self._took_s: float | None = None  # of a look from the start
        self._scanned = 0

    def next_page(self) -> Script[list[Job]]:
        if not self._scanned:
            return (yield from self._first_page())
        return (yield from self._more())

    def taken(self, jobs: Sequence[Job]) -> None:
        """These were claimed: the next claim may begin after them."""
        places = dict(self._began)
        for job in jobs:
            lane = _lane_of(job)
            places[lane] = max(places[lane], (job.order_at or 0, self._session.number((job.spec.tenant, job.id))))
        marks, request = self._session.watermarks, self._request
        if self._took_s is None:
            self._session.at_commit.append(partial(marks.went_on, request, places))
        else:
            self._session.at_commit.append(partial(marks.looked, request, places, self._took_s, len(jobs)))

    def _first_page(self) -> Script[list[Job]]:
        """From where the last claim ended, if a look from the start takes long; if nothing is there, from the start."""
        mark = self._session.watermarks.start(self._request)
        if mark is not None:
            self._began, self._places = dict(mark), mark
            page = yield from self._page(SQL["lane"])
            if page:
                self._sqls = []  # what else there may be is for the next look from the start
                self._scanned += len(page)
                return page
        self._places = dict.fromkeys((yield from _lanes(self._request)), FIRST)
        self._began = dict(self._places)
        before = now_s()
        page = yield from self._more()
        self._took_s = now_s() - before
        return page

    def _more(self) -> Script[list[Job]]:
        while self._sqls and self._places and self._scanned < SCANNED_MAX + self._request.limit:
            page = yield from self._page(self._sqls[0])
            if len(page) < self._request.limit:
                self._sqls.pop(0)  # no lane can have more of these
            if page:
                self._scanned += len(page)
                return page
        return []

    def _page(self, sql: str) -> Script[list[Job]]:
        places = self._places
        values = {
            "now": self._session.clock,
            "tenant": self._request.tenant,
            "queues": texts([queue for queue, _, _ in places]),
            "kinds": texts([kind for _, kind, _ in places]),
            "adapters": texts([adapter for _, _, adapter in places]),
            "orders": numbers([order_at for order_at, _ in places.values()]),
            "jobs": numbers([job for _, job in places.values()]),
            "limit": self._request.limit,
        }
        rows = yield ask(sql, values)
        jobs: list[Job] = yield from self._session.jobs_of(rows)
        for row, job in zip(rows, jobs, strict=True):
            places[_lane_of(job)] = job.order_at or 0, row[0]
        return jobs


def _lane_of(job: Job) -> Lane:
    return job.spec.queue, job.spec.kind, job.spec.adapter_id or ""


def _lanes(request: ClaimRequest) -> Script[list[Lane]]:
    lanes = []
    for queue in dict.fromkeys(request.queues):
        for kind in (yield from _kinds(request, queue)):
            lanes += [(queue, kind, adapter) for adapter in (yield from _adapters(request, queue, kind))]
    return lanes


def _kinds(request: ClaimRequest, queue: str) -> Script[list[str]]:
    if request.kinds is not None:
        return list(dict.fromkeys(request.kinds))
    return [kind for (kind,) in (yield ask(SQL["kinds"], {"tenant": request.tenant, "queue": queue}))]


def _adapters(request: ClaimRequest, queue: str, kind: str) -> Script[list[str]]:
    """Those the worker has, and none at all."""
    if request.adapters is not None:
        return list(dict.fromkeys(("", *request.adapters)))
    asked = {"tenant": request.tenant, "queue": queue, "kind": kind}
    return [adapter for (adapter,) in (yield ask(SQL["adapters"], asked))]
