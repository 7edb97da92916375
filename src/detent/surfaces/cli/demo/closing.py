"""What a demo says at its end: the figures of the audit, the verdict, and what to try next on the same file."""

from typing import Final

from rich.text import Text

from detent.surfaces.cli.demo.report import DemoReport
from detent.surfaces.cli.output import say, show, write

VIOLATIONS_SHOWN: Final = 20
NAME_COLUMNS: Final = 12
COUNT_COLUMNS: Final = 8
FIGURES: Final = (
    ("jobs", "each where its script may leave it"),
    ("mutations", "the sum of all revisions"),
    ("events", "one for each mutation"),
    ("attempts", "one for each claim"),
    ("retries", "failures sent round again"),
    ("recoveries", "moves that brought a job back"),
    ("dead_letters", "set aside, with the reason"),
    ("late_results", "refused, and kept as notes"),
    ("repeats", "answered, and not doubled"),
)
WHY: Final = ("A job that outlived its worker:", "What was set aside, and why:", "The one that waits for you:")


def show_report(report: DemoReport) -> None:
    say()
    say("The audit, from the file alone", style="bold")
    for name, meaning in FIGURES:
        show(figure(name, getattr(report, name), meaning))
    say()
    show_verdict(report.violations)
    say()
    say("Try next, on the same file:", style="bold")
    for why, command in zip(WHY, report.commands, strict=True):
        say(f"  {why}", style="dim")
        write(f"    {command}\n")


def figure(name: str, count: int, meaning: str) -> Text:
    line = Text(f"  {name.replace('_', ' '):<{NAME_COLUMNS}}")
    return line.append(f"{count:>{COUNT_COLUMNS},}", "bold").append(f"  {meaning}", "dim")


def show_verdict(violations: list[str]) -> None:
    if not violations:
        say("✓ every move was legal and on the record: 0 violations", style="bold green")
        return
    say(f"✗ violations: {len(violations)}", style="bold red")
    for violation in violations[:VIOLATIONS_SHOWN]:
        say(f"  {violation}", style="red")
