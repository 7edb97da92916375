"""`detent job list`: jobs, newest first, in as many columns as fit."""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, Final

import click

from detent.client import Job, SyncClient
from detent.store import Page
from detent.store.query import PAGE_MAX
from detent.surfaces.cli.chatter import remark
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.job.filters import (
    ALL,
    LIMIT,
    check,
    given,
    job_filters,
    limit_of,
    say_nothing_found,
)
from detent.surfaces.cli.numbers import cell
from detent.surfaces.cli.opening import opened
from detent.surfaces.cli.options import JSON, store_options
from detent.surfaces.cli.output import write_array, write_listing
from detent.surfaces.cli.palette import state_of
from detent.surfaces.cli.tables import Column
from detent.surfaces.cli.times import relative
from detent.surfaces.shapes import JobShape, job_shape

Cell = Callable[[Job, datetime], object]
# What each column shows, and how important it is: who has a job matters more than when it was made.
COLUMNS: Final[tuple[tuple[Column, Cell], ...]] = (
    (Column("job"), lambda job, now: job.id),
    (Column("state"), lambda job, now: state_of(job)),
    (Column("kind"), lambda job, now: job.kind),
    (Column("queue", rank=3), lambda job, now: job.queue),
    (Column("attempt", rank=4), lambda job, now: cell(job.attempt)),
    (Column("owner", rank=2), lambda job, now: job.owner),
    (Column("lifecycle", rank=5), lambda job, now: job.lifecycle),
    (Column("moved", rank=1), lambda job, now: relative(job.updated_at, now)),
    (Column("created", rank=6), lambda job, now: relative(job.created_at, now)),
)


@click.command("list", cls=Command, example="detent job list --state running --queue ocr", shape=list[JobShape])
@job_filters
@LIMIT
@ALL
@click.option("--cursor", help="Go on from where an earlier listing ended.")
@store_options
@JSON
def list_(
    url: str | None, tenant: str, as_json: bool, limit: int, is_all: bool, cursor: str | None, **filters: Any
) -> None:
    """List jobs, the newest first."""
    asked = given(filters)
    most = limit_of(limit, is_all=is_all)
    with opened(url, tenant) as client:
        check(client, asked)
        pages = Pages(client, asked, most, cursor)
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
    now = datetime.now(UTC)
    rows = ([[show(job, now) for _, show in COLUMNS] for job in page] for page in pages)
    write_listing([column for column, _ in COLUMNS], rows)
