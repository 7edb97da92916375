"""The history checker over a live store: job by job, in bounded memory, while others go on writing."""

from collections.abc import AsyncIterator, Callable
from typing import Final

from detent.audit import Auditor, Report, Violation
from detent.lifecycle.registry import Registry
from detent.store import Store, Story

PAGE: Final = 500
Progress = Callable[[int, int], None]


async def verify(store: Store, tenant: str | None, on_progress: Progress) -> Report:
    """Each job is read with its log at one moment, so that jobs which move meanwhile are no violation."""
    auditor = Auditor(Registry(*await store.register()))
    jobs = events = 0
    async for story in walk(store, tenant):
        auditor.job(story.job, story.events, story.notes)
        jobs, events = jobs + 1, events + len(story.events)
        if jobs % PAGE == 0:
            on_progress(jobs, events)
    on_progress(jobs, events)
    for key in auditor.unfinished():
        stories = (await store.stories(key[0], 1, None, key[1])).items
        if stories:
            auditor.again(stories[0].job, stories[0].events)
        else:
            auditor.gone(key)
    auditor.found(Violation("I26", "", None, complaint) for complaint in await store.check())
    return auditor.finish()


async def walk(store: Store, tenant: str | None) -> AsyncIterator[Story]:
    cursor: str | None = None
    while True:
        page = await store.stories(tenant, PAGE, cursor)
        for story in page.items:
            yield story
        cursor = page.cursor
        if cursor is None:
            return
