"""`detent dlq redrive`: run dead letters again, each as a new job with the policy of the old one."""

from collections import Counter
from typing import Any

import click
from msgspec import Struct

from detent.client import SyncClient
from detent.client.dead_letters import DeadLetter, redrive_id
from detent.errors import DetentError, Refused
from detent.surfaces.cli.chatter import confirm, remark, watched
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.dlq.letters import JOBS, chosen, letter_filters, redriven_as
from detent.surfaces.cli.job.filters import check, given, say_unknown
from detent.surfaces.cli.job.steering import ACTOR, ANSWERS, login_name
from detent.surfaces.cli.numbers import cell, counted
from detent.surfaces.cli.opening import opened
from detent.surfaces.cli.options import DRY_RUN, JSON, YES, Seconds, store_options
from detent.surfaces.cli.output import clean, say, write_json, write_table


class Redriven(Struct, frozen=True):
    """A dead letter and the job that runs it again. `answer`: `applied`, or `duplicate` of a live job of its key."""

    job_id: str
    new_job_id: str
    answer: str


class NotRedriven(Struct, frozen=True):
    """A dead letter that could not be run again, and why."""

    job_id: str
    code: str
    message: str


class RedriveShape(Struct, frozen=True):
    """What was done. `skipped` were run again before; `matched` counts all that were meant, these included."""

    matched: int
    skipped: int
    redriven: list[Redriven]
    failed: list[NotRedriven]
    is_dry_run: bool


@click.command(
    cls=Command,
    example="detent dlq redrive --queue mail --reason dependency_unavailable --dry-run",
    shape=RedriveShape,
)
@JOBS
@letter_filters
@click.option("--all", "is_all", is_flag=True, help="All of them.")
@click.option("--again", is_flag=True, help="Also those that were run again before.")
@click.option("--delay", "delay_s", type=Seconds(), default=0.0, help="Not before this has passed: 30s, 10m.")
@ACTOR
@DRY_RUN
@YES
@store_options
@JSON
def redrive(
    url: str | None, tenant: str, as_json: bool, job_ids: tuple[str, ...], is_all: bool, again: bool, delay_s: float,
    actor: str | None, dry_run: bool, yes: bool, **filters: Any,
) -> None:  # fmt: skip
    """Run dead letters again, each as a new job that names the old one and keeps its policy.

    Name jobs, or say which by filters. What was run again before is left out.
    """
    asked = given(filters)
    with opened(url, tenant) as client:
        check(client, asked)
        found = list(chosen(client, job_ids, asked, is_all=is_all))
        meant = [each for each in found if again or not redriven_as(client, each.job.id)]
        skipped = len(found) - len(meant)
        if not found:
            say_unknown(client, asked)
        if dry_run or not meant:
            report = RedriveShape(len(found), skipped, [], [], is_dry_run=dry_run)
        else:
            if len(meant) > 1:
                confirm(f"Run {counted(len(meant), 'dead letter')} again?", yes=yes)
            how = {"delay_s": delay_s, "actor": actor or login_name()}
            report = _run_again(client, meant, skipped, how, again=again)
    if as_json:
        write_json(report)
    else:
        _show(report, meant)
    if report.failed:
        raise SystemExit(1)


def _run_again(
    client: SyncClient, meant: list[DeadLetter], skipped: int, how: dict[str, Any], *, again: bool
) -> RedriveShape:
    report = RedriveShape(len(meant) + skipped, skipped, [], [], is_dry_run=False)
    with watched("running again", total=len(meant)) as watch:
        for letter in meant:
            old = letter.job
            request_id = None if again else redrive_id(old.id)
            try:
                new = client.rerun(old.id, request_id=request_id, **how)
                report.redriven.append(Redriven(old.id, new.id, new.answer))
            except Refused as error:
                _note_refusal(report, old.id, error)
            except DetentError as error:
                report.failed.append(NotRedriven(old.id, error.code, str(error)))
            watch.step()
    return report


def _note_refusal(report: RedriveShape, job_id: str, error: Refused) -> None:
    """Somebody else has just done it, under another name: then it is done."""
    if error.code == "request_conflict":
        report.redriven.append(Redriven(job_id, error.job_id, "repeat"))
    else:
        report.failed.append(NotRedriven(job_id, error.code, str(error)))


def _show(report: RedriveShape, meant: list[DeadLetter]) -> None:
    if report.redriven:
        rows = ((each.job_id, each.new_job_id, ANSWERS.get(each.answer)) for each in report.redriven)
        write_table(("dead letter", "runs as", ""), rows)
    for each in report.failed:
        say(f"not run again: {clean(each.message)}", style="red")
    if report.is_dry_run:
        say(f"{counted(len(meant), 'dead letter')} would be run again.", style="bold")
        reasons = Counter(letter.reason_code for letter in meant)
        if reasons:
            write_table(("reason", "jobs"), ((code, cell(jobs)) for code, jobs in reasons.most_common()))
    else:
        new = sum(each.answer == "applied" for each in report.redriven)
        say(f"{counted(new, 'dead letter')} run again.", style="bold")
    if report.skipped:
        remark(f"Left out, because run again before: {report.skipped:,}. --again includes them.")
