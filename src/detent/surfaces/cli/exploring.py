"""`explore`: every history a job can have on a lifecycle, each one judged; and what is found without a safeguard."""

from collections.abc import Sequence
from time import monotonic

import click
from msgspec.structs import replace
from rich import box
from rich.live import Live
from rich.table import Table
from rich.text import Text

from detent.lifecycle import Lifecycle, Policy
from detent.lifecycle.soundness.answers import unanswered_limits
from detent.lifecycles import BUILT_IN, STANDARD
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.definitions import complete_name, find
from detent.surfaces.cli.numbers import counted
from detent.surfaces.cli.options import JSON
from detent.surfaces.cli.output import Screen, say, screen, write_json
from detent.testing.explore import POLICY, Report
from detent.testing.explore import explore as search
from detent.testing.sabotage import SABOTAGE

Row = tuple[str | Text, ...]


@click.command(cls=Command, example="detent lifecycle explore standard --faults 2", shape=list[Report])
@click.argument("name", required=False, shell_complete=complete_name)
@click.option(
    "--faults",
    default=1,
    show_default=True,
    type=click.IntRange(0, 2),
    metavar="N",
    help="In one history; 2 takes a minute.",
)
@click.option(
    "--workers", default=3, show_default=True, type=click.IntRange(1, 3), metavar="N", help="Compete for the job."
)
@JSON
def explore(name: str | None, faults: int, workers: int, as_json: bool) -> None:
    """Walk through every history a job can have on NAME, and judge each one.

    Without NAME: on all lifecycles that ship. Exit 1: a history breaks a rule, or cannot come to an end.
    """
    lifecycles = [*BUILT_IN.values()] if name is None else [find(name)]
    if as_json:
        reports = [search(each, faults=faults, workers=workers, policy=_policy(each)) for each in lifecycles]
        write_json(reports)
    else:
        reports = _told(lifecycles, faults=faults, workers=workers)
    if any(report.counterexample is not None for report in reports):
        raise SystemExit(1)


def _told(lifecycles: Sequence[Lifecycle], *, faults: int, workers: int) -> list[Report]:
    say("Every history a job can have", style="bold")
    say(
        f"Up to {workers} workers crash, pause and repeat themselves; replies get lost, leases expire, limits pass, "
        f"jobs are cancelled: in every order, with at most {counted(faults, 'fault')}, judged step by step by the "
        "checker."
    )
    say()
    reports = _explore_all(lifecycles, faults=faults, workers=workers)
    say()
    _conclude(reports)
    _show_the_bite()
    return reports


def _explore_all(lifecycles: Sequence[Lifecycle], *, faults: int, workers: int) -> list[Report]:
    terminal = screen()
    if terminal.is_terminal:
        return _watched(terminal, lifecycles, faults, workers)
    return [_logged(lifecycle, faults, workers) for lifecycle in lifecycles]


def _logged(lifecycle: Lifecycle, faults: int, workers: int) -> Report:
    """In a pipe: a line when a lifecycle is done."""
    report = search(lifecycle, faults=faults, workers=workers, policy=_policy(lifecycle))
    name, _, _, worlds, transitions, verdict = _done(lifecycle, report)
    say(f"{name}: {worlds} worlds, {transitions} transitions: {verdict}")
    return report


def _watched(terminal: Screen, lifecycles: Sequence[Lifecycle], faults: int, workers: int) -> list[Report]:
    """In a terminal: a table that counts along."""
    rows: list[Row] = []
    reports = []
    with Live(console=terminal, refresh_per_second=8) as live:
        for lifecycle in lifecycles:
            begun = monotonic()

            def show(worlds: int, transitions: int, lifecycle: Lifecycle = lifecycle, begun: float = begun) -> None:
                rate = transitions / max(monotonic() - begun, 1e-3)
                live.update(_table([*rows, _row(lifecycle, worlds, transitions, Text(f"{rate:,.0f}/s …", "dim"))]))

            policy = _policy(lifecycle)
            reports.append(search(lifecycle, faults=faults, workers=workers, policy=policy, on_progress=show))
            rows.append(_done(lifecycle, reports[-1]))
            live.update(_table(rows))
    return reports


def _policy(lifecycle: Lifecycle) -> Policy:
    """A lifecycle of the user's need not answer a run limit; then there is none to search with."""
    return replace(POLICY, timeout_s=None) if any(unanswered_limits(lifecycle, POLICY)) else POLICY


def _table(rows: list[Row]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    table.add_column("lifecycle", style="cyan")
    for name in ("states", "moves", "worlds", "transitions"):
        table.add_column(name, justify="right")
    table.add_column("verdict")
    for row in rows:
        table.add_row(*row)
    return table


def _done(lifecycle: Lifecycle, report: Report) -> Row:
    if report.counterexample is not None:
        return _row(lifecycle, report.states, report.transitions, Text("✗ broken", "bold red"))
    return _row(lifecycle, report.states, report.transitions, Text("✓ holds, ends reachable", "green"))


def _row(lifecycle: Lifecycle, worlds: int, transitions: int, verdict: Text) -> Row:
    counts = (len(lifecycle.states), len(lifecycle.moves), worlds, transitions)
    return (lifecycle.name, *(f"{count:,}" for count in counts), verdict)


def _conclude(reports: Sequence[Report]) -> None:
    broken = [report for report in reports if report.counterexample is not None]
    for report in broken:
        say(f"{report.lifecycle}: {report.counterexample}", style="red")
    worlds, transitions = sum(report.states for report in reports), sum(report.transitions for report in reports)
    say(f"{worlds:,} worlds, {transitions:,} transitions, lifecycles broken: {len(broken)}.", style="bold")


def _show_the_bite() -> None:
    """A checker that never caught anything proves nothing."""
    say()
    say("And does the search bite? The kernel on 'standard' with its fence switched off:", style="bold")
    say(str(search(STANDARD, machinery=SABOTAGE["the fence"](STANDARD)).counterexample))
