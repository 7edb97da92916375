"""The trial: an app on a throwaway store, a clock that the test moves, and a worker that runs what is due, in order."""

from collections.abc import Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Any, Final, Literal, Self

from detent.app import App, JobHandle
from detent.app.twins import twin
from detent.client import SyncClient
from detent.client.addresses import store_of
from detent.client.awaiting import LOOK_S
from detent.errors import InvalidArgument
from detent.kernel.clock import micros
from detent.lifecycle.bounds import check_at_least
from detent.store import Store
from detent.store.waiting import sleep
from detent.testing.trial.clock import TrialClock
from detent.testing.trial.crew import Crew
from detent.testing.trial.expecting import Expecting, Kind, kind_of
from detent.testing.trial.lingering import lingering
from detent.testing.trial.loops import anywhere
from detent.testing.trial.mishaps import Mishap, Mishaps, error_of
from detent.testing.trial.played import Played
from detent.testing.trial.stuck import Stuck

Until = Literal["due", "idle"] | JobHandle[Any]
ATTEMPTS_MAX: Final = 10_000  # in one drain; then it is taken for a job that makes itself again
TURN_S: Final = 0.001


class Trial(Expecting):
    """Enter it with `with`; inside, the app's jobs are made on the store at `url`, which should be empty.

    At the end the store must verify clean, and every mishap must have come to pass.
    """

    def __init__(self, app: App, url: str) -> None:
        self.app = app
        self.url = url
        self.clock = TrialClock()
        self._mishaps = Mishaps()
        self._crew = Crew(app, self.clock, self._mishaps)
        self._stack = ExitStack()
        self.clock.attend, self.clock.next_at = self._crew.attend, self._crew.next_renewal
        self.clock.leave = lambda: anywhere(self._crew.bring())

    def __enter__(self) -> Self:
        self._stack.enter_context(self.app.on_store(self._new_store))
        self._stack.callback(lambda: anywhere(self.app.aclose()))
        self._stack.callback(self._crew.close)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._stack:
            if kind is None:
                self.verify()
                self._mishaps.check()

    @property
    def client(self) -> SyncClient:
        """The app's own, with blocking verbs; on an event loop use `await jobs.app.aclient()`."""
        return SyncClient(anywhere(self.app.aclient()))

    def verify(self) -> None:
        """Hold every record against its log and every move against its lifecycle."""
        report = anywhere(self.client.client.verify(all_tenants=True))
        if not report.is_clean:
            found = "\n".join(f"  {each}" for each in report.violations)
            raise AssertionError(f"the store does not verify:\n{found}")

    # -- running what is due

    async def adrain(self, until: Until = "due", *, queues: Sequence[str] | None = None) -> list[Played]:
        """Run what is due, one attempt after the other, until nothing is; what was done is returned.

        "due": the clock stands still. "idle": it moves on to whatever comes due next, until nothing will. A handle: the
        same, until that job has ended. `queues`: those alone.
        """
        if not isinstance(until, JobHandle) and until not in ("due", "idle"):
            raise InvalidArgument(f"until is {until!r}; give 'due', 'idle' or a handle")
        begun = len(self._crew.played)
        while not await _is_over(until):
            if not await self._crew.step(queues) and (until == "due" or not await self._moved_on(until)):
                break
            if len(self._crew.played) - begun > ATTEMPTS_MAX:
                last = self._crew.played[-1]
                raise Stuck(f"{ATTEMPTS_MAX:,} attempts in one drain, and no end of it; the last was {last}")
        return self._crew.played[begun:]

    async def arun_for(self, seconds: float, *, queues: Sequence[str] | None = None) -> list[Played]:
        """Let time pass, and run whatever comes due at its moment: retries, delays, leases that end, ticks of cron."""
        check_at_least("seconds", seconds, 0)
        until, begun = self.clock() + micros(seconds), len(self._crew.played)
        await self.adrain(queues=queues)
        while self.clock() < until:
            self.clock.advance_to(min(await self._crew.next_at(calendar=True) or until, until))
            await self.adrain(queues=queues)
        return self._crew.played[begun:]

    drain = twin(adrain)
    run_for = twin(arun_for)

    # -- what is to go wrong

    def failing(
        self,
        job: Kind,
        *,
        times: int = 1,
        error: BaseException | type[BaseException] | None = None,
        after: bool = False,
    ) -> Mishap:
        """The next attempts at this job fail with `error`, a `TransientError` if there is none.

        The function is not called; with `after` it is, and what it returned is lost.
        """
        return self._mishaps.arm(Mishap(kind_of(job), "fail", times=times, after=after, error=error_of(error)))

    def crashing(self, job: Kind, *, times: int = 1, after: bool = False) -> Mishap:
        """The worker dies in the next attempts at this job; it lies there until its lease is over.

        The function is not called; with `after` it is, and what it returned is lost.
        """
        return self._mishaps.arm(Mishap(kind_of(job), "crash", times=times, after=after))

    def cancelling(self, job: Kind, *, times: int = 1, mode: Literal["soft", "hard"] = "soft") -> Mishap:
        """Somebody cancels this job just when it has begun to run."""
        return self._mishaps.arm(Mishap(kind_of(job), "cancel", times=times, mode=mode))

    # -- inside

    async def _moved_on(self, until: Until) -> bool:
        """To the next moment at which something comes due. For a job that never will there is no use in waiting."""
        at = await self._crew.next_at()
        if at is not None:
            self.clock.advance_to(at)
        elif isinstance(until, JobHandle):
            state = (await until.ajob()).state
            raise Stuck(f"job {until.id} is '{state}', and nothing is due any more; see jobs.client.explain(…)")
        return at is not None

    async def _linger(self, timeout_s: float) -> None:
        """Somebody waits for a job, in a handler or in the test. Time goes on for the others meanwhile."""
        if self._crew.is_stepping:
            await sleep(TURN_S)  # another who waits lets the trial go on
        elif not await self._crew.step() and not await self._moved_on("idle"):
            if self._crew.depth or timeout_s >= LOOK_S:
                raise Stuck("somebody waits for a job, and nothing is due any more, now or later")
            await sleep(timeout_s)

    def _new_store(self) -> Store:
        return lingering(store_of(self.url, {}, clock=self.clock, random=_no_jitter), self._linger)


async def _is_over(until: Until) -> bool:
    return isinstance(until, JobHandle) and (await until.ajob()).is_ended


def _no_jitter() -> float:
    """Retries come due after exactly as long as their policy says."""
    return 1.0
