"""Calls of `detent` in lines of shell, and whether they would be understood. Nothing is carried out."""

import re
import shlex
from collections.abc import Iterator
from itertools import groupby
from typing import Final

import click

from detent.surfaces.cli import main

OPERATORS: Final = frozenset("();<>|&")
INSIDE: Final = re.compile(r"\$\((?P<line>[^)]*)\)")


def calls_in(script: str) -> Iterator[list[str]]:
    """The arguments of every call, also within a pipe, a list, or `$(…)`."""
    for line in script.replace("\\\n", " ").splitlines():
        for found in INSIDE.finditer(line):
            yield from calls_in(found["line"])
        for is_operator, words in groupby(_words(line), key=OPERATORS.issuperset):
            command = [] if is_operator else list(words)
            at = next((number for number, word in enumerate(command, 1) if word.split("/")[-1] == "detent"), None)
            if at is not None:
                yield command[at:]


def _words(line: str) -> Iterator[str]:
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    return iter(words)


def misuse(arguments: list[str]) -> str | None:
    """What `detent` would object to: a command or an option that it does not have, or a value it cannot read."""
    command: click.Command = main
    rest = list(arguments)
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        name = rest.pop(0)
        if name not in command.commands:
            return f"there is no command '{name}'"
        command = command.commands[name]
    try:
        command.make_context("detent", rest)
    except click.UsageError as error:
        return error.format_message()
    except click.exceptions.Exit:  # --help and --version end here
        return None
    return None
