"""How a command ends when it fails: the exit code, the message on stderr, and a guess at what was meant."""

import json
from collections.abc import Iterable
from difflib import get_close_matches
from shutil import get_terminal_size
from typing import IO, Any, Final

import click

from detent.errors import DetentError, InvalidArgument, LifecycleError, NotFound, Refused
from detent.surfaces.cli.output import clean

# Faults of what is kept, and not of what was typed.
OF_THE_STORE: Final = frozenset({"value_unreadable", "payload_not_json"})


class Failure(click.ClickException):
    """Ends the command: the message goes to stderr, the code to the shell. With --json it is JSON there, too."""

    exit_code = 1  # 2 is wrong usage, which is click's own
    error_code = "error"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.details: dict[str, Any] = {}

    def format_message(self) -> str:
        return "\n".join(map(clean, self.message.split("\n")))

    def as_json(self) -> str:
        return json.dumps({"error": {"code": self.error_code, "message": self.message, **self.details}})


class Missing(Failure):
    exit_code = 3
    error_code = "not_found"


class Misused(Failure):
    exit_code = 2  # as for an option that click itself refuses


class Interrupted(Failure):
    exit_code = 130  # as a shell has it: 128 and the number of SIGINT
    error_code = "interrupted"

    def __init__(self) -> None:
        super().__init__("interrupted")

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(self.message, file=file, err=True)


def failure_of(error: DetentError, hint: str = "") -> Failure:
    failure = _kind_of(error)(f"{error}.{hint}" if hint else str(error))
    failure.error_code = error.code
    if isinstance(error, Refused):
        failure.details = {"job_id": error.job_id, "state": error.state, "allowed": list(error.allowed)}
    return failure


def _kind_of(error: DetentError) -> type[Failure]:
    if isinstance(error, NotFound) or error.code == "store_missing":
        return Missing
    is_asked_wrongly = isinstance(error, InvalidArgument) and error.code not in OF_THE_STORE
    return Misused if is_asked_wrongly else Failure


class InJson(click.ClickException):
    """Another error, told in a line of JSON on stderr: a program that reads JSON also reads why there is none."""

    def __init__(self, error: click.ClickException) -> None:
        super().__init__(error.format_message())
        self.exit_code = error.exit_code  # type: ignore[misc]  # click reads it off the instance
        self._told = error if isinstance(error, Failure) else _told(error)

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(self._told.as_json(), file=file, err=True)


def _told(error: click.ClickException) -> Failure:
    failure = Failure(error.format_message())
    failure.error_code = "wrong_usage" if isinstance(error, click.UsageError) else Failure.error_code
    return failure


def unsound(place: str, error: LifecycleError) -> Failure:
    """Every problem as a paragraph, wrapped to the terminal."""
    paragraphs = (_paragraph(f"{message} [{code}]") for code, message in error.problems)
    failure = Failure("\n".join([f"{place} does not declare a sound lifecycle:", *paragraphs]))
    failure.error_code = error.code
    failure.details = {"problems": [{"code": code, "message": message} for code, message in error.problems]}
    return failure


def guess(wrong: str, known: Iterable[str]) -> str:
    """` Did you mean 'standard'?`, or nothing where nothing is close."""
    close = get_close_matches(wrong, known, n=1)
    return f" Did you mean '{close[0]}'?" if close else ""


def _paragraph(text: str) -> str:
    columns = get_terminal_size().columns
    return click.wrap_text(text, width=columns, initial_indent="  - ", subsequent_indent="    ")
