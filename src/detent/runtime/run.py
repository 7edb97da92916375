"""One attempt in the hands of this worker: its job, its lease on our own clock, and what its handler left behind.

A plain class: thousands come and go each second. Threads share it without a lock. Each field has one writer, named
below, or is one that may be written twice with the same meaning.
"""

from math import inf
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from detent import kernel
from detent.kernel.job import Progress

if TYPE_CHECKING:
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
    __slots__ = (
        "attempt", "began_s", "carrier", "checkpoint", "deadline_s", "handler", "is_completing", "is_ending",
        "is_killed", "is_over", "is_renewing", "is_told_lost", "job", "kill_s", "lane", "lease_until_s",
        "over_for_sure_s", "parked", "progress", "progress_told_s", "renew_s", "rev", "stop", "ways",
    )  # fmt: skip

    def __init__(
        self, job: kernel.Job, handler: "Handler", ways: "Ways", lane: "Lane", *, sent_s: float, heard_s: float
    ) -> None:
        self.job = job
        self.handler = handler
        self.ways = ways
        self.lane = lane
        self.attempt = job.attempt
        self.rev = job.rev
        self.began_s = heard_s
        self.deadline_s = inf if job.deadline_at is None else heard_s + (job.deadline_at - job.updated_at) / 1e6
        self.hold(sent_s, heard_s)
        self.stop: Stop | None = None  # why its handler has to stop
        self.kill_s = inf  # when it is stopped the hard way
        self.is_killed = False  # that was done
        self.is_over = False  # its handler came to an end, or is waited for no longer; loop only
        self.is_ending = False  # the end is on its way to the store; loop only
        self.is_told_lost = False  # the store itself said that the lease is gone
        self.is_completing = False  # the handler completed it in a transaction of its own
        self.is_renewing = False  # set by the keeper, reset on the loop; only where a revision is demanded
        self.parked: list[Command] | None = None  # waits for the renewal; loop only
        self.checkpoint: bytes | None = None  # saved, not written yet
        self.progress: Progress | None = None  # told, not written yet
        self.progress_told_s = -inf
        self.carrier: Any = None  # what carries it out: a task, a thread, a child

    @property
    def key(self) -> Key:
        return self.job.spec.id, self.attempt

    def hold(self, sent_s: float, heard_s: float) -> None:
        """The lease was taken or extended between these two moments of our clock, which knows no more than that.

        It surely lasts until so long after the first, and surely not beyond so long after the second.
        """
        policy = self.job.spec.policy
        lease_s = self.job.lease_s or policy.lease_s
        lasts_s = min(lease_s, 2 * policy.heartbeat_s)  # two heartbeats missed and it is anybody's
        self.lease_until_s = sent_s + lasts_s
        self.over_for_sure_s = heard_s + lease_s
        self.renew_s = sent_s + min(policy.heartbeat_s, lease_s / 2)

    @property
    def margin_s(self) -> float:
        policy = self.job.spec.policy
        return min(MARGIN_MAX_S, min(self.job.lease_s or policy.lease_s, 2 * policy.heartbeat_s) * MARGIN_SHARE)

    @property
    def is_lease_ending(self) -> bool:
        return monotonic() >= self.lease_until_s - self.margin_s

    @property
    def is_surely_lost(self) -> bool:
        """Whether the store would refuse whatever is said of it now."""
        return self.is_told_lost or monotonic() >= self.over_for_sure_s

    def __repr__(self) -> str:
        return f"<Run of {self.handler.kind} {self.job.spec.id} attempt={self.attempt}>"
