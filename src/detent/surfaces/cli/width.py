"""How wide the output may be: as $COLUMNS says, as the terminal is, or in a pipe as wide as a row wants."""

import os
import re
import sys
from typing import IO, Final

PIPE_COLUMNS: Final = 160  # a row stays on one line for whoever greps it
TERMINAL_COLUMNS: Final = 80  # of a terminal that does not know
COLUMNS_MIN: Final = 20  # in less nothing can be read


def forget_nonsense() -> None:
    """A $COLUMNS that is no number of columns, so that nobody else stumbles over it: rich reads it, too."""
    if _said_columns() is None:
        os.environ.pop("COLUMNS", None)


def is_sized() -> bool:
    """Whether the width is known. In a pipe it is not, unless somebody has said it."""
    return sys.stdout.isatty() or _said_columns() is not None


def columns(stream: IO[str]) -> int | None:
    """None: as wide as the terminal is at any time, which rich looks after."""
    said = _said_columns()
    if said is not None:
        return max(said, COLUMNS_MIN)
    found = _columns_of(stream)
    if found is None:
        return PIPE_COLUMNS
    return None if found >= COLUMNS_MIN and "COLUMNS" not in os.environ else max(found, COLUMNS_MIN)


def _said_columns() -> int | None:
    """What $COLUMNS says, if that is a number of columns that a terminal could have."""
    said = os.environ.get("COLUMNS", "")
    return int(said) or None if re.fullmatch("[0-9]{1,5}", said) else None


def _columns_of(stream: IO[str]) -> int | None:
    try:
        return os.get_terminal_size(stream.fileno()).columns or TERMINAL_COLUMNS
    except (OSError, ValueError):  # it is no terminal, or not even a file
        return None
