"""What must not depend on the event loop: leases and time limits that end on our clock, hard stops, and stalls.

One thread looks at every run a few times a second: no timer for each of them.
"""

import sys
import threading
import traceback
from collections.abc import Mapping
from time import monotonic
from typing import Final

from detent.runtime.handler import Isolation
from detent.runtime.lane import Lane
from detent.runtime.observing import Observer
from detent.runtime.run import Key, Run
from detent.runtime.settings import Settings
from detent.runtime.stopping import LAST_WORD_S, Stopping

LOOK_S: Final = 0.05
BEAT_S: Final = 0.1


class Watchdog:
    """`beat` is called by the loop every so often, as long as it goes round."""

    def __init__(
        self,
        live: dict[Key, Run],
        lanes: Mapping[Isolation, Lane],
        *,
        settings: Settings,
        observer: Observer,
        stopping: Stopping,
    ) -> None:
        self._live = live
        self._lanes = lanes
        self._stall_s = settings.stall_s
        self._observer = observer
        self._stopping = stopping
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="detent-watchdog", daemon=True)
        self._loop_thread = threading.get_ident()
        self._beat_s = monotonic()
        self._is_stalled = False

    def open(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closed.set()
        if self._thread.is_alive():
            self._thread.join()

    def beat(self) -> None:
        self._beat_s = monotonic()

    def _run(self) -> None:
        looked_s = monotonic()
        while not self._closed.wait(LOOK_S):
            now_s = monotonic()
            self._watch_process(now_s - looked_s)
            self._watch_loop(now_s - self._beat_s)
            for run in list(self._live.values()):
                if not run.is_over:
                    self._watch(run, now_s)
            looked_s = now_s

    def _watch(self, run: Run, now_s: float) -> None:
        if now_s >= run.kill_s and not run.is_killed:
            run.is_killed = True
            run.lane.kill(run)
        if now_s >= run.give_up_s:
            self._stopping.stop(run, "lost", kill_s=max(run.stop_by_s, now_s + LAST_WORD_S))
        elif now_s >= run.deadline_s:
            self._stopping.stop(run, "overtime", kill_s=now_s)

    def _watch_process(self, for_s: float) -> None:
        """This thread waits for nothing but its turn. If it had none, somebody kept the interpreter, or stopped it.

        That the loop has not gone round either is no news then.
        """
        if for_s >= self._stall_s + LOOK_S:
            self._is_stalled = True
            since_s = monotonic() - for_s
            at_work = ", ".join(filter(None, [lane.at_work(since_s) for lane in self._lanes.values()]))
            self._observer.stalled(at_work or "the process as a whole", for_s, "")

    def _watch_loop(self, for_s: float) -> None:
        """Once when it is noticed, with the place; the next one only after the loop has gone round again."""
        if for_s < self._stall_s:
            self._is_stalled = False
        elif not self._is_stalled:
            self._is_stalled = True
            frame = sys._current_frames().get(self._loop_thread)
            stack = "" if frame is None else "".join(traceback.format_stack(frame)[-8:])
            on_loop = self._lanes["async"].at_work(self._beat_s) if "async" in self._lanes else ""
            self._observer.stalled(on_loop or "the worker itself", for_s, stack)
