"""How a running service shows how it is: a line that changes, on a terminal."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

from rich.text import Text

from detent.surfaces.cli.numbers import counted
from detent.surfaces.cli.times import span
from detent.surfaces.cli.worker.status import LOOK_BACK_S, REFRESHES_PER_S, at_the_bottom

if TYPE_CHECKING:
    from detent.surfaces.http.serving import Look


class Line:
    """How things are, as one line."""

    def __init__(self, look: "Callable[[], Look]") -> None:
        self._look = look
        self._began_s = monotonic()
        self._seen: deque[tuple[float, int]] = deque(maxlen=round(LOOK_BACK_S * REFRESHES_PER_S))

    def shown(self) -> Text:
        look, now_s = self._look(), monotonic()
        self._seen.append((now_s, look.requests))
        head, style = ("closing", "yellow") if look.is_closing else ("serving", "green")
        parts = [
            counted(look.requests, "request"),
            f"{self._per_s():,.0f}/s",
            f"{counted(look.waiting, 'claim')} waiting" if look.waiting else "",
            counted(look.streams, "live reader") if look.streams else "",
            span(now_s - self._began_s),
        ]
        return Text.assemble((f"● {head}", style), "  ", " · ".join(part for part in parts if part))

    def _per_s(self) -> float:
        (first_s, before), (last_s, after) = self._seen[0], self._seen[-1]
        return (after - before) / (last_s - first_s) if last_s > first_s else 0.0


@contextmanager
def watched(look: "Callable[[], Look]") -> Iterator[None]:
    with at_the_bottom(Line(look).shown):
        yield
