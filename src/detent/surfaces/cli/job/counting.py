"""`detent job count`: how many jobs there are, by whatever one asks."""

from typing import Any, Final

import click
from msgspec import Struct

from detent.surfaces.cli.command import Command
from detent.surfaces.cli.job.filters import check, given, job_filters, say_nothing_found
from detent.surfaces.cli.numbers import cell
from detent.surfaces.cli.opening import opened
from detent.surfaces.cli.options import JSON, store_options
from detent.surfaces.cli.output import write_json, write_table

BY: Final = ("lifecycle", "state", "phase", "outcome", "queue", "kind")


class CountShape(Struct, frozen=True):
    """How many jobs are alike in what was asked for."""

    by: dict[str, str | None]
    jobs: int


@click.command(cls=Command, example="detent job count --by queue --by state --phase ready", shape=list[CountShape])
@click.option(
    "--by",
    multiple=True,
    type=click.Choice(BY),
    default=("lifecycle", "state"),
    show_default=True,
    help="What to tell apart; may be repeated.",
)
@job_filters
@store_options
@JSON
def count(url: str | None, tenant: str, as_json: bool, by: tuple[str, ...], **filters: Any) -> None:
    """Count jobs, by lifecycle and state or by what you name."""
    asked = given(filters)
    with opened(url, tenant) as client:
        check(client, asked)
        counts = client.count(by=by, **asked)
        if not counts and not as_json:
            say_nothing_found(client, asked)
            return
    most_first = sorted(counts.items(), key=lambda entry: (-entry[1], str(entry[0])))
    if as_json:
        write_json([CountShape(dict(zip(by, names, strict=True)), jobs) for names, jobs in most_first])
        return
    write_table((*by, "jobs"), ((*names, cell(jobs)) for names, jobs in most_first))
