"""The store for a fleet: one PostgreSQL database, any number of machines."""

import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import psycopg

from detent.errors import DetentError
from detent.kernel import Job
from detent.lifecycle import Lifecycle
from detent.store.clock import Clock, Random, host_random
from detent.store.desk import Desk, not_open
from detent.store.dice import Dice
from detent.store.keeping import Keeping
from detent.store.limits import KeyReport
from detent.store.postgres import checking, claiming, finding, judging, limits, log, opening, pruning, verbs
from detent.store.postgres.address import Address
from detent.store.postgres.bell import RING, RING_MOVED, Listener, Ringer
from detent.store.postgres.fleet import FleetInDatabase, has_tick, said
from detent.store.postgres.memory import Memory
from detent.store.postgres.script import Script
from detent.store.postgres.server import Server
from detent.store.postgres.session import Session
from detent.store.postgres.statements import SQL
from detent.store.postgres.taking_part import TakingPart
from detent.store.postgres.tokens import TokensInDatabase
from detent.store.postgres.transactions import own_transaction
from detent.store.postgres.work import Work
from detent.store.protocol import Transaction
from detent.store.query import Counts, Entry, EventQuery, JobQuery, Migration, Page, Pruned, Retention, Story
from detent.store.request import ClaimRequest, Replies, Request
from detent.store.waiting import in_thread, now_s, sleep

Result = TypeVar("Result")
POLL_S: Final = 0.05
SIZE_MAX: Final = 200  # requests that share a transaction; more of them are quicker on two connections
CALM_POLL_S: Final = 0.5  # where rings are heard


