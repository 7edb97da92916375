"""Asking what there is: jobs, the log, and both together."""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from detent.kernel import Job
from detent.lifecycle.words import OUTCOMES, PHASES
from detent.store.http.sharing import Sharing, named, reply_of
from detent.store.limits import KeyReport
from detent.store.query import Counts, Entry, EventQuery, JobQuery, Page, Story
from detent.store.request import Reply
from detent.store.waiting import now_s
from detent.wire.http.answers import (
    ComplaintsAnswer,
    CountsAnswer,
    EndAnswer,
    EventsAnswer,
    JobsPage,
    NewsAnswer,
    StoriesAnswer,
    StoryAnswer,
)
from detent.wire.http.events import EventShape, event_of, note_of
from detent.wire.http.jobs import record_of
from detent.wire.moments import to_rfc3339

WAIT_S: Final = 20.0  # that one request waits; who waits longer asks again
_MOMENTS: Final = frozenset({
    "created_from", "created_until", "ended_from", "ended_until", "at_from", "at_until",
})  # fmt: skip


class Reading(Sharing):
    async def get(self, tenant: str, job_ids: Sequence[str]) -> list[Job | None]:
        return await self._look_up(tenant, job_ids)

    async def find(self, query: JobQuery, limit: int, cursor: str | None = None) -> Page[Job]:
        """A worker may look for its own jobs, whatever else its token does not let it see."""
        if _is_nobodys(query):
            return Page([])
        asked = _asked(query) | {"limit": limit, "cursor": cursor}
        path = "/v1/jobs"
        if query == JobQuery(tenant=query.tenant, owner=query.owner) and query.owner is not None:
            path = f"/v1/workers{named(asked.pop('owner'))}/jobs"
        return await self._jobs(query.tenant, await self._of(query.tenant, JobsPage, "GET", path, query=asked))

    async def count(self, query: JobQuery, by: Sequence[str]) -> Counts:
        if _is_nobodys(query):
            return {} if by else {(): 0}
        asked = _asked(query) | {"by": list(by)}
        answer = await self._of(query.tenant, CountsAnswer, "GET", "/v1/counts", query=asked)
        return {tuple(each.values): each.jobs for each in answer.counts}

    async def unjudged(
        self, tenant: str, queues: Sequence[str], kinds: Sequence[str], limit: int, cursor: str | None = None
    ) -> Page[Job]:
        body = {"queues": list(queues), "kinds": list(kinds), "limit": limit, "cursor": cursor}
        page = await self._of(tenant, JobsPage, "POST", "/v1/unjudged", body=body, is_safe=True)
        return await self._jobs(tenant, page)

    async def _jobs(self, tenant: str, page: JobsPage) -> Page[Job]:
        replies = await self._made_whole(tenant, [reply_of(job) for job in page.jobs], page.jobs)
        return Page([reply.job for reply in replies if isinstance(reply, Reply)], page.cursor)

    async def events(self, query: EventQuery, limit: int, cursor: str | None = None) -> Page[Entry]:
        asked = _asked(query) | {"limit": limit, "cursor": cursor}
        return _entries(await self._of(query.tenant, EventsAnswer, "GET", "/v1/events", query=asked))

    async def recent(self, query: EventQuery, limit: int) -> Page[Entry]:
        asked = _asked(query) | {"limit": limit}
        return _entries(await self._of(query.tenant, EventsAnswer, "GET", "/v1/events/recent", query=asked))

    async def wait(self, cursor: str | None, timeout_s: float) -> str:
        async def asked(wait_s: float) -> str:
            query = {"after": cursor, "wait_s": wait_s}
            return (await self._line.ask(EndAnswer, "GET", "/v1/events/end", query=query, wait_s=wait_s)).cursor

        return await _changed(asked, cursor, timeout_s)

    async def news(self, seen: str | None, timeout_s: float) -> str:
        async def asked(wait_s: float) -> str:
            query = {"seen": seen, "wait_s": wait_s}
            return (await self._line.ask(NewsAnswer, "GET", "/v1/news", query=query, wait_s=wait_s)).mark

        return await _changed(asked, seen, timeout_s)

    async def stories(
        self, tenant: str | None, limit: int, cursor: str | None = None, job_id: str | None = None
    ) -> Page[Story]:
        asked: dict[str, Any] = {"limit": limit, "cursor": cursor, "job_id": job_id}
        if tenant is None:
            asked["all_tenants"] = "true"
        whose = tenant or self.home or ""
        answer = await self._of(whose, StoriesAnswer, "GET", "/v1/stories", query=asked)
        return Page([_story(each) for each in answer.stories], answer.cursor)

    async def check(self) -> list[str]:
        """Of the store as a whole, for its admins. Of one tenant's jobs their stories say all there is."""
        session = self._session
        if session is not None and not (session.is_any_tenant and "admin" in session.scopes):
            return []
        return (await self._line.ask(ComplaintsAnswer, "POST", "/v1/checks", body={}, is_safe=True)).complaints

    async def key_use(self, tenant: str, limit_key: str) -> KeyReport:
        return await self._of(tenant, KeyReport, "GET", f"/v1/limit-keys{named(limit_key)}")


def _asked(query: JobQuery | EventQuery) -> dict[str, Any]:
    """A query's fields as parameters; the tenant has a place of its own."""
    given = {name: getattr(query, name) for name in query.__struct_fields__ if name != "tenant"}
    return {name: _parameter(name, value) for name, value in given.items() if value is not None}


def _parameter(name: str, value: Any) -> Any:
    return to_rfc3339(value) if name in _MOMENTS else value


def _share(until_s: float) -> tuple[float, float]:
    """How long is left, and how long of it one request waits."""
    left_s = max(until_s - now_s(), 0.0)
    return left_s, round(min(left_s, WAIT_S), 3)


def _story(answer: StoryAnswer) -> Story:
    events, notes = [event_of(each) for each in answer.events], [note_of(each) for each in answer.notes]
    return Story(record_of(answer.job), events, notes)


def _entries(answer: EventsAnswer) -> Page[Entry]:
    return Page([_entry(each) for each in answer.events], answer.cursor)


def _entry(shape: EventShape) -> Entry:
    assert shape.cursor is not None, "an event of the log has its place in it"
    return Entry(shape.cursor, event_of(shape))


async def _changed(asked: Callable[[float], Awaitable[str]], known: str | None, timeout_s: float) -> str:
    """Another answer than the known one, or the same when the time is over: a service waits only so long at a time."""
    until_s = now_s() + timeout_s
    while True:
        left_s, asked_s = _share(until_s)
        answer = await asked(asked_s)
        if answer != known or left_s <= WAIT_S:
            return answer


def _is_nobodys(query: JobQuery) -> bool:
    """A word that is no phase, or no outcome, is one that no job has. The service takes it for a slip of the pen."""
    return query.phase not in (None, *PHASES) or query.outcome not in (None, *OUTCOMES)
