"""The options that commands share, and what can be written in them."""

import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, TypeVar

import click
import msgspec

from detent.surfaces.cli.times import instant_of, moment_of, seconds_of
from detent.wire.dispatch import PRIORITIES

Function = TypeVar("Function", bound=Callable[..., Any])
JSON_ASKED: Final = "detent.json"
WRITTEN: Final = "detent.written"


class Seconds(click.ParamType[float]):
    """A length of time."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        seconds = float(value) if isinstance(value, int | float) else seconds_of(value)
        if seconds is None:
            self.fail(f"'{value}' is no length of time; write 90s, 15m, 2h or 7d.", param, ctx)
        return seconds


class Moment(click.ParamType[datetime]):
    """A point in time, or how long ago."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        moment = value if isinstance(value, datetime) else moment_of(value, datetime.now(UTC))
        if moment is None:
            self.fail(f"'{value}' is no time; write 2026-11-16T08:30:00Z, or 15m for 15 minutes ago.", param, ctx)
        if param is not None and ctx is not None:
            ctx.meta.setdefault(WRITTEN, {})[param.name] = value  # to say it again as it was said
        return moment


class Instant(click.ParamType[datetime]):
    """A point in time. How long ago would be an odd way to say when something is to come."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        moment = value if isinstance(value, datetime) else instant_of(value)
        if moment is None:
            self.fail(f"'{value}' is no time; write 2026-11-16T08:30:00Z, or use --delay 15m.", param, ctx)
        return moment


class JsonValue(click.ParamType[Any]):
    """JSON on the command line, in a file (`@order.json`), or on stdin (`-`)."""

    name = "json"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        text = self._text(value, param, ctx)
        try:
            return msgspec.json.decode(text)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as wrong:
            self.fail(f"{_shown(value)} is not JSON ({wrong}). Strings want quotes: '\"text\"'.", param, ctx)

    def _text(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> bytes:
        if value == "-":
            return bytes(sys.stdin.buffer.read())
        if not value.startswith("@"):
            return value.encode("utf-8", "surrogateescape")
        try:
            return Path(value[1:]).read_bytes()
        except OSError as wrong:
            self.fail(f"'{value[1:]}' cannot be read: {wrong.strerror}.", param, ctx)


class Priority(click.ParamType[int]):
    """A number, or one of the names that stand for one."""

    name = "priority"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        named = {str(name): number for name, number in PRIORITIES.items()}
        try:
            return named[value] if value in named else int(value)
        except ValueError:
            self.fail(f"'{value}' is no priority; write a number, or one of {', '.join(named)}.", param, ctx)


class Assignment(click.ParamType[tuple[str, str]]):
    """`NAME=VALUE`."""

    name = "name=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        name, equals, text = value.partition("=") if isinstance(value, str) else value
        if not name or not equals:
            self.fail(f"'{value}' has no name and value; write NAME=VALUE.", param, ctx)
        return name, text


def _shown(value: str) -> str:
    return f"'{value}'" if len(value) <= 60 else f"'{value[:60]}…'"


def _note_json(ctx: click.Context, _param: click.Parameter, asked: bool) -> bool:
    """Remembered for errors, which then are JSON too."""
    ctx.find_root().meta[JSON_ASKED] = asked
    return asked


JSON: Final = click.option("--json", "as_json", is_flag=True, callback=_note_json, help="Print JSON instead.")
YES: Final = click.option("--yes", "-y", is_flag=True, help="Do not ask.")
DRY_RUN: Final = click.option("--dry-run", is_flag=True, help="Only say how many it would be.")
URL: Final = click.option(
    "--url", envvar="DETENT_URL", metavar="URL", help="The store: $DETENT_URL, else sqlite:///detent.db."
)
TENANT: Final = click.option(
    "--tenant", envvar="DETENT_TENANT", default="default", show_default=True, metavar="NAME", help="Whose jobs."
)


def store_options(function: Function) -> Function:
    """`--url` and `--tenant`, for commands that open a store."""
    return URL(TENANT(function))
