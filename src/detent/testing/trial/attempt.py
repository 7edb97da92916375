"""A run whose time is the test's: as long as a handler may take on the host, its lease does not mind."""

from math import inf
from typing import TYPE_CHECKING, cast

from detent import kernel
from detent.kernel.clock import earliest, micros
from detent.runtime.handler import Handler
from detent.runtime.lane import Lane
from detent.runtime.run import Run
from detent.runtime.ways import Ways

if TYPE_CHECKING:
    from detent.runtime.stopping import Stop


class _Here:
    """Where handlers of a trial run. They share our memory, so they have `run.stop` before their eyes."""

    def tell(self, run: Run, stop: "Stop") -> None:
        """It knows already."""


_HERE = cast(Lane, _Here())  # nothing else is asked of it: a trial calls its handlers itself


class Attempt(Run):
    """`renew_at` is when the lease is to be extended, `kill_at` when the handler is stopped the hard way, if ever."""

    def __init__(self, job: kernel.Job, handler: Handler, ways: Ways, now: int) -> None:
        super().__init__(job, handler, ways, _HERE, sent_s=0, heard_s=0)
        self.began_at = now
        self.kept(job, now)

    def hold(self, sent_s: float, heard_s: float) -> None:
        """The host's clock ends nothing here."""
        self.lease_until_s = self.give_up_s = self.over_for_sure_s = self.renew_s = inf

    def kept(self, job: kernel.Job, now: int) -> None:
        """The store has just extended the lease."""
        policy = job.spec.policy
        self.renew_at = now + micros(min(policy.heartbeat_s, (job.lease_s or policy.lease_s) / 2))
        self.seen(job)

    def seen(self, job: kernel.Job) -> None:
        self.deadline_at = job.deadline_at
        self.kill_at = earliest(job.cancel_by, job.deadline_at)
