"""The jobs a claim may take, first come first: the first of each lane, locked, and put in order."""

from collections.abc import Iterable, Mapping, Sequence, Set
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

from detent.kernel import Job
from detent.store.postgres.script import Script, ask
from detent.store.postgres.session import Session
from detent.store.postgres.statements import SQL
from detent.store.postgres.values import numbers, texts
from detent.store.postgres.watermarks import FIRST, Lane, Place
from detent.store.request import ClaimRequest, Replies
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

    def __init__(self, session: Session, request: ClaimRequest) -> None:
        self._session = session
        self._request = request
        # Where to look, one after the other, or on one journey if the last claim left nothing.
        self._left = ["both_lanes"] if session.models.is_short(request) else ["lane", "patient_lane"]
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

    def at_once(self, decided: "AtOnce") -> Script[tuple[Replies, bool] | None]:
        """The first look, by a statement that moves what it finds, and whether that is all there is. None: it moved
        nothing, and there may be something.
        """
        mark = self._mark()
        if mark is None:
            yield from self._from_the_start()
        name = self._left[0] if mark is None else "lane"
        finds_lanes = name in self._unseen
        rows = yield ask(*decided.around(*self._asked(name, is_narrow=True)))
        is_all = len(rows) == self._request.limit or name == "both_lanes" or mark is not None
        if not rows:
            return ([], True) if name == "both_lanes" else None
        replies = decided.heard(rows)
        if replies is None:
            return None
        self._took_s = decided.took_s if mark is None else None
        is_cut = finds_lanes and len(rows) == self._request.limit  # there may be lanes beyond that it does not tell of
        self.taken(len(rows), None if is_cut else decided.places)
        return replies, is_all

    def looked_at(self) -> Script[list[Job]]:
        """The first of all lanes, of keys that are not used up, without taking or locking any."""
        self._left = ["both_lanes"]
        yield from self._from_the_start()
        if not self._kinds:
            return []
        asked = {"tenant": self._request.tenant, "now": self._session.now}
        self._passed = {key for (key,) in (yield ask(SQL["used_up"], asked))}
        looked = yield ask(*self._asked("both_lanes", is_locking=False))
        jobs: list[Job] = yield from self._session.jobs_of(looked)
        return jobs[: self._request.limit]

    def pass_over(self, keys: Set[str]) -> Script[None]:
        """Keys that were found used up: what follows is without them, and without all others that are."""
        if keys <= self._passed:
            return
        asked = {"tenant": self._request.tenant, "now": self._session.now}
        self._passed |= keys | {key for (key,) in (yield ask(SQL["used_up"], asked))}
        if not self._left:  # it began from the mark, and what it found there was for nobody
            self._left, self._kinds = ["lane"], [kind for _, kind, _ in self._places]

    def taken(self, count: int, last: Mapping[Lane, Place] | None) -> None:
        """So many were claimed, and these were the last of their lanes, if all lanes are known: the next claim may
        begin after them.
        """
        places = (
            None
            if last is None
            else self._began | {lane: max(self._began.get(lane, FIRST), place) for lane, place in last.items()}
        )
        marks, request, at_commit = self._session.watermarks, self._request, self._session.at_commit
        if self._took_s is not None:
            at_commit.append(partial(marks.looked, request, places, self._took_s, count))
        elif places is not None:
            at_commit.append(partial(marks.went_on, request, places))

    def places_of(self, jobs: Iterable[Job]) -> dict[Lane, Place]:
        """Of jobs in order, where those are that are farthest in their lanes."""
        last = {_lane_of(job): job for job in jobs}
        number = self._session.number
        return {lane: (job.order_at or 0, number((job.spec.tenant, job.id))) for lane, job in last.items()}

    def _first_page(self) -> Script[list[Job]]:
        """From where the last claim ended, if a look from the start takes long; if nothing is there, from the start."""
        if self._mark() is not None:
            page = yield from self._page("lane")
            if page:
                self._left = []  # what else there may be is for the next look from the start
                self._scanned += len(page)
                return page
        yield from self._from_the_start()
        before = now_s()
        page = yield from self._more()
        self._took_s = now_s() - before
        return page

    def _mark(self) -> dict[Lane, Place] | None:
        """Where to begin, if not at the start."""
        mark = self._session.watermarks.start(self._request)
        if mark is not None:
            self._began, self._places = dict(mark), mark
        return mark

    def _from_the_start(self) -> Script[None]:
        self._kinds = yield from _kinds(self._request)
        self._places = dict.fromkeys(_lanes(self._request, self._kinds), FIRST)
        self._began = dict(self._places)
        self._unseen = list(self._left) if self._request.adapters is None else []

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
        jobs: list[Job] = yield from self._session.jobs_of((yield ask(*self._asked(name))))
        for lane in map(_lane_of, jobs) if is_unseen else ():
            self._began.setdefault(lane, FIRST)
            self._places.setdefault(lane, FIRST)
        first = jobs[: self._request.limit]  # what is beyond is found again, if it comes to that
        self._places |= self.places_of(first)
        return first

    def _asked(self, name: str, *, is_narrow: bool = False, is_locking: bool = True) -> tuple[str, dict[str, Any]]:
        is_unseen = name in self._unseen
        if is_unseen:
            self._unseen.remove(name)
        is_passing = bool(self._passed)
        sql = statement(name, is_unseen=is_unseen, is_passing=is_passing, is_narrow=is_narrow, is_locking=is_locking)
        lanes = self._all_lanes() if is_unseen else self._known_lanes()
        asked = {"now": self._session.clock, "tenant": self._request.tenant, "limit": self._request.limit}
        return sql, asked | lanes | {"passed": texts(self._passed)}

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


def claimable(session: Session, request: ClaimRequest) -> Script[list[Job]]:
    """Those that a claim would take. Of a limit key that is not used up yet there may be more than it lets through."""
    yield from session.look_at_clock()
    return (yield from Candidates(session, request).looked_at())


@lru_cache
def statement(
    name: str, *, is_unseen: bool = False, is_passing: bool = False, is_narrow: bool = False, is_locking: bool = True
) -> str:
    """`lane`, `patient_lane` or both: given or to be found, with keys to be passed over or without."""
    jobs = SQL[name].replace("{lane}", SQL["lane"]).replace("{patient_lane}", SQL["patient_lane"])
    sql = SQL["look"].replace("{of_each}", SQL["what_differs" if is_narrow else "all_of_it"]).replace("{jobs}", jobs)
    sql = sql.replace("{lanes}", SQL["found_lanes" if is_unseen else "given_lanes"])
    sql = sql.replace("{locked}", SQL["locked"] if is_locking else "")
    return sql.replace("{passed}", SQL["passing_over"] if is_passing else "")


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
