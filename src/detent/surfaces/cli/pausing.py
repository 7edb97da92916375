"""What queues and schedules have in common at the shell: both can be paused, and both are named."""

from collections.abc import Callable
from datetime import datetime
from typing import Final, Protocol

import click
from rich.text import Text

from detent.client import SyncClient
from detent.errors import DetentError
from detent.surfaces.cli.opening import opened
from detent.surfaces.cli.output import clean
from detent.surfaces.cli.times import relative

PAUSED: Final = "yellow"
Complete = Callable[[click.Context, click.Parameter, str], list[str]]


class Pausable(Protocol):
    """Something that may be paused: since when, by whom and why."""

    @property
    def paused_at(self) -> datetime | None: ...

    @property
    def paused_by(self) -> str | None: ...

    @property
    def paused_reason(self) -> str | None: ...


def told(what: Pausable, now: datetime) -> str:
    """`3 min ago by ann: the scanner is away`; nothing, if it is not paused."""
    if what.paused_at is None:
        return ""
    why = f": {what.paused_reason}" if what.paused_reason else ""
    return clean(f"{relative(what.paused_at, now)} by {what.paused_by}{why}")


def state_of(what: Pausable, otherwise: str) -> Text:
    return Text("paused", style=PAUSED) if what.paused_at is not None else Text(otherwise, style="green")


def completing(names: Callable[[SyncClient], list[str]]) -> Complete:
    """Names that the store knows. A shell that completes must never be shown an error."""

    def complete(ctx: click.Context, _parameter: click.Parameter, typed: str) -> list[str]:
        try:
            with opened(ctx.params.get("url"), ctx.params.get("tenant") or "default") as client:
                return [name for name in names(client) if name.startswith(typed)]
        except DetentError:
            return []

    return complete
