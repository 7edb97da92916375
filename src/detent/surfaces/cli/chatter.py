"""What goes to stderr: remarks, questions, and how far along something is. Never data."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from time import monotonic
from typing import Final

import click
from rich.console import RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)
from rich.text import Text

from detent.surfaces.cli.failure import Failure
from detent.surfaces.cli.output import Screen, clean, rendered, screen

PATIENCE_S: Final = 1.0  # what takes no longer needs no bar
_WHAT: Final = TextColumn("{task.description}", markup=False)
_TOLD: Final = TextColumn("{task.fields[told]}", markup=False)


def remark(line: str) -> None:
    """Nothing, once the reader of the output has left: whoever takes `| head -1` wants no advice."""
    if Screen.is_gone:
        return
    screen(stderr=True).print(Text(clean(line), style="dim"), soft_wrap=True)


def tell(what: RenderableType) -> None:
    """More than a line."""
    click.echo(rendered(screen(stderr=True), what), nl=False, err=True)


def confirm(question: str, *, yes: bool) -> None:
    """Ask a person. A script is not asked: it has to say --yes."""
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError(
            f"{question} Nobody is at a terminal to say so: pass --yes, or look first with --dry-run."
        )
    if not click.confirm(question, err=True):
        raise Failure("nothing was done, as you said")


class Progressing:
    """Something on stderr that lasts longer than a second; nothing at all where that is no terminal."""

    def __init__(self, what: str, *columns: ProgressColumn, total: int | None = None) -> None:
        self._begun_s = monotonic()
        console = screen(stderr=True)
        self._bar = Progress(SpinnerColumn(), *columns, TimeElapsedColumn(), console=console, transient=True)
        self._task = self._bar.add_task(what, total=total, told="")
        self._is_shown = False

    def close(self) -> None:
        if self._is_shown:
            self._bar.stop()

    def _show(self, told: Callable[[float], str], **progress: int) -> None:
        taken_s = monotonic() - self._begun_s
        if taken_s < PATIENCE_S or not sys.stderr.isatty():
            return
        if not self._is_shown:
            self._is_shown = True
            self._bar.start()
        self._bar.update(self._task, told=told(taken_s), **progress)  # type: ignore[arg-type]  # fields and columns


class Watch(Progressing):
    """A bar with a rate."""

    def __init__(self, what: str, total: int | None) -> None:
        super().__init__(what, _WHAT, BarColumn(), MofNCompleteColumn(), _TOLD, total=total)
        self._done = 0

    def reach(self, done: int) -> None:
        self._done = done
        self._show(lambda taken_s: f"{done / taken_s:,.0f}/s", completed=done)

    def step(self, by: int = 1) -> None:
        self.reach(self._done + by)


class Status(Progressing):
    """A line that says how things are while one waits."""

    def __init__(self, what: str) -> None:
        super().__init__(what, _WHAT, _TOLD)

    def tell(self, how: str) -> None:
        self._show(lambda _: how)


@contextmanager
def watched(what: str, *, total: int | None = None) -> Iterator[Watch]:
    with closing(Watch(what, total)) as watch:
        yield watch


@contextmanager
def waited(what: str) -> Iterator[Status]:
    with closing(Status(what)) as status:
        yield status
