"""How a command ends when it fails: the exit code, the message on stderr, and a guess at what was meant."""

from collections.abc import Iterable
from difflib import get_close_matches
from shutil import get_terminal_size

import click

from detent.errors import DetentError, LifecycleError, NotFound


class Failure(click.ClickException):
    """Ends the command: the message goes to stderr, the code to the shell."""

    exit_code = 1  # 2 is wrong usage, which is click's own


class Missing(Failure):
    exit_code = 3


def failure_of(error: DetentError) -> Failure:
    return Missing(str(error)) if isinstance(error, NotFound) else Failure(str(error))


def unsound(place: str, error: LifecycleError) -> Failure:
    """Every problem as a paragraph, wrapped to the terminal."""
    paragraphs = (_paragraph(f"{message} [{code}]") for code, message in error.problems)
    return Failure("\n".join([f"{place} does not declare a sound lifecycle:", *paragraphs]))


def guess(wrong: str, known: Iterable[str]) -> str:
    """` Did you mean 'standard'?`, or nothing where nothing is close."""
    close = get_close_matches(wrong, known, n=1)
    return f" Did you mean '{close[0]}'?" if close else ""


def _paragraph(text: str) -> str:
    columns = get_terminal_size().columns
    return click.wrap_text(text, width=columns, initial_indent="  - ", subsequent_indent="    ")
