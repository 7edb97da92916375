"""How a demo is watched: drawn on a terminal, logged in a pipe, and with --json logged on stderr."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.live import Live

from detent.surfaces.cli.chatter import remark
from detent.surfaces.cli.demo.log import Log
from detent.surfaces.cli.demo.stage import Stage
from detent.surfaces.cli.demo.view import View
from detent.surfaces.cli.output import Screen, say, screen

Show = Callable[[Stage], None]


@contextmanager
def displayed(*, as_json: bool) -> Iterator[Show]:
    """What shows the stage as it is, whenever it is called."""
    terminal = screen()
    if as_json:
        yield Log(remark).show
    elif terminal.is_terminal and not terminal.is_dumb_terminal:
        with _drawn(terminal) as show:
            yield show
    else:
        yield Log(say).show


@contextmanager
def _drawn(terminal: Screen) -> Iterator[Show]:
    """The last picture stays on the screen. Nothing else writes meanwhile, so nothing has to be redirected."""
    with Live(console=terminal, auto_refresh=False, redirect_stdout=False, redirect_stderr=False) as live:
        yield lambda stage: live.update(View(stage), refresh=True)


def introduce(lines: list[str], *, as_json: bool) -> None:
    for line in lines:
        remark(line) if as_json else say(line)
