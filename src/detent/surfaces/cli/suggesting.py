"""What to type next, as it has to be typed: started as this command was, and on the same store."""

import shlex
import sys
from pathlib import Path
from shutil import which
from typing import Final

import click
from click.core import ParameterSource

import detent
from detent.client.addresses import without_secrets
from detent.surfaces.cli.options import WRITTEN

NAME: Final = "detent"


def suggested(command: str, *names: str, tenant: bool = True) -> str:
    """`job cancel` and the job `42` become `detent job cancel 42 --url …`, if the store was named by an option.

    `names` are quoted here, and set apart where one could be taken for an option. `tenant`: whether that command has a
    tenant, too.
    """
    where = _where(("url", "tenant") if tenant else ("url",))
    quoted = "".join(f" {shlex.quote(name)}" for name in names)
    is_plain = not any(name.startswith("-") for name in names)
    return f"{program()} {command}{quoted}{where}" if is_plain else f"{program()} {command}{where} --{quoted}"


def repeated(*names: str) -> str:
    """The options of this command that are among `names`, as they were given: ` --kind invoice --ended-since 1h`."""
    context = click.get_current_context()
    written = context.meta.get(WRITTEN, {})
    options = {each.name: each.opts[-1] for each in context.command.params if each.name in names}
    given = [name for name in options if context.params.get(name) is not None]
    return "".join(f" {options[name]}{_value(written.get(name, context.params[name]))}" for name in given)


def _value(value: object) -> str:
    """With its option as one word, if it could be taken for an option itself."""
    quoted = shlex.quote(str(value))
    return f"={quoted}" if quoted.startswith("-") else f" {quoted}"


def program() -> str:
    """How this command was started, so that the next one starts likewise."""
    called = sys.argv[0]
    if Path(called).resolve() == Path(detent.__file__).resolve().parent / "__main__.py":
        return f"{shlex.quote(sys.executable)} -m {NAME}"
    found = which(NAME)
    is_on_path = found is not None and Path(found).resolve() == Path(called).resolve()
    return NAME if is_on_path or Path(called).name != NAME else shlex.quote(called)


def _where(names: tuple[str, ...]) -> str:
    """What comes from the environment, the next command finds there, too."""
    context = click.get_current_context(silent=True)
    if context is None:
        return ""
    given = [name for name in names if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]
    return "".join(f" --{name} {shlex.quote(without_secrets(context.params[name]))}" for name in given)
