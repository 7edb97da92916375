"""Where handlers run, one lane for each isolation: what the worker asks of it."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from detent.runtime.faults import Fault
    from detent.runtime.run import Run
    from detent.runtime.stopping import Stop

# How a lane reports that a handler came to its end: with what it returned, or with what it raised. On the loop.
Ended = Callable[["Run", Any, "Fault | None"], None]


class Lane(Protocol):
    """All of it is called on the event loop, but for `tell` and `kill`, which any thread may call."""

    @property
    def room(self) -> int:
        """How many more it can run now."""

    async def open(self) -> None: ...

    async def close(self) -> None:
        """End what serves it. Whatever still runs is left to itself, or killed if it can be."""

    def begin(self, runs: Iterable["Run"]) -> None:
        """Run these, each in a slot of its own, at once."""

    def withdraw(self) -> list["Run"]:
        """Those that have not begun after all; they will not."""

    def tell(self, run: "Run", stop: "Stop") -> None:
        """Let the handler know that it is to stop. Where it shares our memory it knows already."""

    def kill(self, run: "Run") -> None:
        """Stop the handler, whether it listens or not."""

    def at_work(self) -> str:
        """Which handlers have the interpreter now, as far as can be told; for a report."""
