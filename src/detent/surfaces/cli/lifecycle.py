"""`detent lifecycle`: look at the state machines, and judge one of your own."""

from collections import Counter
from typing import Final

import click
from msgspec import Struct
from msgspec.structs import astuple

from detent.lifecycle import Lifecycle
from detent.lifecycle.describe import describe, joined_rows
from detent.lifecycle.diagram import as_mermaid, as_text
from detent.surfaces.cli.command import Group
from detent.surfaces.cli.definitions import complete_name, find, known_at, read
from detent.surfaces.cli.exploring import explore
from detent.surfaces.cli.numbers import cell, counted
from detent.surfaces.cli.options import JSON, URL
from detent.surfaces.cli.output import clean, say, say_command, write, write_json, write_table
from detent.surfaces.cli.suggesting import suggested

NAME: Final = click.argument("name", shell_complete=complete_name)


class SummaryShape(Struct, frozen=True):
    """A lifecycle in a line."""

    name: str
    version: int
    states: int
    moves: int
    summary: str


class StateShape(Struct, frozen=True):
    """A state and its phase: parked, ready, held, active or ended."""

    name: str
    phase: str


class MoveShape(Struct, frozen=True, rename={"source": "from"}):
    """One way from a state to another; `from` is null for enqueue. `by` are the roles that may ask."""

    verb: str
    source: str | None
    to: str
    by: list[str]
    recovery: bool


class LifecycleShape(Struct, frozen=True):
    """A lifecycle: one entry per verb, source and target."""

    name: str
    version: int
    states: list[StateShape]
    moves: list[MoveShape]


class DiagramShape(Struct, frozen=True):
    """A drawing; `notation` is `text` or `mermaid`."""

    name: str
    version: int
    notation: str
    diagram: str


class SoundShape(Struct, frozen=True):
    """A lifecycle that holds together. `phases` counts its states, `recoveries` its ways back."""

    name: str
    version: int
    digest: str
    states: int
    phases: dict[str, int]
    moves: int
    recoveries: int


@click.group(cls=Group)
def lifecycle() -> None:
    """Look at lifecycles, and judge your own.

    A lifecycle is the state machine that a job follows.

    NAME is a lifecycle that ships or that the store keeps, or the path of a .toml file with one of your own.
    """


@lifecycle.command("list", example="detent lifecycle list", shape=list[SummaryShape])
@URL
@JSON
def list_(url: str | None, as_json: bool) -> None:
    """List the lifecycles that ship, and those that the store keeps, if there is one."""
    found = [_summary(each) for each in known_at(url)]
    if as_json:
        write_json(found)
    else:
        write_table(SummaryShape.__struct_fields__, map(_cells, found))


@lifecycle.command(example="detent lifecycle show standard", shape=LifecycleShape)
@NAME
@URL
@JSON
def show(name: str, url: str | None, as_json: bool) -> None:
    """Show the states and the moves of NAME."""
    found = find(name, url)
    if as_json:
        write_json(describe(found))
        return
    say(f"{found.name} v{found.version}", style="bold")
    say(clean(found.summary))
    say()
    write_table(("state", "phase", "outcome", "time limit"), _state_cells(found))
    say()
    write_table(("move", "from", "to", "by"), _move_cells(found))
    say()
    if any(move.recovery for move in found.moves):
        say("↶ recovery: the attempt is over, the job is not.", style="dim")
    say_command("Draw it:", suggested("lifecycle diagram", name, tenant=False))


@lifecycle.command(example="detent lifecycle diagram dispatch --mermaid", shape=DiagramShape)
@NAME
@click.option("--mermaid", is_flag=True, help="Print a Mermaid state diagram instead.")
@URL
@JSON
def diagram(name: str, mermaid: bool, url: str | None, as_json: bool) -> None:
    """Draw the states and moves of NAME."""
    found = find(name, url)
    drawn = as_mermaid(found) if mermaid else as_text(found)
    if as_json:
        write_json(DiagramShape(found.name, found.version, "mermaid" if mermaid else "text", drawn))
    else:
        write(drawn)


@lifecycle.command(example="detent lifecycle check article.toml", shape=SoundShape)
@click.argument("file", type=click.Path())
@JSON
def check(file: str, as_json: bool) -> None:
    """Judge the lifecycle declared in a TOML FILE: sound, or every problem it has and what to do about it."""
    found = read(file)
    phases = Counter(state.phase for state in found.states)
    recoveries = sum(move.recovery for move in found.moves)
    if as_json:
        by_phase = {str(phase): count for phase, count in phases.items()}
        sound = (found.name, found.version, found.digest, len(found.states), by_phase, len(found.moves), recoveries)
        write_json(SoundShape(*sound))
        return
    say(f"sound: {found.name} v{found.version}", style="green")
    counts = ", ".join(f"{count} {phase}" for phase, count in phases.items())
    say(f"{counted(len(found.states), 'state')}: {counts}")
    say(f"{counted(len(found.moves), 'move')}, {recoveries} of them recovery")
    say(f"digest {found.digest}")


lifecycle.add_command(explore)


def _summary(each: Lifecycle) -> SummaryShape:
    return SummaryShape(each.name, each.version, len(each.states), len(each.moves), each.summary)


def _cells(row: SummaryShape) -> tuple[object, ...]:
    return tuple(cell(value) if isinstance(value, int) else value for value in astuple(row))


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
