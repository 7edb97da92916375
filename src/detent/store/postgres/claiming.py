"""The jobs a claim may take, first come first: the first of each lane, locked, and put in order."""

from collections.abc import Sequence, Set
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from detent.kernel import Job
from detent.store.postgres.script import Script, ask
from detent.store.postgres.session import Session
from detent.store.postgres.statements import SQL
from detent.store.postgres.values import numbers, texts
from detent.store.postgres.watermarks import FIRST, Lane, Place
from detent.store.request import ClaimRequest
from detent.store.rows import Row
from detent.store.waiting import now_s

if TYPE_CHECKING:
    from detent.store.postgres.at_once import AtOnce

# How far past jobs that the kernel refuses a claim looks before it gives up.
SCANNED_MAX: Final = 1_000
_OF_LANE: Final = ("queues", "kinds", "adapters")


class Candidates:
    """Jobs that are due, in the order of the queue, a page at a time, and locked as they are found.

    A page is empty when there are no more. Of several lanes more may be locked than are taken; for the moment of a
    transaction others pass them over.
    """

    def __init__(self, session: Session, request: ClaimRequest, at_once: "AtOnce | None" = None) -> None:
        self._session = session
        self._at_once = at_once  # what the first look may do beside looking
        self._request = request
        self._left = ["lane", "patient_lane"]  # where to look, one after the other
        self._unseen: list[str] = []  # those where all lanes are to be found first
        self._kinds: list[str] = []
        self._places: dict[Lane, Place] = {}
        self._began: dict[Lane, Place] = {}
        self._took_s: float | None = None  # of looks from the start
        self._scanned = 0
        self._passed: set[str] = set()  # limit keys that take no job now

    def next_page(self) -> Script[list[Job]]:
        if not self._scanned:
            return (yield from self._first_page())
        before = now_s()
        page = yield from self._more()
        self._took_s = None if self._took_s is None else self._took_s + now_s() - before
        return page

    def pass_over(self, keys: Set[str]) -> Script[None]:
        """Keys that were found used up: what follows is without them, and without all others that are."""
        if keys <= self._passed:
            return
        asked = {"tenant": self._request.tenant, "now": self._session.now}
        self._passed |= keys | {key for (key,) in (yield ask(SQL["used_up"], asked))}
        if not self._left:  # it began from the mark, and what it found there was for nobody
            self._left, self._kinds = ["lane"], [kind for _, kind, _ in self._places]

    def taken(self, jobs: Sequence[Job]) -> None:
        """These were claimed: the next claim may begin after them."""
        places = dict(self._began)
        for lane, job in _last_of_lanes(jobs):
            place = job.order_at or 0, self._session.number((job.spec.tenant, job.id))
            places[lane] = max(places.get(lane, FIRST), place)
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
            page = yield from self._page("lane")
            if page:
                self._left = []  # what else there may be is for the next look from the start
                self._scanned += len(page)
                return page
        self._kinds = yield from _kinds(self._request)
        self._places = dict.fromkeys(_lanes(self._request, self._kinds), FIRST)
        self._began = dict(self._places)
        self._unseen = list(self._left) if self._request.adapters is None else []
        before, at_once = now_s(), self._at_once
        page = yield from self._more()
        took_s = None if at_once is None else at_once.took_s
        self._took_s = now_s() - before if took_s is None else took_s
        return page

    def _more(self) -> Script[list[Job]]:
        while self._left and self._kinds and self._scanned < SCANNED_MAX + self._request.limit:
            page = yield from self._page(self._left[0])
            if len(page) < self._request.limit:
                self._left.pop(0)  # no lane can have more of these
            if page:
                self._scanned += len(page)
                return page
        return []

    def _page(self, name: str) -> Script[list[Job]]:
        """Lanes in which nothing was found have nothing more: after the first look it goes on in the others."""
        is_unseen = name in self._unseen
        if is_unseen:
            self._unseen.remove(name)
        sql = statement(name, is_unseen=is_unseen, is_passing=bool(self._passed))
        lanes = self._all_lanes() if is_unseen else self._known_lanes()
        asked = {"now": self._session.clock, "tenant": self._request.tenant, "limit": self._request.limit}
        rows = yield from self._rows(sql, asked | lanes | {"passed": texts(self._passed)})
        jobs: list[Job] = yield from self._session.jobs_of(rows)
        for lane, job in _last_of_lanes(jobs):
            self._began.setdefault(lane, FIRST)  # found just now
            self._places[lane] = job.order_at or 0, self._session.number((job.spec.tenant, job.id))
        return jobs

    def _rows(self, sql: str, values: dict[str, Any]) -> Script[list[Row]]:
        at_once, self._at_once = self._at_once, None
        if at_once is None:
            return (yield ask(sql, values))
        rows = yield ask(*at_once.around(sql, values))
        at_once.heard(rows)
        return rows

    def _all_lanes(self) -> dict[str, Any]:
        queues, spared = texts(dict.fromkeys(self._request.queues)), sorted(self._request.spared)
        others = {f"spared_{name}": texts([each[place] for each in spared]) for place, name in enumerate(_OF_LANE)}
        return {"queues": queues, "kinds": texts(self._kinds), "first": FIRST[0], **others}

    def _known_lanes(self) -> dict[str, Any]:
        places = self._places
        return {
            "queues": texts([queue for queue, _, _ in places]),
            "kinds": texts([kind for _, kind, _ in places]),
            "adapters": texts([adapter for _, _, adapter in places]),
            "orders": numbers([order_at for order_at, _ in places.values()]),
            "jobs": numbers([job for _, job in places.values()]),
        }


def statement(name: str, *, is_unseen: bool = False, is_passing: bool = False) -> str:
    """`lane` or `patient_lane`: of lanes that are given or are to be found, with keys to be passed over or without."""
    sql = SQL[name].replace("{lanes}", SQL["found_lanes" if is_unseen else "given_lanes"])
    return sql.replace("{passed}", SQL["passing_over"] if is_passing else "")


def _last_of_lanes(jobs: Sequence[Job]) -> list[tuple[Lane, Job]]:
    """Of jobs in order, those farthest in their lanes."""
    return list({_lane_of(job): job for job in jobs}.items())


def _lane_of(job: Job) -> Lane:
    return job.spec.queue, job.spec.kind, job.spec.adapter_id or ""


def _kinds(request: ClaimRequest) -> Script[list[str]]:
    """Those asked for; else those that jobs wait of."""
    if request.kinds is not None:
        return list(dict.fromkeys(request.kinds))
    kinds: list[str] = []
    for queue in dict.fromkeys(request.queues):
        kinds += [kind for (kind,) in (yield ask(SQL["kinds"], {"tenant": request.tenant, "queue": queue}))]
    return list(dict.fromkeys(kinds))


def _lanes(request: ClaimRequest, kinds: Sequence[str]) -> list[Lane]:
    """For the adapters that the worker has, and for none at all; of any adapter they have to be found."""
    if request.adapters is None:
        return []
    adapters = dict.fromkeys(("", *request.adapters))
    return [(queue, kind, each) for queue in dict.fromkeys(request.queues) for kind in kinds for each in adapters]