class PostgresStore(FleetInDatabase, TokensInDatabase):
    """One connection reads, one listens while somebody waits, the others write; each is made when it is first needed.

    Time is the server's, unless a clock is given: that is for tests.
    """

    def __init__(
        self,
        address: Address,
        *,
        clock: Clock | None = None,
        random: Random = host_random,
        kept: Keeping | None = None,
    ) -> None:
        self._address = address
        self._clock = clock
        self._random = random
        self._keeping = kept or Keeping()
        self.memory = Memory()
        self._writer: Desk[Work] | None = None
        self._reader: Desk[Work] | None = None
        self._servers: list[Server] = []
        self._ringer: Ringer | None = None
        self._listener: Listener | None = None
        self._taking_part = TakingPart(address, self.memory, self._write)
        self._pid = 0

    async def open(self) -> None:
        if self._writer is not None:
            return  # clients of several tenants may share a store
        writers = max(self._address.connections - 2, 1)
        self._servers = servers = [self._server(is_writing=n > 0) for n in range(writers + 1)]
        try:
            first = servers[0].connection
            await in_thread(lambda: opening.prepare(first, self._address), undo=lambda _: first.close())
        except BaseException:
            self._close_servers()
            raise
        self._pid = os.getpid()
        self._reader = reader = Desk("detent-reader", servers[0].read)
        writes = [server.write for server in servers[1:]]
        self._writer = Desk("detent-writer", *writes, size_max=SIZE_MAX, afterwards=self._tell)
        self._ringer = Ringer(lambda is_work: _rung(reader, RING if is_work else RING_MOVED))
        can_listen = self._address.prepare and self._address.connections > 2
        self._listener = Listener(self._address) if can_listen else None
        for server in servers[1:]:
            server.on_written = self._ringer.written

    async def migrations(self) -> list[Migration]:
        return await in_thread(lambda: opening.look(self._address))

    async def close(self) -> None:
        writer, reader = self._writer, self._reader
        self._writer = self._reader = None
        if self._pid != os.getpid():
            return  # a fork's copy: connections and threads are those of the process that opened it
        if writer is not None and reader is not None:
            await in_thread(lambda: self._end(writer, reader))

    async def register(self, *lifecycles: Lifecycle) -> list[Lifecycle]:
        """Written only if there is something new: opening a store that others write to need not wait for them."""
        kept = await self._read(lambda session: session.lifecycles())
        digests = {(each.name, each.version): each.digest for each in kept}
        if all(digests.get((each.name, each.version)) == each.digest for each in lifecycles):
            return kept
        return await self._write(lambda session: session.definitions.register(lifecycles))

    async def apply(self, requests: Sequence[Request], tx: Transaction | None = None) -> Replies:
        dice = Dice(self._random)
        work = Work(
            make=lambda session: verbs.apply(session, requests, dice, self._keeping), requests=requests, dice=dice
        )
        replies: Replies = await self._hand_in(work, tx, len(requests))
        return replies

    async def claim(self, request: ClaimRequest, tx: Transaction | None = None) -> Replies:
        dice = Dice(self._random)
        work = Work(make=lambda session: verbs.claim(session, request, dice, self._keeping), dice=dice)
        replies: Replies = await self._hand_in(work, tx, request.limit)
        return replies

    async def claimable(self, request: ClaimRequest) -> list[Job]:
        return await self._read(lambda session: claiming.claimable(session, request))

    async def reconcile(self, limit: int) -> Replies:
        dice = Dice(self._random)
        work = Work(make=lambda session: verbs.reconcile(session, limit, dice, self._keeping), dice=dice)
        replies: Replies = await self._hand_in(work, None)
        return replies

    async def get(self, tenant: str, job_ids: Sequence[str]) -> list[Job | None]:
        return await self._read(lambda session: session.get(tenant, job_ids))

    async def find(self, query: JobQuery, limit: int, cursor: str | None = None) -> Page[Job]:
        return await self._read(lambda session: finding.find(session, query, limit, cursor))

    async def count(self, query: JobQuery, by: Sequence[str]) -> Counts:
        return await self._read(lambda session: finding.count(session, query, by), is_one_moment=True)

    async def unjudged(
        self, tenant: str, queues: Sequence[str], kinds: Sequence[str], limit: int, cursor: str | None = None
    ) -> Page[Job]:
        return await self._read(lambda session: judging.unjudged(session, tenant, queues, kinds, limit, cursor))

    async def events(self, query: EventQuery, limit: int, cursor: str | None = None) -> Page[Entry]:
        return await self._read(lambda session: log.events(session, query, limit, cursor))

    async def recent(self, query: EventQuery, limit: int) -> Page[Entry]:
        return await self._read(lambda session: log.recent(session, query, limit))

    async def wait(self, cursor: str | None, timeout_s: float) -> str:
        """A ring wakes it, and it looks by itself now and then: that is enough where no ring is heard."""
        self._open_desk(self._reader)
        deadline, listener = now_s() + timeout_s, self._listener
        while True:
            rings = 0 if listener is None else listener.rings.count
            is_beyond = cursor is not None and await self._read(lambda session: log.is_beyond(session, cursor))
            left_s = deadline - now_s()
            if is_beyond or (left_s <= 0 and cursor is None):
                return await self._read(lambda session: log.end_of_log(session, cursor))
            if left_s <= 0:
                return cursor or ""
            if listener is None:
                await sleep(min(POLL_S, left_s))
            else:
                await listener.rings.wait(rings, min(CALM_POLL_S, left_s))

    async def news(self, seen: str | None, timeout_s: float) -> str:
        """A ring is enough: nothing is read. Where none is heard, the log is looked at."""
        self._open_desk(self._reader)
        if self._listener is None:
            return await self.wait(seen, 0 if seen is None else timeout_s)
        rings = self._listener.rings_of_work
        if seen == str(rings.count):
            await rings.wait(rings.count, timeout_s)
        return str(rings.count)

    async def stories(
        self, tenant: str | None, limit: int, cursor: str | None = None, job_id: str | None = None
    ) -> Page[Story]:
        return await self._read(
            lambda session: finding.stories(session, tenant, limit, cursor, job_id), is_one_moment=True
        )

    async def check(self) -> list[str]:
        return await self._read(checking.check, is_one_moment=True)

    async def limit_queue(self, tenant: str, queue: str, depth_max: int | None) -> None:
        values = {"tenant": tenant, "queue": queue, "depth_max": depth_max}
        await self._write(lambda session: said(SQL["limit_queue"], values))

    async def key_use(self, tenant: str, limit_key: str) -> KeyReport:
        return await self._read(lambda _: limits.key_report(tenant, limit_key), is_one_moment=True)

    async def advance_schedule(
        self, tenant: str, name: str, *, expected: int, next_at: int, requests: Sequence[Request] = ()
    ) -> Replies | None:
        dice = Dice(self._random)

        def advance(session: Session) -> Script[Replies | None]:
            is_ours = yield from has_tick(session, tenant, name, expected, next_at)
            if not is_ours or not requests:
                return [] if is_ours else None
            return (yield from verbs.apply(session, requests, dice, self._keeping))

        replies: Replies | None = await self._hand_in(Work(make=advance, dice=dice), None, len(requests))
        return replies

    async def pace(self, tenant: str, rule: str, every: int, requests: Sequence[Request]) -> Replies:
        dice = Dice(self._random)

        def pace(session: Session) -> Script[Replies]:
            timed = yield from judging.paced(session, tenant, rule, every, requests)
            return (yield from verbs.apply(session, timed, dice, self._keeping)) if timed else []

        replies: Replies = await self._hand_in(Work(make=pace, dice=dice), None, len(requests))
        return replies

    async def prune(self, tenant: str, retention: Retention, limit: int) -> Pruned:
        return await self._write(lambda session: pruning.prune(session, tenant, retention, limit))

    async def purge(self, tenant: str, job_ids: Sequence[str]) -> Pruned:
        return await self._write(lambda session: pruning.purge(session, tenant, job_ids))

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator["psycopg.Connection[Any] | psycopg.AsyncConnection[Any]"]:
        """For the caller's own tables in the same database, on a connection of its own: psycopg's, of either world."""
        self._open_desk(self._writer)
        async with own_transaction(self._address) as connection:
            yield connection
        if self._ringer is not None:
            self._ringer.written()

    async def _write(self, make: Callable[[Session], Script[Result]]) -> Result:
        result: Result = await self._hand_in(Work(make=make), None)
        return result

    async def _hand_in(self, work: Work, tx: Transaction | None, size: int = 1) -> Any:
        desk = self._open_desk(self._writer)
        if tx is None:
            return await desk.do(work, size)
        return await self._taking_part.do(work, tx, None if self._clock is None else self._clock())

    async def _read(self, make: Callable[[Session], Script[Result]], *, is_one_moment: bool = False) -> Result:
        result: Result = await self._open_desk(self._reader).do(Work(make=make, is_one_moment=is_one_moment))
        return result

    def _open_desk(self, desk: Desk[Work] | None) -> Desk[Work]:
        if desk is None:
            raise not_open()
        if self._pid != os.getpid():
            raise opening.forked(self._address)
        return desk

    def _server(self, *, is_writing: bool) -> Server:
        return Server(self._address, self.memory, self._keeping, self._clock, is_writing=is_writing)

    def _end(self, writer: Desk[Work], reader: Desk[Work]) -> None:
        writer.close()
        if self._listener is not None:
            self._listener.close()
        if self._ringer is not None:
            self._ringer.close()
        reader.close()
        self._close_servers()

    def _tell(self) -> None:
        for server in self._servers:
            server.tell()

    def _close_servers(self) -> None:
        for server in self._servers:
            server.close()
        self._servers = []


def _rung(reader: Desk[Work], ring: str) -> None:
    """On the ringer's own thread. That it was not heard is no harm."""
    try:
        reader.do_here(Work(make=lambda session: said(ring, {}), is_optional=True))
    except DetentError:
        return
