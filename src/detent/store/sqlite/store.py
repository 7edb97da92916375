"""The embedded store: one SQLite file, any number of processes."""

import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final, TypeVar

from detent.kernel import Job
from detent.lifecycle import Lifecycle
from detent.store.clock import Clock, Random, host_clock, host_random
from detent.store.desk import Desk, not_open
from detent.store.keeping import Keeping
from detent.store.limits import KeyReport
from detent.store.planning import plan, plan_claim, plan_due
from detent.store.query import (
    Counts,
    Entry,
    EventQuery,
    JobQuery,
    Migration,
    Page,
    Pruned,
    Retention,
    Story,
    number_of,
)
from detent.store.request import ClaimRequest, Replies, Request
from detent.store.sqlite import checking, finding, judging, log, migrating, pruning
from detent.store.sqlite.claiming import candidates, claimable
from detent.store.sqlite.connection import Synchronous
from detent.store.sqlite.file import File
from detent.store.sqlite.fleet import FleetInFile, has_tick
from detent.store.sqlite.session import Session, Work
from detent.store.sqlite.sharing import forked
from detent.store.sqlite.statements import SQL
from detent.store.sqlite.tokens import TokensInFile
from detent.store.sqlite.transaction import Transaction
from detent.store.sqlite.transactions import Transactions
from detent.store.sqlite.writing import write
from detent.store.waiting import in_thread, now_s, sleep

Result = TypeVar("Result")
POLL_S: Final = 0.05


