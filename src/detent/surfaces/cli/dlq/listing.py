"""`detent dlq list`: the dead letters, newest first."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final

import click
from rich.text import Text

from detent.client import SyncClient
from detent.surfaces.cli.chatter import remark
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.dlq.letters import DeadLetterShape, letter_filters, letter_shape, letters, redriven_as
from detent.surfaces.cli.job.filters import check, given, say_unknown
from detent.surfaces.cli.opening import opened
from detent.surfaces.cli.options import JSON, store_options
from detent.surfaces.cli.output import screen, write_array, write_table
from detent.surfaces.cli.suggesting import suggested
from detent.surfaces.cli.times import relative

Cell = Callable[[DeadLetterShape, datetime], object]
# Heading, the width of the terminal from which on it is shown, and what it shows.
COLUMNS: Final[tuple[tuple[str, int, Cell], ...]] = (
    ("job", 0, lambda letter, now: letter.job_id),
    ("reason", 0, lambda letter, now: Text(letter.reason_code, style="red")),
    ("stage", 110, lambda letter, now: letter.stage),
    ("kind", 90, lambda letter, now: letter.kind),
    ("error", 0, lambda letter, now: _said(letter)),
    ("attempts", 120, lambda letter, now: Text(str(letter.attempts), justify="right")),
    ("set aside", 70, lambda letter, now: relative(letter.ended_at, now)),
    ("run again", 90, lambda letter, now: "yes" if letter.redriven_as else ""),
)


@click.command("list", cls=Command, example="detent dlq list --reason exhausted_retries", shape=list[DeadLetterShape])
@letter_filters
@click.option("--open", "is_open", is_flag=True, help="Only those that were not run again yet.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1), help="At most so many.")
@store_options
@JSON
def list_(url: str | None, tenant: str, as_json: bool, is_open: bool, limit: int, **filters: Any) -> None:
    """List dead letters, the newest first, each with the reason it was set aside for."""
    asked = given(filters)
    with opened(url, tenant) as client:
        check(client, asked)
        found = list(islice(_shapes(client, asked, is_open=is_open), limit + 1))
        is_slip = not found and say_unknown(client, asked)
    if as_json:
        write_array(found[:limit])
        return
    _write(found[:limit])
    if is_slip:
        return
    if not found:
        remark("No dead letter is like that." if asked or is_open else "There are no dead letters.")
    elif len(found) > limit:
        remark(f"There are more: add --limit {limit * 10}.")
    else:
        remark(f"See one: {suggested('dlq show JOB')}")
        remark(f"Run them again: {suggested('dlq redrive --all --dry-run')}")


def _shapes(client: SyncClient, filters: dict[str, Any], *, is_open: bool) -> Iterator[DeadLetterShape]:
    for letter in letters(client, filters):
        again = redriven_as(client, letter.job.id)
        if not (is_open and again):
            yield letter_shape(letter, again)


def _said(letter: DeadLetterShape) -> str:
    """Without its reason and stage, which have columns of their own."""
    error = letter.last_error
    return f"{error.type}: {error.message}" if error.message else error.type


def _write(found: list[DeadLetterShape]) -> None:
    width, now = screen().width, datetime.now(UTC)
    columns = [column for column in COLUMNS if column[1] <= width]
    if found:
        rows = ([cell(letter, now) for _, _, cell in columns] for letter in found)
        write_table([heading for heading, _, _ in columns], rows)
