"""One attempt in the hands of this worker: its job, its lease on our own clock, and what its handler left behind.

A plain class: thousands come and go each second. Threads share it without a lock. Each field has one writer, named
below, or is one that may be written twice with the same meaning.
"""

from functools import lru_cache
from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from detent import kernel
from detent.kernel.job import Progress

if TYPE_CHECKING:
    from opentelemetry.trace import Span

    from detent.kernel.command import Command
    from detent.runtime.handler import Handler
    from detent.runtime.lane import Lane
    from detent.runtime.stopping import Stop
    from detent.runtime.ways import Ways

# Before a lease ends on our clock, its handler is told; halfway from then to the end it is stopped.
MARGIN_MAX_S: Final = 1.0
MARGIN_SHARE: Final = 0.2

Key = tuple[str, int]  # job id and attempt: the fence


class Run:
    # What a run begins with: only what comes to differ is kept for each.
    stop: "Stop | None" = None  # why its handler has to stop
    kill_s = inf  # when it is stopped the hard way
    deadline_s = inf  # when its time is over
    is_killed = False  # that was done
    is_over = False  # its handler came to an end, or is waited for no longer; loop only
    is_ending = False  # the end is on its way to the store; loop only
    is_told_lost = False  # the store itself said that the lease is gone
    is_completing = False  # the handler completed it in a transaction of its own
    is_renewing = False  # set by the keeper, reset on the loop; only where a revision is demanded
    parked: "list[Command] | None" = None  # waits for the renewal; loop only
    checkpoint: bytes | None = None  # saved, not written yet
    progress: Progress | None = None  # told, not written yet
    progress_told_s = -inf
    span: "Span | None" = None  # of the attempt, where somebody traces
    carrier: Any = None  # what carries it out: a task, a thread, a child

    def __init__(
        self, job: kernel.Job, handler: "Handler", ways: "Ways", lane: "Lane", *, sent_s: float, heard_s: float
    ) -> None:
        self.job = job
        self.handler = handler
        self.ways = ways
        self.lane = lane
        self.attempt = job.attempt
        self.key = (job.spec.id, job.attempt)
        self.rev = job.rev
        self.began_s = heard_s
        if job.deadline_at is not None:
            self.deadline_s = heard_s + (job.deadline_at - job.updated_at) / 1e6
        self.hold(sent_s, heard_s)

    def hold(self, sent_s: float, heard_s: float) -> None:
        """The lease was taken or extended between these two moments of our clock, which knows no more than that.

        It surely lasts until so long after the first, and surely not beyond so long after the second.
        """
        policy = self.job.spec.policy
        lease_s = self.job.lease_s or policy.lease_s
        lasts_s, given_up_s, renewed_s = _terms(lease_s, policy.heartbeat_s)
        self.lease_until_s = sent_s + lasts_s
        self.give_up_s = sent_s + given_up_s
        self.over_for_sure_s = heard_s + lease_s
        self.renew_s = sent_s + renewed_s

    @property
    def stop_by_s(self) -> float:
        """When a handler that was told of its lease's end has to be stopped: before it, with time to do so."""
        return (self.give_up_s + self.lease_until_s) / 2

    @property
    def is_surely_lost(self) -> bool:
        """Whether the store would refuse whatever is said of it now."""
        return self.is_told_lost or monotonic() >= self.over_for_sure_s

    def __repr__(self) -> str:
        return f"<Run of {self.handler.kind} {self.job.spec.id} attempt={self.attempt}>"


@lru_cache(256)
def _terms(lease_s: float, heartbeat_s: float) -> tuple[float, float, float]:
    """How long a lease lasts from when it was asked for; when it is given up before that; and when it is renewed."""
    lasts_s = min(lease_s, 2 * heartbeat_s)  # two heartbeats missed and it is anybody's
    return lasts_s, lasts_s - min(MARGIN_MAX_S, lasts_s * MARGIN_SHARE), min(heartbeat_s, lease_s / 2)
