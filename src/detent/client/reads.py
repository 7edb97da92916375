"""Looking at jobs and at their story: single jobs, listings, trees, the log and its tail."""

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, TypedDict, TypeVar, Unpack

import msgspec

from detent.client.arguments import check_choices, check_text_name
from detent.client.artifacts import Artifact, artifacts_of
from detent.client.moments import to_micros
from detent.client.scope import Scoped
from detent.client.tree import Tree, again, grown
from detent.client.views import Event, Job, Note
from detent.errors import InvalidArgument, NotFound, shown
from detent.lifecycle.bounds import check_at_least, check_whole
from detent.store import EventQuery, JobQuery, Page, Story
from detent.store.query import COUNTED_BY, PAGE_MAX, Counts
from detent.store.waiting import now_s

TAIL_WAIT_S: Final = 30.0
CURSOR_CHARS_MAX: Final = 4_096  # one that names transactions under way is long where many are
Query = TypeVar("Query", JobQuery, EventQuery)


class JobFilters(TypedDict, total=False):
    """Which jobs; what is not given does not matter."""

    state: str
    phase: str
    outcome: str
    queue: str
    kind: str
    lifecycle: str
    owner: str
    correlation_id: str
    parent_job_id: str
    workflow_id: str
    dedupe_key: str
    limit_key: str
    topic: str
    created_from: datetime
    created_until: datetime
    ended_from: datetime
    ended_until: datetime


class EventFilters(TypedDict, total=False):
    job_id: str
    type: str
    verb: str
    correlation_id: str
    queue: str
    kind: str
    at_from: datetime
    at_until: datetime


class Reads(Scoped):
    async def get(self, job_id: str) -> Job:
        """A job as it is now."""
        check_text_name("job_id", job_id)
        (record,) = await self.store.get(self.tenant, [job_id])
        if record is None:
            raise self.not_found(job_id)
        return Job(record, self._codec)

    async def find(self, *, limit: int = 100, cursor: str | None = None, **filters: Unpack[JobFilters]) -> Page[Job]:
        """Jobs, newest first: a page of them, and the cursor for the next."""
        query = self._query(JobQuery, filters)
        page = await self.store.find(query, page_size(limit), check_cursor(cursor))
        return Page([Job(record, self._codec) for record in page.items], page.cursor)

    async def count(self, *, by: Sequence[str] = (), **filters: Unpack[JobFilters]) -> Counts:
        """How many jobs, by any of lifecycle, state, phase, outcome, queue and kind; by nothing: `{(): 7}`.

        With `by=["queue", "state"]` a key is `("ocr", "queued")`. What does not occur is not in it.
        """
        names = check_choices("by", by, COUNTED_BY)
        return await self.store.count(self._query(JobQuery, filters), names)

    async def history(self, job_id: str) -> list[Event]:
        """Every mutation of a job, in order."""
        return [Event(event) for event in (await self._story(job_id)).events]

    async def notes(self, job_id: str) -> list[Note]:
        """What was said of a job without moving it: late results, amendments, compensation, progress,
        artifacts.
        """
        return [Note(note) for note in (await self._story(job_id)).notes]

    async def artifacts(self, job_id: str) -> list[Artifact]:
        """What the handler of a job has made and registered, in that order."""
        return artifacts_of(await self._story(job_id))

    async def tree(self, job_id: str) -> Tree:
        """The whole tree that a job belongs to: from the first of its parents down."""
        return await grown(self, job_id)

    async def reruns(self, job_id: str) -> list[Job]:
        """The jobs that run this one again, the newest first."""
        check_text_name("job_id", job_id)
        return await again(self, job_id)

    async def events(
        self, *, limit: int = 100, cursor: str | None = None, **filters: Unpack[EventFilters]
    ) -> Page[Event]:
        """The log, in the order of commit. The cursor always goes on from here, also at its end."""
        page = await self.store.events(self._query(EventQuery, filters), page_size(limit), check_cursor(cursor))
        return Page([Event(entry.event, entry.cursor) for entry in page.items], page.cursor)

    async def recent(self, *, limit: int = 10, **filters: Unpack[EventFilters]) -> Page[Event]:
        """The newest events, in the order of commit. It looks back over the last 100,000, or over all of one job.

        The cursor is where it stopped looking, for `events` to go on from; None: at the beginning of the log.
        """
        page = await self.store.recent(self._query(EventQuery, filters), page_size(limit))
        return Page([Event(entry.event, entry.cursor) for entry in page.items], page.cursor)

    async def end(self) -> str:
        """The cursor of the log's end: `tail(after=…)` goes on from there."""
        return await self.store.wait(None, 0)

    async def tail(
        self, *, after: str | None = None, timeout_s: float | None = None, **filters: Unpack[EventFilters]
    ) -> AsyncIterator[Event]:
        """Events as they are committed, none lost and none twice; `after` a cursor, or from now on.

        It goes on for ever, or until no event has come for `timeout_s`.
        """
        query = self._query(EventQuery, filters)
        check_cursor(after)
        if timeout_s is not None:
            check_at_least("timeout_s", timeout_s, 0)
        cursor: str | None = await self.store.wait(None, 0) if after is None else after
        heard_s = now_s()
        while True:
            page = await self.store.events(query, PAGE_MAX, cursor)
            cursor = page.cursor
            for entry in page.items:
                yield Event(entry.event, entry.cursor)
            heard_s = now_s() if page.items else heard_s
            left_s = TAIL_WAIT_S if timeout_s is None else heard_s + timeout_s - now_s()
            if not page.items and left_s <= 0:
                return
            if not page.items:
                await self.store.wait(cursor, min(left_s, TAIL_WAIT_S))

    async def _story(self, job_id: str) -> Story:
        check_text_name("job_id", job_id)
        page = await self.store.stories(self.tenant, 1, job_id=job_id)
        if not page.items:
            raise self.not_found(job_id)
        return page.items[0]

    def _query(self, kind: type[Query], filters: Mapping[str, Any]) -> Query:
        given = {name: value for name, value in filters.items() if value is not None}
        for name in given:
            if name.endswith(("_from", "_until")):
                given[name] = to_micros(name, given[name])
        try:
            query = msgspec.convert(given | {"tenant": self.tenant}, kind)
        except msgspec.ValidationError as wrong:
            known = ", ".join(name for name in kind.__struct_fields__ if name != "tenant")
            raise InvalidArgument(f"filter: {wrong}; the filters are {known}") from wrong
        for name, value in given.items():
            if isinstance(value, str):
                check_text_name(name, value)
        return query

    def not_found(self, job_id: str) -> NotFound:
        return NotFound(f"there is no job {job_id} in tenant '{self.tenant}'; look at the id and the tenant")


def page_size(limit: int) -> int:
    return check_whole("limit", limit, least=1, most=PAGE_MAX)


def check_cursor(cursor: str | None) -> str | None:
    if cursor is None or (isinstance(cursor, str) and 0 < len(cursor) <= CURSOR_CHARS_MAX and cursor.isprintable()):
        return cursor
    raise InvalidArgument(f"cursor is {shown(cursor)}; give one that a listing returned", code="bad_cursor")
