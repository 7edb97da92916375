"""`detent replay`: what the log adds up to at a moment, for all jobs or for one, and whether the records show it."""

from datetime import UTC, datetime
from typing import Any, Final

import click
from rich.text import Text

from detent.client import SyncClient
from detent.surfaces.cli.chatter import watched
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.failure import Missing
from detent.surfaces.cli.folded import (
    DifferenceShape,
    JobAtShape,
    ReplayShape,
    StateCountShape,
    job_at_shape,
    replay_shape,
)
from detent.surfaces.cli.numbers import cell, counted
from detent.surfaces.cli.opening import opened
from detent.surfaces.cli.options import JSON, Moment, store_options
from detent.surfaces.cli.output import clean, say, say_command, write_json, write_table
from detent.surfaces.cli.palette import PHASES, style_of
from detent.surfaces.cli.suggesting import suggested
from detent.surfaces.cli.times import full, relative

SHOWN: Final = 20
Styles = dict[tuple[str, str], str]  # by lifecycle and state


@click.command(
    cls=Command,
    example="detent replay\ndetent replay --since 1h\ndetent replay --job 42 --until 2026-11-16T08:30:00Z",
    shape=ReplayShape | JobAtShape,
)
@store_options
@click.option("--since", type=Moment(), help="Count from here, too: 15m ago, or a time.")
@click.option("--until", type=Moment(), help="Stop here; default: now, and compare with the records.")
@click.option("--job", "job_id", metavar="ID", help="Only this job, in full.")
@click.option(
    "--limit", default=SHOWN, show_default=True, type=click.IntRange(0), metavar="N", help="Differences listed."
)
@JSON
def replay(
    url: str | None,
    tenant: str,
    since: datetime | None,
    until: datetime | None,
    job_id: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """Show where every job was at a moment, from the log alone.

    Up to now, the jobs as they are kept must be what the log adds up to; a difference ends it with exit code 1. With
    --job: that job as it was at the moment of --until. It only reads.
    """
    _check_period(since, until, job_id)
    with opened(url, tenant) as client:
        if job_id is not None:
            _replay_job(client, job_id, until or datetime.now(UTC), as_json=as_json)
            return
        with watched("jobs replayed") as watch:
            replayed = client.replay(since=since, until=until, on_progress=lambda jobs, _: watch.reach(jobs))
        styles = _styles(client)
    shape = replay_shape(replayed, since, until, order=styles)
    if as_json:
        write_json(shape)
    else:
        _show(shape, styles, limit)
    if not replayed.is_same:
        raise SystemExit(1)


def _check_period(since: datetime | None, until: datetime | None, job_id: str | None) -> None:
    if job_id is not None and since is not None:
        raise click.UsageError("--job shows one moment and has no --since; name the moment with --until.")
    if until is not None and until > datetime.now(UTC):
        raise click.UsageError(f"--until is {full(until)}, and nobody knows yet what will be then; leave it out.")
    if since is not None and until is not None and since > until:
        raise click.UsageError(f"--since ({full(since)}) is after --until ({full(until)}); swap them.")


def _replay_job(client: SyncClient, job_id: str, at: datetime, *, as_json: bool) -> None:
    columns = client.state_at(job_id, at)
    if columns is None:
        made_at = client.get(job_id).created_at
        message = f"job {job_id} did not exist yet at {full(at)}; it was made at {full(made_at)}. Give a later --until"
        raise Missing(message)
    shape = job_at_shape(job_id, at, columns)
    if as_json:
        write_json(shape)
    else:
        _show_job(shape)


def _show_job(shape: JobAtShape) -> None:
    state = Text(clean(shape.state), style=PHASES.get(shape.phase, ""))
    say(f"Job {shape.job_id} at {full(shape.at)}, by its log", style="bold")
    others = [name for name in shape.__struct_fields__ if name not in ("job_id", "at", "state")]
    rows = [(name, _said(value, shape.at)) for name in others if (value := getattr(shape, name)) is not None]
    write_table(("column", "value"), [("state", state), *rows])


def _styles(client: SyncClient) -> Styles:
    """Every state there is, in the order of the declarations."""
    return {
        (each.name, state.name): style_of(state.phase, state.outcome)
        for each in client.lifecycles()
        for state in each.states
    }


def _show(shape: ReplayShape, styles: Styles, limit: int) -> None:
    period = "".join(f", {name} {full(at)}" for name, at in (("since", shape.since), ("until", shape.until)) if at)
    say(f"{counted(shape.jobs, 'job')}, {counted(shape.events, 'event')}{period}")
    if shape.states:
        headings = ("lifecycle", "state", *(("before", "after") if shape.since else ("jobs",)))
        write_table(headings, [_row(each, styles.get((each.lifecycle, each.state), "")) for each in shape.states])
    if shape.differences is None:
        say("Nothing was compared: records are of now, and --until is not.", style="dim")
    elif not shape.differences:
        say("0 differences: every job is what its log adds up to.", style="green")
    else:
        _show_differences(shape.differences, shape.differing, limit)


def _row(each: StateCountShape, style: str) -> tuple[object, ...]:
    counts = [count for count in (each.before, each.after) if count is not None]
    return each.lifecycle, Text(clean(each.state), style=style), *(cell(count) for count in counts)


def _show_differences(differences: list[DifferenceShape], total: int, limit: int) -> None:
    jobs = counted(len({each.job_id for each in differences}), "job")
    where = jobs if len(differences) == total else f"{jobs} and more"
    say(f"{counted(total, 'difference')} from what the log adds up to, in {where}", style="bold red")
    rows = [(each.job_id, each.column, _said(each.folded), _said(each.shown)) for each in differences[:limit]]
    if rows:
        write_table(("job", "column", "by the log", "as it is kept"), rows)
    if total > limit:
        say(f"Not listed: {total - limit:,} more; --limit N lists N of them.")
    say_command("What a job went through, and by whom:", suggested("job history JOB"))
    say_command("Which rule is broken:", suggested("verify"))


def _said(value: Any, now: datetime | None = None) -> str:
    """For a person: a moment in full and, if there is a present, how far from it."""
    if isinstance(value, datetime):
        return full(value) if now is None else f"{full(value)} ({relative(value, now)})"
    return "none" if value is None else str(value)
