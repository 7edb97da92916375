"""`detent demo`: every history a job can have on each lifecycle, and what is found when a safeguard is missing."""

from time import monotonic

import click
from rich import box
from rich.console import Console
from rich.live import Live
from rich.table import Table
from rich.text import Text

from detent.lifecycle import Lifecycle
from detent.lifecycles import BUILT_IN, STANDARD
from detent.surfaces.cli.output import say
from detent.testing.explore import Report, explore
from detent.testing.sabotage import SABOTAGE

Row = tuple[str | Text, ...]


@click.command()
@click.option(
    "--faults", default=1, show_default=True, type=click.IntRange(0, 2), help="In one history; 2 takes a minute."
)
@click.option("--workers", default=3, show_default=True, type=click.IntRange(1, 3), help="Compete for the job.")
def demo(faults: int, workers: int) -> None:
    """Walk through every history a job can have, and judge each one."""
    say("Five lifecycles, one kernel: every history a job can have", style="bold")
    say(
        f"Up to {workers} workers crash, pause and repeat themselves; replies get lost, leases expire, limits pass, "
        f"jobs are cancelled: in every order, with at most {faults} fault(s), judged step by step by the checker."
    )
    say()
    reports = _explore_all(faults=faults, workers=workers)
    broken = [report for report in reports if report.counterexample is not None]
    say()
    for report in broken:
        say(f"{report.lifecycle}: {report.counterexample}", style="red")
    worlds, transitions = sum(report.states for report in reports), sum(report.transitions for report in reports)
    say(f"{worlds:,} worlds, {transitions:,} transitions, {len(broken)} lifecycles broken.", style="bold")
    _show_the_bite()
    say("Try next:", style="bold")
    say("  detent demo --faults 2\n  detent lifecycle show standard\n  detent lifecycle diagram dispatch")
    if broken:
        raise SystemExit(1)


def _explore_all(*, faults: int, workers: int) -> list[Report]:
    screen = Console(highlight=False)
    return _watched(screen, faults, workers) if screen.is_terminal else _logged(faults, workers)


def _logged(faults: int, workers: int) -> list[Report]:
    """In a pipe: a line when a lifecycle is done."""
    reports = []
    for lifecycle in BUILT_IN.values():
        report = explore(lifecycle, faults=faults, workers=workers)
        name, _, _, worlds, transitions, verdict = _done(lifecycle, report)
        say(f"{name}: {worlds} worlds, {transitions} transitions: {verdict}")
        reports.append(report)
    return reports


def _watched(screen: Console, faults: int, workers: int) -> list[Report]:
    """In a terminal: a table that counts along."""
    rows: list[Row] = []
    reports = []
    with Live(console=screen, refresh_per_second=8) as live:
        for lifecycle in BUILT_IN.values():
            begun = monotonic()

            def show(worlds: int, transitions: int, lifecycle: Lifecycle = lifecycle, begun: float = begun) -> None:
                rate = transitions / max(monotonic() - begun, 1e-3)
                live.update(_table([*rows, _row(lifecycle, worlds, transitions, Text(f"{rate:,.0f}/s …", "dim"))]))

            reports.append(explore(lifecycle, faults=faults, workers=workers, on_progress=show))
            rows.append(_done(lifecycle, reports[-1]))
            live.update(_table(rows))
    return reports


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


def _show_the_bite() -> None:
    """A checker that never caught anything proves nothing."""
    say()
    say("And does the search bite? The same kernel with its fence switched off:", style="bold")
    say(str(explore(STANDARD, machinery=SABOTAGE["the fence"](STANDARD)).counterexample))
    say()
