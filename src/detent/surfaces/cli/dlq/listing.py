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
from detent.surfaces.cli.dlq.letters import (
    FILTER_NAMES,
    DeadLetterShape,
    letter_filters,
    letter_shape,
    letters,
    redriven_as,
)
from detent.surfaces.cli.job.filters import ALL, LIMIT, check, given, limit_of, say_unknown
from detent.surfaces.cli.numbers import cell
from detent.surfaces.cli.opening import opened
from detent.surfaces.cli.options import JSON, store_options
from detent.surfaces.cli.output import write_array, write_listing
from detent.surfaces.cli.suggesting import repeated, suggested
from detent.surfaces.cli.tables import Column
from detent.surfaces.cli.times import relative

Cell = Callable[[DeadLetterShape, datetime], object]
# What each column shows, and how important it is: whether somebody has seen to it already matters most.
COLUMNS: Final[tuple[tuple[Column, Cell], ...]] = (
    (Column("job"), lambda letter, now: letter.job_id),
    (Column("reason"), lambda letter, now: Text(letter.reason_code, style="red")),
    (Column("stage", rank=5), lambda letter, now: letter.stage),
    (Column("kind", rank=3), lambda letter, now: letter.kind),
    (Column("error", enough=40), lambda letter, now: _said(letter)),
    (Column("attempts", rank=4), lambda letter, now: cell(letter.attempts)),
    (Column("set aside", rank=2), lambda letter, now: relative(letter.ended_at, now)),
    (Column("run again", rank=1), lambda letter, now: "yes" if letter.redriven_as else ""),
)


@click.command("list", cls=Command, example="detent dlq list --reason exhausted_retries", shape=list[DeadLetterShape])
@letter_filters
@click.option("--open", "is_open", is_flag=True, help="Only those that were not run again yet.")
@LIMIT
@ALL
@store_options
@JSON
def list_(url: str | None, tenant: str, as_json: bool, is_open: bool, limit: int, is_all: bool, **filters: Any) -> None:
    """List dead letters, the newest first, each with the reason it was set aside for."""
    asked = given(filters)
    most = limit_of(limit, is_all=is_all)
    with opened(url, tenant) as client:
        check(client, asked)
        found = list(islice(_shapes(client, asked, is_open=is_open), None if most is None else most + 1))
        is_slip = not found and say_unknown(client, asked)
    if as_json:
        write_array(found[:most])
    else:
        _write(found[:most])
    if most is not None and len(found) > most:
        remark(f"There are more: add --limit {most * 10}, or --all.")
    if not is_slip and not as_json:
        _advise(bool(found), is_filtered=bool(asked or is_open))


def _advise(is_found: bool, *, is_filtered: bool) -> None:
    if not is_found:
        remark("No dead letter is like that." if is_filtered else "There are no dead letters.")
        return
    which = repeated(*FILTER_NAMES) or " --all"
    remark(f"See one: {suggested('dlq show JOB')}")
    remark(f"Run them again: {suggested(f'dlq redrive{which} --dry-run')}")


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
    now = datetime.now(UTC)
    if found:
        write_listing([column for column, _ in COLUMNS], [[[show(each, now) for _, show in COLUMNS] for each in found]])
