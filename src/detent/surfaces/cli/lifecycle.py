"""`detent lifecycle`: look at the state machines, and judge one of your own."""

from collections import Counter
from typing import Any, Final

import click

from detent.lifecycle import Lifecycle
from detent.lifecycle.describe import describe, joined_rows
from detent.lifecycle.diagram import as_mermaid, as_text
from detent.lifecycles import BUILT_IN
from detent.surfaces.cli.definitions import complete_name, find, read
from detent.surfaces.cli.output import say, write, write_json, write_table

NAME: Final = click.argument("name", shell_complete=complete_name)
JSON: Final = click.option("--json", "as_json", is_flag=True, help="Print JSON instead.")


@click.group()
def lifecycle() -> None:
    """The state machines that jobs follow.

    NAME is a lifecycle that ships, or the path of a .toml file with one of your own.
    """


@lifecycle.command("list")
@JSON
def list_(as_json: bool) -> None:
    """List the lifecycles that ship."""
    found = [_summary(each) for each in BUILT_IN.values()]
    if as_json:
        write_json(found)
    else:
        write_table(found[0], (row.values() for row in found))


@lifecycle.command()
@NAME
@JSON
def show(name: str, as_json: bool) -> None:
    """Show the states and the moves of NAME."""
    found = find(name)
    if as_json:
        write_json(describe(found))
        return
    say(f"{found.name} v{found.version}", style="bold")
    say(found.summary)
    say()
    write_table(("state", "phase", "outcome", "time limit"), _state_cells(found))
    say()
    write_table(("move", "from", "to", "by"), _move_cells(found))
    say()
    if any(move.recovery for move in found.moves):
        say("↶ recovery: the attempt is over, the job is not.", style="dim")
    say(f"Draw it: detent lifecycle diagram {name}", style="dim")


@lifecycle.command()
@NAME
@click.option("--mermaid", is_flag=True, help="Print a Mermaid state diagram instead.")
def diagram(name: str, mermaid: bool) -> None:
    """Draw NAME."""
    found = find(name)
    write(as_mermaid(found) if mermaid else as_text(found))


@lifecycle.command()
@click.argument("file", type=click.Path())
def check(file: str) -> None:
    """Judge the lifecycle declared in a TOML FILE."""
    found = read(file)
    phases = Counter(state.phase for state in found.states)
    recoveries = sum(move.recovery for move in found.moves)
    say(f"sound: {found.name} v{found.version}", style="green")
    say(f"{len(found.states)} states: {', '.join(f'{count} {phase}' for phase, count in phases.items())}")
    say(f"{len(found.moves)} moves, {recoveries} of them recovery")
    say(f"digest {found.digest}")


def _summary(each: Lifecycle) -> dict[str, Any]:
    return {
        "name": each.name,
        "version": each.version,
        "states": len(each.states),
        "moves": len(each.moves),
        "summary": each.summary,
    }


def _state_cells(found: Lifecycle) -> list[tuple[object, ...]]:
    return [
        (state.name, state.phase, state.outcome, f"{state.timeout_s:g} s" if state.timeout_s is not None else None)
        for state in found.states
    ]


def _move_cells(found: Lifecycle) -> list[tuple[object, ...]]:
    return [
        (
            f"{row['verb']} ↶" if row["recovery"] else row["verb"],
            ", ".join(row["from"]),
            row["to"],
            ", ".join(row["by"]),
        )
        for row in joined_rows(found)
    ]
