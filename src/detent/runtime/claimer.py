"""Taking work: as much as there is room for now, claimed and started in one move, so that the record never lies.

Nothing is claimed ahead of capacity. A job that waits in a worker's hands is late for everybody else, uses up a limit
it shares with others, and in some lifecycles times out; and fetching it early saves nothing, as a start of its own
takes as long as a claim that starts.
"""

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic, time_ns
from typing import Final

from detent import kernel
from detent.client import Client
from detent.errors import DetentError, Forbidden, StoreError, Unauthorized
from detent.kernel.command import Claim
from detent.runtime import tracing
from detent.runtime.backing_off import Backoff
from detent.runtime.committer import BATCH_MAX
from detent.runtime.duty import nudged_within
from detent.runtime.lane import Lane
from detent.runtime.observing import Observer
from detent.runtime.run import Key
from detent.runtime.settings import Settings
from detent.store import ClaimRequest, JobQuery, Reply
from detent.store.query import PAGE_MAX

FUTILE_MIN: Final = 4  # times in a row that it was woken for nothing, before it waits a little
PAUSE_S: Final = 0.001
SECOND_MIN: Final = 100  # the room that makes a second claim worth while as long as one is under way
STOP_S: Final = 10.0  # for a claim that is under way when it is to stop
PAUSE_MAX_S: Final = 0.05

Taken = Callable[[Lane, list[kernel.Job], float], Awaitable[None]]


class Claimer:
    """One lane's. `taken` is given what was claimed, and when that was asked."""

    def __init__(
        self,
        client: Client,
        lane: Lane,
        kinds: tuple[str, ...],
        *,
        worker: str,
        settings: Settings,
        observer: Observer,
        knows: Callable[[Key], bool],
        taken: Taken,
        may_claim: Callable[[], bool],
        denied: Callable[[DetentError], None],
        spared: Callable[[], frozenset[tuple[str, str, str]]] = frozenset,
    ) -> None:
        self._client = client
        self._lane = lane
        self._observer = observer
        self._knows = knows
        self._taken = taken
        self._may_claim = may_claim
        self._denied = denied
        self._spared = spared
        self._poll_s = settings.poll_s
        self._worker = worker
        self._command = Claim(worker=worker, start=True)
        self._queues, self._kinds, self._adapters = settings.queues, kinds, settings.adapters
        self._freed = asyncio.Event()
        self._nudged = asyncio.Event()
        self._futile = 0
        self._under_way: dict[asyncio.Task[int], int] = {}  # claims, and how many jobs each asks for
        self._plenty = asyncio.Event()  # the last claim got all it asked for
        self._is_stopped = False
        self._unheard_s: float | None = None  # when a claim was sent that nobody has answered

    def freed(self) -> None:
        """There may be room again. It is said of every job that ends, and heard once."""
        if not self._freed.is_set():
            self._freed.set()

    def nudge(self) -> None:
        """There may be something to claim."""
        self._nudged.set()

    async def run(self) -> None:
        """Until it is stopped. Where there is plenty, two claims are under way: the store writes one of them while the
        jobs of the other begin.
        """
        await asyncio.gather(self._over_and_over(self._first), self._over_and_over(self._second))

    async def stopped(self) -> None:
        """No more claims. One that is under way is waited for: what it takes would lie in nobody's hands."""
        self._is_stopped = True
        self._freed.set()
        self._plenty.set()
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=STOP_S)

    async def _over_and_over(self, claim: Callable[[], Awaitable[None]]) -> None:
        patience = Backoff()
        while not self._is_stopped:
            try:
                await claim()
                patience.succeeded()
            except (Unauthorized, Forbidden) as error:  # no repeat will help: a worker that may not claim is none
                self._denied(error)
                return
            except DetentError as error:
                self._observer.troubled("claim", error)
                await patience.wait()

    async def _first(self) -> None:
        await self._room_for(1)
        if self._is_stopped:
            return
        if self._unheard_s is not None:
            await self._recover(self._unheard_s)
        elif await self._claimed():
            self._futile = 0
        elif not self._under_way:
            await self._wait()

    async def _second(self) -> None:
        await self._plenty.wait()
        await self._room_for(SECOND_MIN)
        if self._plenty.is_set() and self._unheard_s is None and not self._is_stopped:
            await self._claimed()

    async def _room_for(self, least: int) -> None:
        while not self._is_stopped and (self._room < least or not self._may_claim()):
            self._freed.clear()
            await self._freed.wait()

    @property
    def _room(self) -> int:
        return self._lane.room - sum(self._under_way.values())

    async def _claimed(self) -> int:
        """How many it got. Whoever gives up waiting for it does not stop it."""
        limit = min(self._room, BATCH_MAX)
        claiming = asyncio.create_task(self._claim(limit))
        self._under_way[claiming] = limit
        claiming.add_done_callback(self._settled)
        return await asyncio.shield(claiming)

    def _settled(self, claiming: "asyncio.Task[int]") -> None:
        del self._under_way[claiming]
        self._freed.set()

    async def _wait(self) -> None:
        """Until somebody says that there may be something, or a while."""
        await nudged_within(self._poll_s, self._nudged)
        self._futile = self._futile + 1 if self._nudged.is_set() else 0
        pause_s = self._pause_s()
        if pause_s:
            await asyncio.sleep(pause_s)
        self._nudged.clear()  # before the next claim, so that what is said from then on is not lost

    async def _claim(self, limit: int) -> int:
        request = ClaimRequest(
            self._client.tenant, self._command, self._queues, self._kinds, self._adapters, limit, self._spared()
        )  # fmt: skip
        sent_s, sent_ns = monotonic(), time_ns()
        try:
            replies = await self._client.store.claim(request)
        except StoreError:
            self._unheard_s = sent_s
            self._plenty.clear()
            raise
        jobs = [reply.job for reply in replies if isinstance(reply, Reply)]
        if len(jobs) < len(replies):
            self._observer.conflicted(len(replies) - len(jobs))
        if len(jobs) == limit:
            self._plenty.set()
        else:
            self._plenty.clear()
        if jobs:
            self._observer.claimed(jobs)
            tracing.claimed(jobs, self._queues, self._worker, sent_ns)
            await self._taken(self._lane, jobs, sent_s)
        return len(jobs)

    async def _recover(self, sent_s: float) -> None:
        """A claim went unanswered: what it may have taken is in our name, and nobody here knows of it.

        Nor does anybody know yet of what another claim is about to bring, so that is waited for.
        """
        if self._under_way:
            await asyncio.wait(self._under_way)
        owned = JobQuery(tenant=self._client.tenant, owner=self._command.worker)
        found = (await self._client.store.find(owned, PAGE_MAX)).items
        jobs = [job for job in found if job.spec.kind in self._kinds and not self._knows((job.id, job.attempt))]
        self._unheard_s = None
        if jobs:
            self._observer.claimed(jobs)
            await self._taken(self._lane, jobs, sent_s)

    def _pause_s(self) -> float:
        """What others take, too, wakes it for nothing: then it looks less and less often."""
        beyond = self._futile - FUTILE_MIN
        return 0.0 if beyond <= 0 else min(PAUSE_S * 2 ** min(beyond, 10), PAUSE_MAX_S)
