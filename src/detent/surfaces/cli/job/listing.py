"""`detent job list`: jobs, newest first, in as many columns as fit."""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

import click
from rich.text import Text

from detent.client import Job, SyncClient
from detent.store import Page
from detent.store.query import PAGE_MAX
from detent.surfaces.cli.chatter import remark
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.job.filters import check, given, job_filters, say_nothing_found
from detent.surfaces.cli.opening import opened
from detent.surfaces.cli.options import JSON, store_options
from detent.surfaces.cli.output import screen, write_array, write_long_table
from detent.surfaces.cli.palette import state_of
from detent.surfaces.cli.times import relative
from detent.surfaces.shapes import JobShape, job_shape

Cell = Callable[[Job, datetime], object]
# Heading, the width of the terminal from which on it is shown, and what it shows.
COLUMNS: Final[tuple[tuple[str, int, Cell], ...]] = (
    ("job", 0, lambda job, now: job.id),
    ("state", 0, lambda job, now: state_of(job)),
    ("kind", 0, lambda job, now: job.kind),
    ("queue", 90, lambda job, now: job.queue),
    ("attempt", 100, lambda job, now: Text(str(job.attempt), justify="right")),
    ("owner", 110, lambda job, now: job.owner),
    ("lifecycle", 120, lambda job, now: job.lifecycle),
    ("moved", 0, lambda job, now: relative(job.updated_at, now)),
    ("created", 140, lambda job, now: relative(job.created_at, now)),
)


@click.command("list", cls=Command, example="detent job list --state running --queue ocr", shape=list[JobShape])
@job_filters
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1), help="At most so many.")
@click.option("--all", "is_all", is_flag=True, help="All of them, however many.")
@click.option("--cursor", help="Go on from where an earlier listing ended.")
@store_options
@JSON
def list_(
    url: str | None, tenant: str, as_json: bool, limit: int, is_all: bool, cursor: str | None, **filters: Any
) -> None:
    """List jobs, the newest first."""
    asked = given(filters)
    with opened(url, tenant) as client:
        check(client, asked)
        pages = Pages(client, asked, None if is_all else limit, cursor)
        if as_json:
            write_array(job_shape(job) for page in pages for job in page)
        else:
            _write(pages)
        if not pages.count and not as_json:
            say_nothing_found(client, asked)
        elif pages.has_more():
            remark(f"There are more: add --cursor {pages.cursor}, or --all.")


class Pages:
    """The jobs of a listing, page by page, up to a limit."""

    def __init__(self, client: SyncClient, filters: dict[str, Any], limit: int | None, cursor: str | None) -> None:
        self._client = client
        self._filters = filters
        self._limit = limit
        self.cursor = cursor
        self.count = 0

    def __iter__(self) -> Iterator[Page[Job]]:
        while True:
            room = PAGE_MAX if self._limit is None else min(PAGE_MAX, self._limit - self.count)
            page = self._client.find(limit=room, cursor=self.cursor, **self._filters)
            self.cursor = page.cursor
            self.count += len(page)
            if len(page):
                yield page
            if page.cursor is None or self.count == self._limit:
                return

    def has_more(self) -> bool:
        """A full page has a cursor, whether something follows it or not."""
        if self.cursor is None:
            return False
        return len(self._client.find(limit=1, cursor=self.cursor, **self._filters)) > 0


def _write(pages: Iterable[Page[Job]]) -> None:
    width, now = screen().width, datetime.now(UTC)
    columns = [column for column in COLUMNS if column[1] <= width]
    headings, cells = [heading for heading, _, _ in columns], [cell for _, _, cell in columns]
    write_long_table(headings, ([[cell(job, now) for cell in cells] for job in page] for page in pages))
