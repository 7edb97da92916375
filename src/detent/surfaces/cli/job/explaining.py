"""`detent job explain`: why a job is where it is, and what would move it."""

from collections.abc import Iterator
from datetime import datetime
from shlex import quote

import click
from msgspec import Struct
from rich.table import Table
from rich.text import Text

from detent.client.explaining import Budget, Explanation
from detent.client.reasons import Reason
from detent.client.ways import Way
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.job.naming import JOB, opened_for
from detent.surfaces.cli.numbers import counted
from detent.surfaces.cli.options import JSON, store_options
from detent.surfaces.cli.output import clean, say, write_json
from detent.surfaces.cli.output import show as print_
from detent.surfaces.cli.palette import state_of
from detent.surfaces.cli.suggesting import suggested
from detent.surfaces.cli.times import between, moment, relative
from detent.surfaces.shapes import JobShape, job_shape

# What an operator can do about it, where there is a command for the verb.
COMMANDS = ("cancel", "rerun", "requeue", "submit", "approve", "deny")


class ExplanationShape(Struct, frozen=True):
    """Why a job is where it is: the first reason matters most. `ways` are the verbs its state has."""

    job: JobShape
    at: datetime
    reasons: list[Reason]
    ways: list[Way]
    budget: Budget


@click.command(cls=Command, example="detent job explain 42", shape=ExplanationShape)
@JOB
@store_options
@JSON
def explain(url: str | None, tenant: str, as_json: bool, job_id: str) -> None:
    """Say why a job is where it is, for how long already, and what would move it."""
    with opened_for(job_id, url, tenant) as client:
        found = client.explain(job_id)
    if as_json:
        write_json(ExplanationShape(job_shape(found.job), found.at, found.reasons, found.ways, found.budget))
        return
    job = found.job
    print_(Text.assemble("job ", Text(clean(job.id), style="bold"), " is ", state_of(job), f" ({job.phase})"))
    for reason in found.reasons:
        print_(_reason(reason, found))
    if not job.is_ended:
        say(_budget(found.budget), style="dim")
    say()
    say("What would move it:", style="bold")
    print_(_ways(found))
    say()
    for command in _commands(found):
        print_(Text(f"  {command}", style="dim"), is_wrapped=False)  # to be copied


def _commands(found: Explanation) -> Iterator[str]:
    if any(reason.code == "overdue" for reason in found.reasons):
        yield suggested("reconcile --once", tenant=False)
    for way in found.ways:
        if way.verb in COMMANDS:
            hard = " --hard" if way.verb == "cancel" and found.job.is_cancel_requested else ""  # it was asked already
            yield suggested(f"job {way.verb} {quote(found.job.id)}{hard}")


def _reason(reason: Reason, found: Explanation) -> Table:
    """A bullet; the text beside it keeps its left edge when it is wrapped."""
    more = "; ".join(each for each in (_since(reason, found), _until(reason, found)) if each)
    line = Table.grid(padding=(0, 1))
    line.add_column()
    line.add_column(overflow="fold")
    text = Text(clean(reason.text))
    line.add_row("·", text.append(f" ({more})", style="dim") if more else text)
    return line


def _since(reason: Reason, found: Explanation) -> str:
    """What has ended happened once; everything else lasts."""
    if reason.since is None:
        return ""
    return relative(reason.since, found.at) if found.job.is_ended else f"for {between(reason.since, found.at)}"


def _until(reason: Reason, found: Explanation) -> str:
    if reason.until is None:
        return ""
    is_over = reason.until <= found.at
    when = f"over for {between(reason.until, found.at)}" if is_over else f"{between(found.at, reason.until)} left"
    return f"until {moment(reason.until, found.at)}, {when}"


def _budget(budget: Budget) -> str:
    used = f"{counted(budget.failures, 'failure')} and {counted(budget.crashes, 'crash', 'crashes')} so far"
    return f"Budget: {used}; {budget.attempts_left} of {counted(budget.attempts_max, 'attempt')} left."


def _ways(found: Explanation) -> Table:
    table = Table.grid(padding=(0, 2))
    for _ in range(4):
        table.add_column(overflow="fold")
    for way in found.ways:
        when = Text(_when(way, found.at), style="dim")
        table.add_row(f"  {way.verb}", f"→ {' or '.join(way.to)}", f"by {', '.join(way.by)}", when)
    return table


def _when(way: Way, now: datetime) -> str:
    if way.at is None:
        return ""
    is_due = way.at <= now
    if way.verb == "claim":
        return "now" if is_due else relative(way.at, now)
    return f"due {relative(way.at, now)}" if is_due else f"by itself {relative(way.at, now)}"
