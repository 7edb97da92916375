"""Why a handler has to stop: what it is told, and when it is stopped if it does not listen.

A stop is soft first: `ctx.check()` raises. When its time is over it is hard, in the way of the handler's isolation: a
task is cancelled, a thread abandoned, a process killed. What is recorded follows from the reason (`ending.py`).
"""

from typing import Final, Literal

from msgspec import Struct

from detent.errors import Cancelled, LeaseLost, Stopped
from detent.runtime.run import Run

Reason = Literal["leaving", "cancel", "overtime", "lost", "cancelled"]
# A later one takes the place of an earlier one: it leaves less to be said by this worker.
_ORDER: Final[tuple[Reason, ...]] = ("leaving", "cancel", "overtime", "lost", "cancelled")
_TOLD: Final[dict[Reason, tuple[type[Stopped], str]]] = {
    "leaving": (Stopped, "the worker is shutting down; what you have saved goes to the next attempt"),
    "cancel": (Cancelled, "the job is to be cancelled; save what the next one needs, and stop"),
    "overtime": (Stopped, "the job's time limit is over"),
    "lost": (LeaseLost, "the lease is lost; another worker may have the job, so change nothing for it any more"),
    "cancelled": (Cancelled, "the job was cancelled"),
}


class Stop(Struct, frozen=True):
    reason: Reason
    message: str

    def error(self) -> Stopped:
        """A new one each time: a traceback belongs to one raise."""
        return _TOLD[self.reason][0](self.message)


def stop(run: Run, reason: Reason, *, kill_s: float) -> bool:
    """Tell the handler, and have it stopped at a moment of our clock. Whether it was news; from any thread."""
    known = run.stop
    if run.is_over or (known is not None and _ORDER.index(known.reason) >= _ORDER.index(reason)):
        return False
    run.kill_s = min(kill_s, run.kill_s)
    run.stop = stopped = Stop(reason, f"job {run.job.spec.id}, attempt {run.attempt}: {_TOLD[reason][1]}")
    run.lane.tell(run, stopped)
    return True
