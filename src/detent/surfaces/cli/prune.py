"""`detent prune`: remove jobs that ended long ago."""

from datetime import UTC, datetime, timedelta
from typing import Final

import click
from msgspec import Struct
from rich.text import Text

from detent.client import SyncClient
from detent.client.upkeep import PRUNE_BATCH
from detent.lifecycle.bounds import NUMBER_MAX
from detent.store import Pruned, Retention
from detent.surfaces.cli.chatter import watched
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.numbers import cell, counted
from detent.surfaces.cli.opening import opened
from detent.surfaces.cli.options import DRY_RUN, JSON, Seconds, store_options
from detent.surfaces.cli.output import say, write_json, write_table
from detent.surfaces.cli.palette import OUTCOMES
from detent.surfaces.cli.times import span

KEPT_S_MAX: Final = NUMBER_MAX
_MICROSECOND: Final = timedelta(microseconds=1)


class PruneShape(Struct, frozen=True, kw_only=True):
    """What was old enough, by outcome, when it began; and what was removed: nothing, in a dry run.

    `details` are payloads and notes that have expired, `receipts` those of requests; they go whatever became of their
    jobs. `is_done`: nothing more is old enough.
    """

    old: dict[str, int]
    jobs: int
    events: int
    details: int
    receipts: int
    is_done: bool


@click.command(
    cls=Command,
    example="detent prune --dry-run\ndetent prune --successes 1d --others 90d",
    shape=PruneShape,
)
@store_options
@click.option("--successes", default="7d", show_default=True, type=Seconds(), help="How long successes are kept.")
@click.option("--others", default="30d", show_default=True, type=Seconds(), help="How long all other ends are kept.")
@click.option("--max", "jobs_max", type=click.IntRange(0), metavar="N", help="Remove at most so many jobs.")
@DRY_RUN
@JSON
def prune(
    url: str | None, tenant: str, successes: float, others: float, jobs_max: int | None, dry_run: bool, as_json: bool
) -> None:
    """Remove jobs that ended long ago, with their histories.

    Jobs that have not ended stay, however old. The store keeps its size on disk, and the room is used again. Jobs are
    removed in small steps, also while the store is in use.
    """
    for name, kept_s in (("--successes", successes), ("--others", others)):
        if kept_s > KEPT_S_MAX:
            raise click.UsageError(f"{name} is {span(kept_s)}; give up to {span(KEPT_S_MAX)}, or do not prune.")
    retention = Retention(successes_s=successes, others_s=others)
    with opened(url, tenant) as client:
        old = _old(client, retention)
        removed = Pruned(is_done=not any(old.values())) if dry_run else _removed(client, retention, old, jobs_max)
    if as_json:
        write_json(_shape(old, removed))
    elif dry_run:
        _show_old(old, retention, jobs_max)
    else:
        _show(removed)


def _kept_s(retention: Retention) -> dict[str, float]:
    """For each outcome, in the order in which they are pruned."""
    return {name: retention.successes_s if name == "success" else retention.others_s for name in OUTCOMES}


def _old(client: SyncClient, retention: Retention) -> dict[str, int]:
    now = datetime.now(UTC)
    # A job that ended at the very moment stays; a count has it.
    until = {name: now - timedelta(seconds=kept_s) - _MICROSECOND for name, kept_s in _kept_s(retention).items()}
    return {name: client.count(outcome=name, ended_until=moment)[()] for name, moment in until.items()}


def _removed(client: SyncClient, retention: Retention, old: dict[str, int], jobs_max: int | None) -> Pruned:
    """In steps, so that somebody who watches sees it go on."""
    most = sum(old.values()) if jobs_max is None else min(jobs_max, sum(old.values()))
    kept = {"successes_s": retention.successes_s, "others_s": retention.others_s}
    removed = Pruned(is_done=False)
    with watched("jobs removed", total=most) as watch:
        while not removed.is_done and (jobs_max is None or removed.jobs < jobs_max):
            room = PRUNE_BATCH if jobs_max is None else min(PRUNE_BATCH, jobs_max - removed.jobs)
            removed = removed.plus(client.prune(**kept, jobs_max=room))
            watch.reach(removed.jobs)
    return removed


def _shape(old: dict[str, int], removed: Pruned) -> PruneShape:
    return PruneShape(
        old=old,
        jobs=removed.jobs,
        events=removed.events,
        details=removed.details,
        receipts=removed.receipts,
        is_done=removed.is_done,
    )


def _show_old(old: dict[str, int], retention: Retention, jobs_max: int | None) -> None:
    rows = [
        (Text(name, style=OUTCOMES[name]), span(kept_s), cell(old[name])) for name, kept_s in _kept_s(retention).items()
    ]
    write_table(("outcome", "kept for", "old enough"), rows)
    total = sum(old.values())
    most = total if jobs_max is None else min(jobs_max, total)
    say(f"{counted(most, 'job')} would be removed. Nothing was.")


def _show(removed: Pruned) -> None:
    say(f"{counted(removed.jobs, 'job')} removed, with {counted(removed.events, 'event')}", style="green")
    expired = f"{counted(removed.details, 'detail')}, {counted(removed.receipts, 'receipt')}"
    say(f"Expired, and removed too: {expired}", style="dim")
    if not removed.is_done:
        say("As many as --max allows; there may be more.")
