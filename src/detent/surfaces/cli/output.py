"""What goes to stdout: tables for people, JSON for programs. rich minds the terminal's width, and NO_COLOR."""

import json
from collections.abc import Iterable
from typing import Any

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text


def say(line: str = "", *, style: str = "") -> None:
    """A line of prose, wrapped to the terminal."""
    Console(highlight=False).print(Text(line, style=style))


def write(text: str) -> None:
    """Text that has its own shape and is not to be wrapped."""
    click.echo(text, nl=False)


def write_json(data: Any) -> None:
    click.echo(json.dumps(data, indent=2, ensure_ascii=False))


def write_table(headings: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """The first column is what a row is about; the last takes what room is left."""
    first, *others = headings
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold")
    table.add_column(first, style="cyan", overflow="fold")
    for heading in others:
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*(Text("" if cell is None else str(cell)) for cell in row))
    Console(highlight=False).print(table)
