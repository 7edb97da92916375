"""What goes to stdout: tables for people, JSON for programs. rich minds the terminal's width, and NO_COLOR.

A reader that stops early (`| head`) is no error: what comes after goes nowhere, and the command ends as it would have.
"""

import json
import os
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import IO, Any, Final

import click
import msgspec
from rich.console import Console, RenderableType
from rich.text import Text

from detent.surfaces.cli.tables import Column, Grid, fitting, wanted, within
from detent.surfaces.cli.times import JOINT
from detent.surfaces.cli.width import columns as columns_of

_TRAILING: Final = re.compile(r" +$", re.MULTILINE)


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


def screen(*, stderr: bool = False) -> Screen:
    """Brackets and colons in what a job holds are just that: markup and emoji codes are off."""
    return Screen(
        stderr=stderr,
        highlight=False,
        markup=False,
        emoji=False,
        width=columns_of(sys.stderr if stderr else sys.stdout),
    )


def clean(value: object) -> str:
    """Text for one cell. What others wrote into a job must not move the cursor, colour the screen or turn text."""
    text = "" if value is None else str(value)
    return text if text.isprintable() else "".join(map(_spelled, text))


def say(line: str = "", *, style: str = "") -> None:
    """A line of prose, wrapped to the terminal."""
    show(Text(line, style=style))


def say_command(what: str, command: str) -> None:
    """A hint, and what to type. It is never wrapped: whoever copies it would copy the line ends, too."""
    show(Text(f"{what} {clean(command)}", style="dim"), is_wrapped=False)


def show(what: RenderableType, *, is_wrapped: bool = True) -> None:
    """Without the blanks that rich leaves at the ends of lines."""
    console = screen()
    with writing():
        text = rendered(console, what, is_wrapped=is_wrapped)
    write(text)


def rendered(console: Console, what: RenderableType, *, is_wrapped: bool = True) -> str:
    """What the console would print, without blanks at the ends of lines."""
    with console.capture() as captured:  # its end flushes the stream, whatever is in there
        console.print(what, soft_wrap=not is_wrapped)
    return _TRAILING.sub("", captured.get().replace(JOINT, " "))


def write(text: str) -> None:
    """Text that has its own shape and is not to be wrapped."""
    with writing():
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
    """The first column is what a row is about; where room is short, the widest is folded."""
    write_listing([Column(heading) for heading in headings], [rows])


def write_listing(columns: Sequence[Column], pages: Iterable[Iterable[Iterable[object]]]) -> None:
    """Page by page, as they come. The first says which columns fit; they are as wide as it wants them, or wider."""
    room, places, widths = screen().width, list(range(len(columns))), [0] * len(columns)
    for number, page in enumerate(pages):
        rows = [[cell if isinstance(cell, Text) else Text(clean(cell)) for cell in row] for row in page]
        widths = [max(pair) for pair in zip(widths, wanted(columns, rows), strict=True)]
        places = places if number else fitting(columns, widths, room)
        shown = [[row[place] for place in places] for row in rows]
        fit = within([widths[place] for place in places], room)
        show(Grid([columns[place] for place in places], shown, fit, has_heading=not number), is_wrapped=False)
        if Screen.is_gone:
            return


@contextmanager
def writing() -> Iterator[None]:
    """Whatever is written to stdout: a reader that has left is no error, a full disk is one."""
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
