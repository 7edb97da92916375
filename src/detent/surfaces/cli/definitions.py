"""Where the command line finds a lifecycle: among those that ship, or in a user's own file."""

from pathlib import Path
from typing import Final

import click

from detent.errors import LifecycleError, NotFound
from detent.lifecycle import Lifecycle, from_toml
from detent.lifecycles import BUILT_IN
from detent.surfaces.cli.failure import Failure, Missing, guess, unsound

FILE_SUFFIX: Final = ".toml"


def find(name: str) -> Lifecycle:
    if name.endswith(FILE_SUFFIX):
        return read(name)
    if name not in BUILT_IN:
        raise NotFound(f"there is no lifecycle '{name}'.{guess(name, BUILT_IN)} See: detent lifecycle list")
    return BUILT_IN[name]


def read(path: str) -> Lifecycle:
    try:
        return from_toml(Path(path).read_text(encoding="utf-8"))
    except LifecycleError as error:
        raise unsound(path, error) from error
    except FileNotFoundError as error:
        raise Missing(f"there is no file '{path}'. Give the path of a TOML file that declares a lifecycle") from error
    except OSError as error:
        raise Failure(f"'{path}' cannot be read: {error.strerror}. Give a file that you may read") from error
    except UnicodeDecodeError as error:
        raise Failure(f"'{path}' is not text in UTF-8. Save it as UTF-8 and try again") from error


def complete_name(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
    return [name for name in BUILT_IN if name.startswith(typed)]
