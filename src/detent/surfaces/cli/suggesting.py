"""What to type next, as it has to be typed: started as this command was, and on the same store."""

import shlex
import sys
from pathlib import Path
from shutil import which
from typing import Final

import click
from click.core import ParameterSource

import detent

NAME: Final = "detent"


def suggested(command: str, *, tenant: bool = True) -> str:
    """`job cancel 42` becomes `detent job cancel 42 --url …`, if the store was named by an option.

    `tenant`: whether that command has a tenant, too.
    """
    return f"{program()} {command}{_where(('url', 'tenant') if tenant else ('url',))}"


def program() -> str:
    """How this command was started, so that the next one starts likewise."""
    called = sys.argv[0]
    if Path(called).resolve() == Path(detent.__file__).parent / "__main__.py":
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
    return "".join(f" --{name} {shlex.quote(context.params[name])}" for name in given)
