"""`detent verify`: the history checker over a store that may be in use."""

from collections.abc import Sequence
from itertools import groupby
from time import monotonic
from typing import Final

import click
from msgspec import Struct

from detent.audit import INVARIANTS, Report, Violation
from detent.client import SyncClient
from detent.client.scope import DEFAULT_TENANT
from detent.surfaces.cli.chatter import watched
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.failure import Missing
from detent.surfaces.cli.numbers import counted
from detent.surfaces.cli.opening import opened
from detent.surfaces.cli.options import JSON, URL
from detent.surfaces.cli.output import say, say_command, write_json, write_table
from detent.surfaces.cli.suggesting import suggested
from detent.surfaces.cli.times import span

SHOWN: Final = 20
_TENANT: Final = click.option("--tenant", metavar="NAME", help="Only this tenant's jobs; default: everybody's.")
_LIMIT: Final = click.option(
    "--limit", default=SHOWN, show_default=True, type=click.IntRange(0), metavar="N", help="Violations to list."
)


class ViolationShape(Struct, frozen=True, kw_only=True):
    """One fault: which invariant, of which job (empty: of the store), at which revision, and what is wrong."""

    invariant: str
    job_id: str
    rev: int | None
    message: str
    tenant: str | None


class VerifyShape(Struct, frozen=True, kw_only=True):
    """What was looked at and found. At most 1,000 violations are listed; `counts` has them all, by invariant."""

    jobs: int
    events: int
    violations: list[ViolationShape]
    counts: dict[str, int]
    took_s: float


@click.command(cls=Command, example="detent verify --url sqlite:///jobs.db", shape=VerifyShape)
@URL
@_TENANT
@_LIMIT
@JSON
def verify(url: str | None, tenant: str | None, limit: int, as_json: bool) -> None:
    """Check that every job's history is legal and complete.

    Every move on record must be one that its lifecycle allows, and every job what its moves add up to. It only reads,
    and may run while the store is in use. Any violation ends it with exit code 1.
    """
    begun_s = monotonic()
    with opened(url, DEFAULT_TENANT if tenant is None else tenant) as client:
        report = _verified(client, all_tenants=tenant is None)
    if tenant is not None and not report.jobs:  # a slip must not pass for a clean audit
        raise Missing(f"tenant '{tenant}' has no jobs here. Leave --tenant out to verify everybody's")
    took_s = monotonic() - begun_s
    if as_json:
        write_json(_shape(report, took_s))
    else:
        _show(report, took_s, limit)
    if not report.is_clean:
        raise SystemExit(1)


def _verified(client: SyncClient, *, all_tenants: bool) -> Report:
    with watched("jobs verified") as watch:
        return client.verify(all_tenants=all_tenants, on_progress=lambda jobs, _: watch.reach(jobs))


def _shape(report: Report, took_s: float) -> VerifyShape:
    found = [
        ViolationShape(**{name: getattr(each, name) for name in ViolationShape.__struct_fields__})
        for each in report.violations
    ]
    return VerifyShape(
        jobs=report.jobs, events=report.events, violations=found, counts=report.counts, took_s=round(took_s, 3)
    )


def _show(report: Report, took_s: float, limit: int) -> None:
    rate = f"{report.events / max(took_s, 1e-3):,.0f} events a second"
    looked = f"{counted(report.jobs, 'job')}, {counted(report.events, 'event')}"
    say(f"{looked} in {span(took_s)}: {rate}")
    if report.is_clean:
        say("0 violations: every move was legal, and every job is what its log adds up to.", style="green")
        return
    total = sum(report.counts.values())
    say(counted(total, "violation"), style="bold red")
    shown = sorted(report.violations[:limit], key=lambda each: list(INVARIANTS).index(each.invariant))
    for invariant, violations in groupby(shown, key=lambda each: each.invariant):
        _show_group(invariant, list(violations), report.counts[invariant])
    _show_rest(report, len(shown), total)


def _show_group(invariant: str, violations: Sequence[Violation], count: int) -> None:
    say()
    say(f"{invariant}, broken {count:,}×: {INVARIANTS[invariant]}", style="bold")
    rows = ((_whose(each), each.rev, each.message) for each in violations)
    write_table(("job", "rev", "what is wrong"), rows)


def _whose(violation: Violation) -> str:
    if not violation.job_id:
        return "the store"
    is_plain = violation.tenant in (None, DEFAULT_TENANT)
    return violation.job_id if is_plain else f"{violation.job_id} of tenant {violation.tenant}"


def _show_rest(report: Report, shown: int, total: int) -> None:
    say()
    if shown < total:
        say(f"Not listed: {total - shown:,} more; --limit N lists N of them, and --json up to 1,000.")
    say_command("What a job went through:", suggested("job history JOB"))
    say_command("Where its record and its log differ:", suggested("replay"))
    if "I26" in report.counts:
        say("The store itself is damaged: keep a copy of the file, and restore a backup.")
