"""Claims that wait for jobs. Who asks for the same stands in one line, and only the head of a line asks the store.

So many claimers cost as much as a few, and whoever came first is served first. A line is called when somebody is the
first to stand in it, when there is news of work, and now and then besides: jobs that become due by time bring no news.

A waiter that is cancelled leaves its line. If a claim is under way for it at that moment, the claim is carried out all
the same, and its jobs are in nobody's hands until their leases run out, unless the claim had a request id: whoever
repeats it with that gets them.
"""

import asyncio
from collections.abc import Awaitable, Callable, Hashable, Sequence
from typing import Any, Final, TypeVar

from detent.errors import DetentError, ServiceError, StoreError
from detent.runtime.backing_off import Backoff
from detent.runtime.duty import nudged_within
from detent.store.protocol import Store

POLL_S: Final = 0.25
NEWS_WAIT_S: Final = 30.0  # at a time
STOP_S: Final = 10.0  # for claims that are under way at the end
WAITERS_MAX: Final = 10_000
CLAIMS_MAX: Final = 8  # of lines at the same time: they take turns, however many lines there are
FUTILE_MIN: Final = 4  # times in a row that a line was called for nothing, before it waits a little
PAUSE_S: Final = 0.001
PAUSE_MAX_S: Final = 0.05

Taken = TypeVar("Taken")  # a job, in whatever form the caller wants it


class Waiter:
    """One who stands in a line. `is_over`: it takes what a claim under way brings, and waits for no other."""

    def __init__(self, claim: Callable[[], Awaitable[Sequence[Any]]]) -> None:
        self.claim = claim
        self.is_being_served = False
        self.is_over = False
        self.answer: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()

    def give(self, jobs: Sequence[Any]) -> None:
        if not self.answer.done():
            self.answer.set_result(list(jobs))

    def fail(self, error: Exception) -> None:
        if not self.answer.done():
            self.answer.set_exception(error)

    def dismiss(self) -> None:
        """It has waited long enough."""
        self.is_over = True
        if not self.is_being_served:
            self.give([])

    async def answered(self, wait_s: float) -> list[Any]:
        """A claim under way when the time is over is waited for: what it takes would lie in nobody's hands."""
        await asyncio.wait([self.answer], timeout=wait_s)
        self.dismiss()
        return await self.answer


class Line:
    """Of those who ask for the same, in the order in which they came."""

    def __init__(self, turns: asyncio.Semaphore, poll_s: float) -> None:
        self.waiters: dict[Waiter, None] = {}
        self.called = asyncio.Event()
        self._turns = turns
        self._poll_s = poll_s
        self._futile = 0

    def enter(self, waiter: Waiter) -> None:
        if not self.waiters:
            self.called.set()
            self._futile = 0
        self.waiters[waiter] = None

    def leave(self, waiter: Waiter) -> None:
        self.waiters.pop(waiter, None)

    async def run(self) -> None:
        """Until nobody stands in it."""
        while self.waiters:
            await nudged_within(self._poll_s, self.called)
            self._futile = self._futile + 1 if self.called.is_set() else 0
            await asyncio.sleep(self._pause_s())
            self.called.clear()  # before the claims, so that what is said from then on is not lost
            await self._serve()

    async def _serve(self) -> None:
        """From the head on, as long as there is something. Between two of them other lines have their turn."""
        while self.waiters:
            async with self._turns:
                waiter = next((each for each in self.waiters if not each.answer.done()), None)
                if waiter is None or not await self._has_luck(waiter):
                    return
            await asyncio.sleep(0)  # a store that answers at once would let nobody else come to the turnstile

    async def _has_luck(self, waiter: Waiter) -> bool:
        """Whether the next may have some as well."""
        waiter.is_being_served = True
        try:
            jobs = await waiter.claim()
        except Exception as error:  # whatever it is, it is the waiter's
            self.leave(waiter)
            waiter.fail(error)
            return not isinstance(error, StoreError)
        finally:
            waiter.is_being_served = False
        if jobs or waiter.is_over:
            self.leave(waiter)
            waiter.give(jobs)
        self._futile = 0 if jobs else self._futile
        return bool(jobs)

    def _pause_s(self) -> float:
        """It is told of what is not for this line as well: then it looks less and less often."""
        beyond = self._futile - FUTILE_MIN
        return 0.0 if beyond <= 0 else min(PAUSE_S * 2 ** min(beyond, 10), PAUSE_MAX_S)


class Lines:
    """All of a service. News is the store's, not a queue's, so one waits for it on behalf of all."""

    def __init__(
        self, store: Store, *, poll_s: float = POLL_S, waiters_max: int = WAITERS_MAX, claims_max: int = CLAIMS_MAX
    ) -> None:
        self._store = store
        self._poll_s = poll_s
        self._waiters_max = waiters_max
        self._turns = asyncio.Semaphore(claims_max)
        self._lines: dict[Hashable, Line] = {}
        self._runs: set[asyncio.Task[None]] = set()
        self._listening: asyncio.Task[None] | None = None
        self._seen: str | None = None
        self._is_closed = False
        self.waiters = 0

    async def claim(self, key: Hashable, claim: Callable[[], Awaitable[Sequence[Taken]]], wait_s: float) -> list[Taken]:
        """What the claim brings; if that is nothing, what it brings when its turn has come, within the time.

        `key` is all that decides whether there is something: tenant, queues, kinds, adapters. Of two who have the same
        one, the second is not asked while the first goes empty-handed. Without a wait, nobody stands in line.
        """
        if wait_s <= 0 or self._is_closed:
            return list(await claim())
        if self.waiters >= self._waiters_max:
            raise ServiceError("too_many_waiting")
        waiter, line = Waiter(claim), self._line(key)
        line.enter(waiter)
        self.waiters += 1
        try:
            return await waiter.answered(wait_s)
        finally:
            self.waiters -= 1
            line.leave(waiter)
            waiter.answer.cancel()  # or an error that comes now would be nobody's

    async def close(self) -> None:
        """All who wait are sent away at once, with nothing, but for those a claim is under way for."""
        self._is_closed = True
        for line in self._lines.values():
            for waiter in line.waiters:
                waiter.dismiss()
            line.called.set()
        if self._listening is not None:
            self._listening.cancel()
        if self._runs:
            await asyncio.wait(self._runs, timeout=STOP_S)

    def _line(self, key: Hashable) -> Line:
        if key not in self._lines:
            self._lines[key] = Line(self._turns, self._poll_s)
            run = asyncio.create_task(self._run(key))
            self._runs.add(run)
            run.add_done_callback(self._runs.discard)
        if self._listening is None or self._listening.done():
            self._listening = asyncio.create_task(self._listen())
        return self._lines[key]

    async def _run(self, key: Hashable) -> None:
        try:
            await self._lines[key].run()
        finally:
            del self._lines[key]

    async def _listen(self) -> None:
        """As long as anybody waits. What was heard last is remembered, so that nothing is missed in between."""
        patience = Backoff()
        while self._lines:
            try:
                news = await self._store.news(self._seen, NEWS_WAIT_S)
                patience.succeeded()
            except DetentError:
                await patience.wait()  # the lines look by themselves meanwhile
                continue
            if news != self._seen:
                self._seen = news
                for line in self._lines.values():
                    line.called.set()
