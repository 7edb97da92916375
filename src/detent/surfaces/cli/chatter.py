"""What goes to stderr: remarks, questions, and how far along something is. Never data."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import Final

import click
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.text import Text

from detent.surfaces.cli.output import Screen, clean, screen

PATIENCE_S: Final = 1.0  # what takes no longer needs no bar


def remark(line: str) -> None:
    """Nothing, once the reader of the output has left: whoever takes `| head -1` wants no advice."""
    if Screen.is_gone:
        return
    screen(stderr=True).print(Text(clean(line), style="dim"), soft_wrap=True)


def confirm(question: str, *, yes: bool) -> None:
    """Ask a person. A script is not asked: it has to say --yes."""
    if yes:
        return
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise click.UsageError(
            f"{question} Nobody is at a terminal to say so: pass --yes, or look first with --dry-run."
        )
    if not click.confirm(question, err=True):
        raise click.Abort


class Watch:
    """A bar with a rate, once something takes longer than a second; nothing at all where stderr is no terminal."""

    def __init__(self, what: str, total: int | None) -> None:
        self._begun_s = monotonic()
        self._done = 0
        rate = TextColumn("{task.fields[rate]}")
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), rate)
        self._bar = Progress(*columns, TimeElapsedColumn(), console=screen(stderr=True), transient=True)
        self._task = self._bar.add_task(what, total=total, rate="")
        self._is_shown = False

    def reach(self, done: int) -> None:
        self._done = done
        taken_s = monotonic() - self._begun_s
        if taken_s < PATIENCE_S or not sys.stderr.isatty():
            return
        if not self._is_shown:
            self._is_shown = True
            self._bar.start()
        self._bar.update(self._task, completed=done, rate=f"{done / taken_s:,.0f}/s")

    def step(self, by: int = 1) -> None:
        self.reach(self._done + by)

    def close(self) -> None:
        if self._is_shown:
            self._bar.stop()


@contextmanager
def watched(what: str, *, total: int | None = None) -> Iterator[Watch]:
    watch = Watch(what, total)
    try:
        yield watch
    finally:
        watch.close()
