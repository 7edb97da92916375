"""The demo in a pipe: a line for everything worth telling, and every two seconds one on how far it has come."""

from collections.abc import Callable
from math import inf
from typing import Final

from detent.surfaces.cli.demo.stage import Stage

EVERY_S: Final = 2.0


class Log:
    """`write` takes a whole line."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._told = 0
        self._next_s: float = EVERY_S

    def show(self, stage: Stage) -> None:
        for item in stage.news.items[self._told :]:
            self._line(item.at_s, item.text)
        self._told = len(stage.news.items)
        if stage.elapsed_s >= self._next_s or (stage.is_over and self._next_s < inf):
            self._next_s = inf if stage.is_over else stage.elapsed_s + EVERY_S
            self._line(stage.elapsed_s, progress(stage))

    def _line(self, at_s: float, text: str) -> None:
        self._write(f"{at_s:5.1f} s  {text}")


def progress(stage: Stage) -> str:
    tally = stage.tally
    under_way, waiting = tally.in_phase("held", "active"), tally.in_phase("ready", "parked")
    ended = f"{tally.ended} of {len(stage.script)} jobs ended"
    return f"── {ended}, {under_way} under way, {waiting} waiting; {tally.moves:,} moves, {stage.moves_per_s:,.0f}/s"
