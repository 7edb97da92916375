"""Where the command line finds a lifecycle: among those that ship, in a user's own file, or in a store."""

from pathlib import Path
from typing import Final

import click
from click.core import ParameterSource

from detent.client.scope import DEFAULT_TENANT
from detent.errors import LifecycleError, NotFound, StoreError
from detent.lifecycle import Lifecycle, from_toml
from detent.lifecycles import BUILT_IN
from detent.surfaces.cli.failure import Failure, Missing, guess, unsound
from detent.surfaces.cli.opening import opened

FILE_SUFFIX: Final = ".toml"


def find(name: str, url: str | None = None) -> Lifecycle:
    if name.endswith(FILE_SUFFIX):
        return read(name)
    if name in BUILT_IN:
        return BUILT_IN[name]
    known = {each.name: each for each in known_at(url)}
    if name not in known:
        raise NotFound(f"there is no lifecycle '{name}'.{guess(name, known)} See: detent lifecycle list")
    return known[name]


def known_at(url: str | None) -> list[Lifecycle]:
    """Those that ship, then those that a store keeps besides, the latest version of each. No store: none besides."""
    return [*BUILT_IN.values(), *(each for each in _kept(url) if each.name not in BUILT_IN)]


def _kept(url: str | None) -> list[Lifecycle]:
    try:
        with opened(url, DEFAULT_TENANT) as client:
            kept = client.lifecycles()
    except StoreError as error:
        if error.code == "store_missing" and not _is_named():
            return []
        raise
    latest = {each.name: each for each in sorted(kept, key=lambda each: each.version)}
    return [latest[name] for name in sorted(latest)]


def _is_named() -> bool:
    """Whether somebody has just said that there is a store. What the environment names may not be made yet."""
    context = click.get_current_context(silent=True)
    return context is not None and context.get_parameter_source("url") is ParameterSource.COMMANDLINE


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
