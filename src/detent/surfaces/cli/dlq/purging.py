"""`detent dlq purge`: remove dead letters for good, with their logs."""

from collections import Counter
from typing import Any, Final

import click
from msgspec import Struct

from detent.client import SyncClient
from detent.store.query import Pruned
from detent.surfaces.cli.chatter import confirm, watched
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.dlq.letters import JOBS, chosen, letter_filters
from detent.surfaces.cli.job.filters import check, given, say_unknown
from detent.surfaces.cli.numbers import cell, counted
from detent.surfaces.cli.opening import opened
from detent.surfaces.cli.options import DRY_RUN, JSON, YES, store_options
from detent.surfaces.cli.output import say, write_json, write_table

BATCH: Final = 200  # a short transaction, that lets others in between


class PurgeShape(Struct, frozen=True):
    """What was removed. `matched` counts the dead letters that were meant."""

    matched: int
    purged: int
    events: int
    is_dry_run: bool


@click.command(cls=Command, example="detent dlq purge --kind newsletter --ended-until 30d --dry-run", shape=PurgeShape)
@JOBS
@letter_filters
@click.option("--all", "is_all", is_flag=True, help="All of them.")
@DRY_RUN
@YES
@store_options
@JSON
def purge(
    url: str | None, tenant: str, as_json: bool, job_ids: tuple[str, ...], is_all: bool, dry_run: bool, yes: bool,
    **filters: Any,
) -> None:  # fmt: skip
    """Remove dead letters for good, with all that is on the record of them. There is no way back.

    Name jobs, or say which by filters.
    """
    asked = given(filters)
    with opened(url, tenant) as client:
        check(client, asked)
        meant = [(letter.job.id, letter.reason_code) for letter in chosen(client, job_ids, asked, is_all=is_all)]
        removed = Pruned()
        if not meant:
            say_unknown(client, asked)
        elif not dry_run:
            letters, whose = counted(len(meant), "dead letter"), "it" if len(meant) == 1 else "them"
            confirm(f"Remove {letters} for good, with everything on the record of {whose}?", yes=yes)
            removed = _remove(client, [job_id for job_id, _ in meant])
    report = PurgeShape(len(meant), removed.jobs, removed.events, is_dry_run=dry_run)
    if as_json:
        write_json(report)
    elif dry_run:
        say(f"{counted(report.matched, 'dead letter')} would be removed.", style="bold")
        if meant:
            reasons = Counter(reason for _, reason in meant).most_common()
            write_table(("reason", "jobs"), ((code, cell(jobs)) for code, jobs in reasons))
    else:
        say(f"{counted(report.purged, 'dead letter')} removed, with {counted(report.events, 'event')}.", style="bold")


def _remove(client: SyncClient, job_ids: list[str]) -> Pruned:
    removed = Pruned()
    with watched("removing", total=len(job_ids)) as watch:
        for first in range(0, len(job_ids), BATCH):
            removed = removed.plus(client.purge(job_ids[first : first + BATCH]))
            watch.reach(min(first + BATCH, len(job_ids)))
    return removed