class SqliteStore(FleetInFile, TokensInFile):
    """`file` says where and how. Writes go through one thread and reads through another, each with a connection."""

    def __init__(
        self,
        file: File,
        *,
        clock: Clock = host_clock,
        random: Random = host_random,
        kept: Keeping | None = None,
    ) -> None:
        self._file = file
        self._clock = clock
        self._random = random
        self._kept = kept or Keeping()
        self._writer: Desk[Work] | None = None
        self._reader: Desk[Work] | None = None
        self._pid = 0

    @property
    def synchronous(self) -> Synchronous:
        """Whether a power cut may take the last commits along: not if it is full."""
        return self._file.synchronous

    async def open(self) -> None:
        if self._writer is not None:
            return  # clients of several tenants may share a store
        now = self._clock()
        await in_thread(lambda: self._file.open(now), undo=lambda _: self._file.close())
        self._pid = os.getpid()
        self._writer = Desk("detent-writer", lambda group: self._file.write(group, self._clock))
        self._reader = Desk("detent-reader", self._file.read)

    async def migrations(self) -> list[Migration]:
        if self._writer is None:
            return await in_thread(self._file.migrations)
        self._file.check_place()  # what is open can be read, though it may be no longer where others look for it
        return await self._read(lambda session: migrating.applied(session.connection.raw, self._file.path))

    async def close(self) -> None:
        writer, reader = self._writer, self._reader
        self._writer = self._reader = None
        if writer is not None and reader is not None:
            await in_thread(lambda: self._end(writer, reader))

    async def register(self, *lifecycles: Lifecycle) -> list[Lifecycle]:
        """Written only if there is something new: opening a store that others write to need not wait for them."""
        kept = await self._read(lambda session: session.definitions.known(session.connection))
        digests = {(each.name, each.version): each.digest for each in kept}
        if all(digests.get((each.name, each.version)) == each.digest for each in lifecycles):
            return kept
        return await self._write(lambda session: session.definitions.register(session.connection, lifecycles))

    async def apply(self, requests: Sequence[Request], tx: Transaction | None = None) -> Replies:
        return await self._write(lambda session: self._apply(session, requests), tx, len(requests))

    async def claim(self, request: ClaimRequest, tx: Transaction | None = None) -> Replies:
        return await self._write(lambda session: self._claim(session, request), tx, request.limit)

    async def claimable(self, request: ClaimRequest) -> list[Job]:
        return await self._read(lambda session: claimable(session, request, self._clock()))

    async def reconcile(self, limit: int) -> Replies:
        return await self._write(lambda session: self._reconcile(session, limit))

    async def get(self, tenant: str, job_ids: Sequence[str]) -> list[Job | None]:
        return await self._read(lambda session: [session.job(tenant, job_id) for job_id in job_ids])

    async def find(self, query: JobQuery, limit: int, cursor: str | None = None) -> Page[Job]:
        return await self._read(lambda session: finding.find(session, query, limit, cursor))

    async def count(self, query: JobQuery, by: Sequence[str]) -> Counts:
        return await self._read(lambda session: finding.count(session, query, by))

    async def unjudged(
        self, tenant: str, queues: Sequence[str], kinds: Sequence[str], limit: int, cursor: str | None = None
    ) -> Page[Job]:
        return await self._read(lambda session: judging.unjudged(session, tenant, queues, kinds, limit, cursor))

    async def events(self, query: EventQuery, limit: int, cursor: str | None = None) -> Page[Entry]:
        return await self._read(lambda session: log.events(session, query, limit, cursor))

    async def recent(self, query: EventQuery, limit: int) -> Page[Entry]:
        return await self._read(lambda session: log.recent(session, query, limit))

    async def wait(self, cursor: str | None, timeout_s: float) -> str:
        """A look at the end of the log costs microseconds, and sees other processes too: so it polls."""
        deadline = now_s() + timeout_s
        while True:
            end = await self._read(log.end_of_log)
            if (cursor is not None and int(end) > number_of(cursor)) or now_s() >= deadline:
                return end
            await sleep(min(POLL_S, max(deadline - now_s(), 0)))

    async def news(self, seen: str | None, timeout_s: float) -> str:
        """Nothing is read: a claim waits for who has just written, and finds what that was."""
        self._open_desk(self._reader)
        if self._file.is_memory:
            return await self.wait(seen, 0 if seen is None else timeout_s)
        if seen is not None:
            await self._file.watch.changed(seen, timeout_s)
        return self._file.watch.mark()

    async def stories(
        self, tenant: str | None, limit: int, cursor: str | None = None, job_id: str | None = None
    ) -> Page[Story]:
        return await self._read(lambda session: finding.stories(session, tenant, limit, cursor, job_id))

    async def check(self) -> list[str]:
        return await self._read(checking.check)

    async def limit_queue(self, tenant: str, queue: str, depth_max: int | None) -> None:
        await self._write(lambda session: session.connection.execute(SQL["limit_queue"], (tenant, queue, depth_max)))

    async def key_use(self, tenant: str, limit_key: str) -> KeyReport:
        return await self._read(lambda session: session.key_report(tenant, limit_key))

    async def advance_schedule(
        self, tenant: str, name: str, *, expected: int, next_at: int, requests: Sequence[Request] = ()
    ) -> Replies | None:
        def advance(session: Session) -> Replies | None:
            return self._apply(session, requests) if has_tick(session, tenant, name, expected, next_at) else None

        return await self._write(advance, size=len(requests))

    async def pace(self, tenant: str, rule: str, every: int, requests: Sequence[Request]) -> Replies:
        def pace(session: Session) -> Replies:
            return self._apply(session, judging.paced(session, tenant, rule, every, requests))

        return await self._write(pace, size=len(requests))

    async def prune(self, tenant: str, retention: Retention, limit: int) -> Pruned:
        return await self._write(lambda session: pruning.prune(session, tenant, retention, limit))

    async def purge(self, tenant: str, job_ids: Sequence[str]) -> Pruned:
        return await self._write(lambda session: pruning.purge(session, tenant, job_ids), size=len(job_ids))

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[Transaction]:
        """For the caller's own tables in the same file. Waiting for the lock, and the commit, block no event loop."""
        transactions = self._transactions()
        self._file.check_place()
        tx = await in_thread(transactions.begin, undo=lambda tx: transactions.end(tx, commit=False))
        try:
            yield tx
        except BaseException:
            await in_thread(lambda: transactions.end(tx, commit=False))
            raise
        await in_thread(lambda: transactions.end(tx, commit=True))

    def _apply(self, session: Session, requests: Sequence[Request]) -> Replies:
        if len(requests) > 1:
            session.fetch([(request.tenant, request.job_id) for request in requests if not request.is_fresh])
        planned = plan(requests, session, session.now, self._random)
        write(session, planned, self._kept)
        return planned.replies

    def _claim(self, session: Session, request: ClaimRequest) -> Replies:
        passed = session.used_up(request.tenant)
        planned = plan_claim(request, candidates(session, request, passed), session, session.now, passed=passed)
        write(session, planned, self._kept)
        return planned.replies

    def _reconcile(self, session: Session, limit: int) -> Replies:
        due = session.connection.execute(SQL["due"], (session.now, limit))
        planned = plan_due(session.numbered([number for (number,) in due]), session, session.now, self._random)
        write(session, planned, self._kept)
        return planned.replies

    async def _write(self, work: Callable[[Session], Result], tx: Transaction | None = None, size: int = 1) -> Result:
        desk = self._open_desk(self._writer)
        if tx is None:
            result: Result = await desk.do(work, size)
            return result
        return self._transactions().own(tx).do(work, self._clock())

    async def _read(self, work: Callable[[Session], Result]) -> Result:
        result: Result = await self._open_desk(self._reader).do(work)
        return result

    def _open_desk(self, desk: Desk[Work] | None) -> Desk[Work]:
        if desk is None:
            raise not_open()
        if self._pid != os.getpid():
            raise forked(self._file.path)
        return desk

    def _transactions(self) -> Transactions:
        self._open_desk(self._writer)
        if self._file.transactions is None:
            raise not_open()
        return self._file.transactions

    def _end(self, writer: Desk[Work], reader: Desk[Work]) -> None:
        writer.close()
        reader.close()
        self._file.close()
