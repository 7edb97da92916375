"""`detent job explain`: why a job is where it is, and what would move it."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

import click
from msgspec import Struct
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from detent.client import Job
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
from detent.surfaces.cli.times import between, moment, relative, unparted
from detent.surfaces.shapes import JobShape, job_shape

# What an operator can do about it, where there is a command for the verb.
COMMANDS: Final = ("requeue", "submit", "approve", "deny", "cancel")
# These hold since the job became due; of all others it is told how long they have lasted.
_DUE: Final = frozenset(
    {
        "no_claim",
        "queue_not_served",
        "kind_not_served",
        "adapter_not_served",
        "workers_draining",
        "workers_busy",
        "waits_its_turn",
        "limit_reached",
        "rate_reached",
    }
)


class ExplanationShape(Struct, frozen=True):
    """Why a job is where it is: the first reason matters most. `ways` are the verbs its state has.
    `reruns` are the jobs that ran it again, the newest first."""

    job: JobShape
    at: datetime
    reasons: list[Reason]
    ways: list[Way]
    budget: Budget
    reruns: list[str]


@click.command(cls=Command, example="detent job explain 42", shape=ExplanationShape)
@JOB
@store_options
@JSON
def explain(url: str | None, tenant: str, as_json: bool, job_id: str) -> None:
    """Say why a job is where it is, for how long already, and what would move it."""
    with opened_for(job_id, url, tenant) as client:
        found = client.explain(job_id)
    if as_json:
        shape = job_shape(found.job)
        write_json(ExplanationShape(shape, found.at, found.reasons, found.ways, found.budget, found.reruns))
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
    codes = {reason.code for reason in found.reasons}
    advice, commands = list(_advice(job, codes)), list(_commands(found, codes))
    if advice or commands:
        say()
        say("You can:", style="bold")
    for line in advice:
        print_(Padding(Text(line, style="dim"), (0, 0, 0, 2)))
    for command in commands:
        print_(Text(f"  {command}", style="dim"), is_wrapped=False)  # to be copied


def _advice(job: Job, codes: set[str]) -> Iterator[str]:
    """What helps, and is no command of ours."""
    if not codes.isdisjoint({"no_claim", "queue_not_served", "workers_draining"}):
        yield f"start a worker that claims from queue '{clean(job.queue)}'"
    if "kind_not_served" in codes:
        yield f"start a worker that claims jobs of kind '{clean(job.kind)}' from queue '{clean(job.queue)}'"
    if "adapter_not_served" in codes:
        yield f"start a worker that has adapter '{clean(job.adapter_id)}'"
    if "workers_busy" in codes:
        yield "start another worker, or give those that are there more slots"


def _commands(found: Explanation, codes: set[str]) -> Iterator[str]:
    """What helps most comes first, and to give the job up last."""
    job = found.job
    if "overdue" in codes:
        yield suggested("reconcile --once", tenant=False)
    if "queue_paused" in codes:
        yield suggested("queue resume", job.queue)
    if job.is_ended:
        yield _on_from_its_end(found, codes)
    asked = {way.verb for way in found.ways}
    for verb in (each for each in COMMANDS if each in asked):
        hard = " --hard" if verb == "cancel" and job.is_cancel_requested else ""  # it was asked already
        yield suggested(f"job {verb}{hard}", job.id)


def _on_from_its_end(found: Explanation, codes: set[str]) -> str:
    """What was run again goes on elsewhere: to run it once more would make two of it."""
    if found.reruns:
        return suggested("job explain", found.reruns[0])
    return suggested("dlq redrive" if "dead_letter" in codes else "job rerun", found.job.id)


def _reason(reason: Reason, found: Explanation) -> Table:
    """A bullet; the text beside it keeps its left edge when it is wrapped."""
    more = "; ".join(each for each in (_since(reason, found), _until(reason, found)) if each)
    line = Table.grid(padding=(0, 1))
    line.add_column()
    line.add_column(overflow="fold")
    text = Text(unparted(clean(reason.text)))
    line.add_row("·", text.append(unparted(f" ({more})"), style="dim") if more else text)
    return line


def _since(reason: Reason, found: Explanation) -> str:
    """What has ended happened once; everything else lasts."""
    if reason.since is None:
        return ""
    if found.job.is_ended:
        return relative(reason.since, found.at)
    if reason.code == "lease_over":  # how long ago is what its text says
        return f"at {moment(reason.since, found.at)}"
    return f"{'due for' if reason.code in _DUE else 'for'} {between(reason.since, found.at)}"


def _until(reason: Reason, found: Explanation) -> str:
    if reason.until is None:
        return ""
    is_over = reason.until <= found.at
    when = f"which was {relative(reason.until, found.at)}" if is_over else f"{between(found.at, reason.until)} left"
    return f"until {moment(reason.until, found.at)}, {when}"


def _budget(budget: Budget) -> str:
    used = f"{counted(budget.failures, 'failure')} and {counted(budget.crashes, 'crash', 'crashes')} so far"
    left = f"Budget: {used}; {budget.attempts_left} of {counted(budget.attempts_max, 'attempt')} left."
    if not budget.reruns_left:
        return left
    return f"{left} If it fails, a new job runs it again; {counted(budget.reruns_left, 'such job')} may follow."


def _ways(found: Explanation) -> Table:
    table = Table.grid(padding=(0, 2))
    for _ in range(4):
        table.add_column(overflow="fold")
    for way in found.ways:
        when = Text(unparted(_when(way, found.at)), style="dim")
        table.add_row(f"  {way.verb}", f"→ {' or '.join(way.to)}", f"by {', '.join(way.by)}", when)
    return table


def _when(way: Way, now: datetime) -> str:
    if way.at is None:
        return way.when or ""
    is_due = way.at <= now
    if way.verb == "claim":
        soonest = "now" if is_due else relative(way.at, now)
        return soonest if way.when is None else f"{soonest}, {way.when}"
    whom = "" if way.by == ["reconciler"] else "by the reconciler "  # nothing happens without one
    return f"due {relative(way.at, now)}" if is_due else f"{whom}{relative(way.at, now)}"
