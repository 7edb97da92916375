"""How much is answered at once, in bytes. Payloads may be a megabyte each: a page ends before it grows too large."""

from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

from detent.kernel import Job
from detent.store import Page, Story

ANSWER_BYTES_MAX: Final = 32 * 1_048_576
SHOWN_BYTES_MAX: Final = 2 * ANSWER_BYTES_MAX  # of values as they are shown: beyond it jobs come without theirs
FIRST: Final = 50  # that are read before anything is known of their size
_RECORD_BYTES: Final = 1_500  # of a job without its values, about
_EVENT_BYTES: Final = 800

Item = TypeVar("Item")
Read = Callable[[int, str | None], Awaitable[Page[Item]]]


async def page_within(read: Read[Item], limit: int, cursor: str | None, size_of: Callable[[Item], int]) -> Page[Item]:
    """As many as were asked for, or fewer that fit; the cursor goes on from there."""
    items: list[Item] = []
    spent, asked = 0, min(limit, FIRST)
    while True:
        page = await read(asked, cursor)
        items += page.items
        spent += sum(size_of(item) for item in page.items)
        cursor = page.cursor
        if cursor is None or not page.items or len(items) >= limit or spent >= ANSWER_BYTES_MAX:
            return Page(items, cursor)
        asked = min(limit - len(items), fitting(spent, len(items)))


def fitting(spent: int, items: int) -> int:
    """How many more would fit, going by the size of those so far; one at least, so that it goes on."""
    return max((ANSWER_BYTES_MAX - spent) * items // max(spent, 1), 1)


def job_bytes(job: Job) -> int:
    return _RECORD_BYTES + len(job.spec.payload) + len(job.result or b"") + len(job.checkpoint or b"")


def story_bytes(story: Story) -> int:
    return job_bytes(story.job) + _EVENT_BYTES * (len(story.events) + len(story.notes))
