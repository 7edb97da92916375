"""What goes to stdout: tables for people, JSON for programs. rich minds the terminal's width, and NO_COLOR.

A reader that stops early (`| head`) is no error: what comes after goes nowhere, and the command ends as it would have.
"""

import json
import os
import sys
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import zip_longest
from typing import IO, Any, Final

import click
import msgspec
from rich import box
from rich.console import Console, RenderableType
from rich.table import Table
from rich.text import Text

PIPE_COLUMNS: Final = 160  # a row stays on one line for whoever greps it


class Screen(Console):
    """Where output goes. `is_gone`: nobody reads it any more."""

    is_gone = False

    def on_broken_pipe(self) -> None:
        self.quiet = True
        leave(self.file)


def leave(stream: IO[str]) -> None:
    """From here on whatever is written there goes nowhere, also at the interpreter's own last flush."""
    Screen.is_gone = Screen.is_gone or stream.fileno() == sys.stdout.fileno()
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def is_sized() -> bool:
    """Whether the width is known. In a pipe it is not, unless somebody has said it."""
    return sys.stdout.isatty() or "COLUMNS" in os.environ


def screen(*, stderr: bool = False) -> Screen:
    """Brackets and colons in what a job holds are just that: markup and emoji codes are off."""
    width = None if stderr or is_sized() else PIPE_COLUMNS
    return Screen(stderr=stderr, highlight=False, markup=False, emoji=False, width=width)


def clean(value: object) -> str:
    """Text for one cell. What others wrote into a job must not move the cursor, colour the screen or turn text."""
    text = "" if value is None else str(value)
    return text if text.isprintable() else "".join(map(_spelled, text))


def say(line: str = "", *, style: str = "") -> None:
    """A line of prose, wrapped to the terminal."""
    show(Text(line, style=style))


def show(what: RenderableType, *, is_wrapped: bool = True) -> None:
    with _writing():
        screen().print(what, soft_wrap=not is_wrapped)


def write(text: str) -> None:
    """Text that has its own shape and is not to be wrapped."""
    with _writing():
        sys.stdout.write(text)
        sys.stdout.flush()


def write_json(data: Any) -> None:
    """One document, indented for the eye."""
    write(msgspec.json.format(_encoded(data), indent=2) + "\n")


def write_line(data: Any) -> None:
    """One document of a stream: a line by itself."""
    write(_encoded(data) + "\n")


def write_array(items: Iterable[Any]) -> None:
    """One document, an item to a line, written as they come: however many there are, they need not fit in memory."""
    between = "["
    for item in items:
        write(f"{between}\n{_encoded(item)}")
        between = ","
        if Screen.is_gone:
            return
    write("[]\n" if between == "[" else "\n]\n")


def write_table(headings: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """The first column is what a row is about; the last takes what room is left."""
    write_long_table(headings, [rows])


def write_long_table(headings: Iterable[str], pages: Iterable[Iterable[Iterable[object]]]) -> None:
    """Page by page, as they come: the columns are as wide as the first page wants them, or wider."""
    names, widths = [Text(heading) for heading in headings], [0]
    for page in pages:
        rows = [[cell if isinstance(cell, Text) else Text(clean(cell)) for cell in row] for row in page]
        show(_table(names, rows, widths))
        if Screen.is_gone:
            return
        widths = [max(cell.cell_len for cell in column) for column in zip(names, *rows, strict=False)]


def _table(names: list[Text], rows: list[list[Text]], widths: list[int]) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, header_style="bold", show_header=not any(widths)
    )
    for name, width, style in zip_longest(names, widths, ("cyan",)):
        table.add_column(name, style=style, overflow="fold", min_width=width)
    for row in rows:
        table.add_row(*row)
    return table


@contextmanager
def _writing() -> Iterator[None]:
    try:
        yield
    except BrokenPipeError:
        leave(sys.stdout)
    except OSError as error:
        leave(sys.stdout)  # what is still buffered would fail once more when the interpreter ends
        raise click.ClickException(f"the output cannot be written: {error.strerror}. Send it elsewhere") from error


def _encoded(data: Any) -> str:
    """What is not to be seen is spelled out here, too: JSON may be read in a terminal, or in one without Unicode."""
    text = msgspec.json.encode(data).decode()
    is_plain = text.isascii() or "utf" in sys.stdout.encoding.lower()
    return text if is_plain and text.isprintable() else "".join(_escaped(char, is_plain=is_plain) for char in text)


def _escaped(char: str, *, is_plain: bool) -> str:
    is_shown = char.isprintable() and (is_plain or char.isascii())
    return char if is_shown else json.dumps(char)[1:-1]


def _spelled(char: str) -> str:
    if char.isprintable():
        return char
    is_blank = char in "\t\n" or unicodedata.category(char) == "Zs"
    return " " if is_blank else char.encode("unicode_escape").decode()
