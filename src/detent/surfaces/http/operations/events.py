"""The log: a page of it, its newest, its end, and live."""

from datetime import datetime
from typing import Final

from msgspec import Struct, structs
from starlette.responses import Response

from detent.client import Event
from detent.client.arguments import check_text_name
from detent.client.reads import EventFilters, check_cursor, page_size
from detent.errors import ServiceError
from detent.store import Page, Story
from detent.surfaces.http.ask import Ask
from detent.surfaces.http.budget import page_within, story_bytes
from detent.surfaces.http.growing import end_beyond, news_beyond
from detent.surfaces.http.route import Route
from detent.surfaces.http.streaming import EVENT_STREAM, stream
from detent.wire.http.events import EventShape, NoteShape
from detent.wire.http.jobs import JobShape, job_shape


class EventsQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which events; what is not given does not matter."""

    job_id: str | None = None
    queue: str | None = None
    kind: str | None = None
    type: str | None = None
    verb: str | None = None
    correlation_id: str | None = None
    at_from: datetime | None = None
    at_until: datetime | None = None
    limit: int = 100


class EventsPageQuery(EventsQuery, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which events; what is not given does not matter. `cursor` goes on from a page, or from an event."""

    cursor: str | None = None


class EventPage(Struct, frozen=True, kw_only=True):
    """Some of the log, in the order of commit. `cursor` goes on from here, also at its end."""

    events: list[EventShape]
    cursor: str | None


class EndQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`after`: answer as soon as the log goes beyond this cursor, or when `wait_s` are over."""

    after: str | None = None
    wait_s: float = 0.0


class EndShape(Struct, frozen=True, kw_only=True):
    cursor: str


class NewsQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`seen`: the last mark; the answer is another one as soon as there may be something to claim."""

    seen: str | None = None
    wait_s: float = 0.0


class NewsShape(Struct, frozen=True, kw_only=True):
    mark: str


class StoriesQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    job_id: str | None = None
    limit: int = 100
    cursor: str | None = None
    all_tenants: bool = False


class StoryShape(Struct, frozen=True, kw_only=True):
    """A job with its whole log and its notes, all of one moment."""

    job: JobShape
    events: list[EventShape]
    notes: list[NoteShape]


class StoryPage(Struct, frozen=True, kw_only=True):
    """Some jobs with their logs. A page may be shorter than its limit; a cursor of null is the end."""

    stories: list[StoryShape]
    cursor: str | None


async def events(ask: Ask, query: EventsPageQuery) -> EventPage:
    """The log, in the order of commit: a page of it, or live.

    With `Accept: text/event-stream` it goes on for as long as the asker listens, as server-sent events: from now on,
    or after the event whose id is in `Last-Event-ID` (or `cursor`), without a gap and without a double. Who does not
    keep up is cut off, and goes on from the last id it has.
    """
    last = check_cursor(ask.request.headers.get("last-event-id"))
    if EVENT_STREAM in ask.request.headers.get("accept", ""):
        return await _live(ask, query, last or query.cursor)  # type: ignore[return-value]
    page = await ask.client.events(limit=query.limit, cursor=query.cursor, **_filters(query))
    return _page(ask, page)


async def _live(ask: Ask, query: EventsPageQuery, after: str | None) -> Response:
    if query.at_from is not None or query.at_until is not None:
        raise ServiceError("not_acceptable", "a live stream has no end in time; leave at_from and at_until out")
    check_cursor(after)
    filters = {name: value for name, value in _filters(query).items() if isinstance(value, str)}
    for name, value in filters.items():
        check_text_name(name, value)
    return await stream(ask, filters, after)


async def recent_events(ask: Ask, query: EventsQuery) -> EventPage:
    """The newest events that match, in the order of commit."""
    page = await ask.client.recent(limit=query.limit, **_filters(query))
    return _page(ask, page)


async def log_end(ask: Ask, query: EndQuery) -> EndShape:
    """The end of the log, at once or as soon as something of the tenant's was added to it."""
    wait_s, after = ask.service.wait_s_of(query.wait_s), check_cursor(query.after)
    store, tenant = ask.client.store, ask.grant.tenant
    is_all = ask.grant.is_any_tenant or after is None  # without a cursor nothing wakes it but the time
    with ask.service.waiting.taken(tenant):
        waiting = store.wait(after, wait_s) if is_all else end_beyond(store, tenant, after or "", wait_s)
        found = await ask.unless_gone(waiting)
    return EndShape(cursor=found or after or "")


async def news(ask: Ask, query: NewsQuery) -> NewsShape:
    """A mark that changes as soon as the tenant may have something to claim. It may be wrong: look now and then."""
    wait_s, seen = ask.service.wait_s_of(query.wait_s), check_cursor(query.seen)
    with ask.service.waiting.taken(ask.grant.tenant):
        found = await ask.unless_gone(_news(ask, seen, wait_s))
    return NewsShape(mark=found or seen or "")


async def _news(ask: Ask, seen: str | None, wait_s: float) -> str:
    store = ask.client.store
    if ask.grant.is_any_tenant:
        return await store.news(seen, wait_s)
    return await store.wait(None, 0) if seen is None else await news_beyond(store, ask.grant.tenant, seen, wait_s)


async def stories(ask: Ask, query: StoriesQuery) -> StoryPage:
    """Jobs with their logs, for an audit elsewhere. Of all tenants only with a token for all of them.

    Values are as they are kept: one that a codec has compressed is in `sealed`, too, so that its digest can be checked.
    """
    tenant: str | None = ask.grant.tenant
    if query.all_tenants:
        ask.grant.check_any_tenant()
        tenant = None
    if query.job_id is not None:
        check_text_name("job_id", query.job_id)

    async def read(limit: int, cursor: str | None) -> Page[Story]:
        return await ask.client.store.stories(tenant, limit, cursor, query.job_id)

    page = await page_within(read, page_size(query.limit), check_cursor(query.cursor), story_bytes)
    shapes = [
        StoryShape(
            job=job_shape(story.job, is_opened=False),
            events=[ask.service.showing.event(event) for event in story.events],
            notes=[ask.service.showing.note(note) for note in story.notes],
        )
        for story in page
    ]
    return StoryPage(stories=shapes, cursor=page.cursor)


def _page(ask: Ask, page: Page[Event]) -> EventPage:
    shown = [ask.service.showing.event(event.record, event.cursor) for event in page]
    return EventPage(events=shown, cursor=page.cursor)


def _filters(query: EventsQuery) -> EventFilters:
    given = structs.asdict(query)
    return {name: given[name] for name in EventFilters.__annotations__ if given[name] is not None}  # type: ignore[return-value]


_READ: Final = ("read",)
ROUTES: Final = (
    Route(
        method="GET", path="/v1/events", handler=events, scopes=_READ, tag="log",
        media=("application/json", EVENT_STREAM),
    ),
    Route(method="GET", path="/v1/events/recent", handler=recent_events, scopes=_READ, tag="log"),
    Route(method="GET", path="/v1/events/end", handler=log_end, scopes=("read", "work"), tag="log"),
    Route(method="GET", path="/v1/news", handler=news, scopes=("read", "work"), tag="work"),
    Route(method="GET", path="/v1/stories", handler=stories, scopes=_READ, tag="log"),
)  # fmt: skip
