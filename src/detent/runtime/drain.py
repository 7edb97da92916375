"""Shutting down: claim no more, let handlers finish within the grace, tell the rest to stop, and give them back."""

import asyncio
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Final

from detent.runtime.lane import Lane
from detent.runtime.observing import Observer
from detent.runtime.run import Key, Run
from detent.runtime.settings import Settings
from detent.runtime.stopping import stop

if TYPE_CHECKING:
    from detent.runtime.claimer import Claimer
    from detent.runtime.committer import Committer
    from detent.runtime.outcomes import Outcomes

LAST_WORD_S: Final = 1.0  # for handlers that are told to stop, before they are stopped
GIVE_UP_S: Final = 10.0  # for the store to take back what is given back; time takes it back later


class Drain:
    def __init__(self, live: dict[Key, Run], settings: Settings, observer: Observer) -> None:
        self._live = live
        self._grace_s = settings.grace_s
        self._observer = observer
        self._begun = asyncio.Event()
        self._hurried = asyncio.Event()
        self._empty = asyncio.Event()

    @property
    def is_begun(self) -> bool:
        return self._begun.is_set()

    def begin(self) -> None:
        self._begun.set()

    def hurry(self) -> None:
        self._begun.set()
        self._hurried.set()

    @contextmanager
    def listening(self, signals: Iterable[int]) -> Iterator[None]:
        """The first signal begins it, the second hurries it."""
        loop, listed = asyncio.get_running_loop(), tuple(signals)
        for each in listed:
            loop.add_signal_handler(each, lambda: self.hurry() if self.is_begun else self.begin())
        try:
            yield
        finally:
            for each in listed:
                loop.remove_signal_handler(each)

    async def asked_for(self, duties: "list[asyncio.Task[None]]") -> None:
        """Wait until it is; or until a duty ends, which only a bug, or a retention that is off, brings about."""
        begun = asyncio.create_task(self._begun.wait())
        waiting: set[asyncio.Task[object]] = {begun, *duties}
        try:
            while not begun.done():
                done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
                for each in done:
                    each.result()
        finally:
            begun.cancel()

    async def carry_out(
        self, claimers: "Mapping[Lane, Claimer]", lanes: Iterable[Lane], outcomes: "Outcomes", committer: "Committer"
    ) -> None:
        self._begun.set()
        outcomes.on_empty = self._empty.set
        for claimer in claimers.values():
            await claimer.stopped()
        for lane in lanes:
            lane.begin(outcomes.give_back(lane.withdraw()))
        await self._emptied(self._grace_s)
        self._stop_all(0.0 if self._hurried.is_set() else LAST_WORD_S)
        await self._emptied(LAST_WORD_S)
        self._stop_all(0.0)
        await self._emptied(GIVE_UP_S, can_be_hurried=False)
        await committer.drained(GIVE_UP_S)

    def _stop_all(self, after_s: float) -> None:
        """Whatever they were told before, they are not waited for any longer."""
        kill_s = monotonic() + after_s
        for run in list(self._live.values()):
            if stop(run, "leaving", kill_s=kill_s):
                self._observer.stopping(run, "leaving")
            run.kill_s = min(run.kill_s, kill_s)

    async def _emptied(self, within_s: float, *, can_be_hurried: bool = True) -> None:
        if not self._live or (can_be_hurried and self._hurried.is_set()):
            return
        self._empty.clear()
        events = [self._empty, self._hurried] if can_be_hurried else [self._empty]
        waiting = [asyncio.create_task(event.wait()) for event in events]
        await asyncio.wait(waiting, timeout=within_s, return_when=asyncio.FIRST_COMPLETED)
        for each in waiting:
            each.cancel()
