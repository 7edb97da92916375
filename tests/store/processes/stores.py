"""Looking at a store after a campaign, from outside and all at once."""

from collections import Counter
from pathlib import Path

from detent.client import Event, Job, SyncClient
from detent.client.sync import run
from detent.client.verifying import walk
from detent.store import Story
from detent.store.query import PAGE_MAX


def url_of(folder: Path, **settings: object) -> str:
    asked = "&".join(f"{name}={value}" for name, value in settings.items())
    return f"sqlite:///{folder / 'jobs.db'}" + (f"?{asked}" if asked else "")


def all_stories(client: SyncClient) -> list[Story]:
    async def told() -> list[Story]:
        return [story async for story in walk(client.client.store, client.client.tenant)]

    return run(told())


def all_events(client: SyncClient) -> list[Event]:
    """The whole log in the order of commit."""
    events: list[Event] = []
    cursor: str | None = None
    while True:
        page = client.events(limit=PAGE_MAX, cursor=cursor)
        events += page.items
        if len(page.items) < PAGE_MAX:
            return events
        cursor = page.cursor


def all_jobs(client: SyncClient) -> list[Job]:
    jobs: list[Job] = []
    cursor: str | None = None
    while True:
        page = client.find(limit=PAGE_MAX, cursor=cursor)
        jobs += page.items
        cursor = page.cursor
        if cursor is None:
            return jobs


def by_state(jobs: list[Job]) -> str:
    counted = Counter(f"{job.lifecycle} {job.state}" for job in jobs)
    return ", ".join(f"{state} {count}" for state, count in sorted(counted.items()))
