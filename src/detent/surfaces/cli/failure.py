"""How a command ends when it fails: the exit code, the message on stderr, and a guess at what was meant."""

import json
from collections.abc import Iterable
from difflib import get_close_matches
from shutil import get_terminal_size
from typing import IO, Any

import click

from detent.errors import DetentError, LifecycleError, NotFound, Refused, StoreError
from detent.surfaces.cli.output import clean


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


class Interrupted(Failure):
    exit_code = 130  # as a shell has it: 128 and the number of SIGINT
    error_code = "interrupted"

    def __init__(self) -> None:
        super().__init__("interrupted")

    def show(self, file: IO[Any] | None = None) -> None:
        click.echo(self.message, file=file, err=True)


def failure_of(error: DetentError, hint: str = "") -> Failure:
    is_missing = isinstance(error, NotFound) or (isinstance(error, StoreError) and error.code == "store_missing")
    failure = (Missing if is_missing else Failure)(f"{error}.{hint}" if hint else str(error))
    failure.error_code = error.code
    if isinstance(error, Refused):
        failure.details = {"job_id": error.job_id, "state": error.state, "allowed": list(error.allowed)}
    return failure


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
