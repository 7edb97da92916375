"""Writing what runs came to: whatever comes within moments of each other shares a transaction, and its price.

Nothing waits for company: what comes is handed in at once while nothing is under way, and what comes meanwhile goes
together next. Two transactions are under way at most; more would not make it faster.
"""

import asyncio
from collections.abc import Callable
from time import monotonic
from typing import Final

from msgspec.structs import replace

from detent.client import Client
from detent.errors import DetentError, Refused
from detent.kernel.command import Command
from detent.runtime.backing_off import Backoff
from detent.runtime.observing import Observer
from detent.runtime.run import Run
from detent.store import Replies, Reply, Request

BATCH_MAX: Final = 1_000
SECOND_MIN: Final = 100  # what makes a second transaction worth while as long as one is under way
UNDER_WAY_MAX: Final = 2
STALE_MAX: Final = 5  # how often a revision is read anew for one end
# What waits to be written, at most, before nothing more is claimed.
CONGESTED: Final = 4 * BATCH_MAX

Said = tuple[Run, list[Command]]
Settled = Callable[[Run, Reply | DetentError], None]


class Committer:
    def __init__(self, client: Client, observer: Observer, settled: Settled) -> None:
        self._client = client
        self._observer = observer
        self._settled = settled
        self._loop = asyncio.get_running_loop()
        self._waiting: list[Said] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_due = False

    @property
    def is_congested(self) -> bool:
        return len(self._waiting) > CONGESTED

    def submit(self, run: Run, commands: list[Command]) -> None:
        """End a run. The last command is the end; those before it are what was left to say."""
        run.is_ending = True
        if run.is_renewing:
            run.parked = commands
            return
        self._waiting.append((run, commands))
        if not self._is_due and (not self._tasks or len(self._waiting) == SECOND_MIN):
            self._is_due = True
            self._loop.call_soon(self._flush)

    def renewed(self, run: Run) -> None:
        """The keeper is done with a job whose every verb names its revision: what waited for that goes on."""
        run.is_renewing = False
        if run.parked is not None:
            commands, run.parked = run.parked, None
            self.submit(run, commands)

    async def drained(self, within_s: float) -> None:
        """Until all is written, or so long: what is left then is left to time."""
        deadline_s = monotonic() + within_s
        while (self._tasks or self._waiting) and monotonic() < deadline_s:
            self._flush()
            await asyncio.wait(self._tasks, timeout=deadline_s - monotonic())
        for task in self._tasks:
            task.cancel()

    def _flush(self) -> None:
        self._is_due = False
        while self._waiting and len(self._tasks) < UNDER_WAY_MAX:
            if self._tasks and len(self._waiting) < SECOND_MIN:
                return
            said, self._waiting = self._waiting[:BATCH_MAX], self._waiting[BATCH_MAX:]
            task = self._loop.create_task(self._commit(said))
            self._tasks.add(task)
            task.add_done_callback(self._committed)

    def _committed(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            task.result()
        self._flush()

    async def _commit(self, said: list[Said]) -> None:
        patience, rounds = Backoff(), 0
        while said:
            try:
                replies = await self._client.store.apply(self._requests(said))
            except DetentError as error:  # a store in trouble, or a token that does not hold any more
                self._observer.troubled("commit", error)
                said = await self._later(said, error, patience)
                continue
            rounds += 1
            stale = self._settle(said, replies, is_last=rounds > STALE_MAX)
            said = await self._read_again(stale) if stale else []

    def _requests(self, said: list[Said]) -> list[Request]:
        tenant = self._client.tenant
        return [Request(tenant, run.job.spec.id, each) for run, commands in said for each in named(run, commands)]

    def _settle(self, said: list[Said], replies: Replies, *, is_last: bool) -> list[Said]:
        """The last reply to each is what counts. Those that were decided on an old revision are to be asked again."""
        stale, place = [], -1
        for run, commands in said:
            place += len(commands)
            reply = replies[place]
            if isinstance(reply, Refused) and reply.code == "stale_rev" and not is_last:
                stale.append((run, commands))
            else:
                self._settled(run, reply)
        return stale

    async def _later(self, said: list[Said], error: DetentError, patience: Backoff) -> list[Said]:
        """Nobody knows what became of it: it is looked at, and asked again for those that are as they were."""
        await patience.wait()
        for run, _ in said:
            if run.is_surely_lost:
                self._settled(run, error)
        said = [each for each in said if not each[0].is_surely_lost]
        try:
            return await self._read_again(said)
        except DetentError:
            return said

    async def _read_again(self, said: list[Said]) -> list[Said]:
        """Take their revisions anew. One that is no longer in our hands has been settled, by us or by others."""
        ids = [run.job.spec.id for run, _ in said]
        left = []
        for (run, commands), job in zip(said, await self._client.store.get(self._client.tenant, ids), strict=True):
            if job is not None and (job.owner is None or job.attempt != run.attempt):
                self._settled(run, Reply(job))
            else:
                run.rev = run.rev if job is None else job.rev
                left.append((run, commands))
        return left


def request_of(tenant: str, run: Run, command: Command) -> Request:
    """One command for a run, on the revision that we know."""
    (command,) = named(run, [command])
    return Request(tenant, run.job.spec.id, command)


def named(run: Run, commands: list[Command]) -> list[Command]:
    """With the revision that each is decided on, where the lifecycle demands it."""
    if not run.ways.requires_rev:
        return commands
    rev, with_revs = run.rev, []
    for command in commands:
        with_revs.append(replace(command, expected_rev=rev))
        rev += command.verb != "progress"
    return with_revs
