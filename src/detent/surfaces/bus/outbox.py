"""What ought to be on the bus is what the record says: a job that its pool has is published, an end that the pool has
not reported itself is announced, and what a pool is no longer to do is called off.

The record is the outbox. Whatever ought to be there is brought to the bus, again if it is not known to be there yet,
under a name by which the bus takes it once.
"""

import logging
from collections import deque
from collections.abc import Iterable
from typing import Final

from detent.client import Client
from detent.errors import InvalidArgument, StoreError
from detent.kernel import Error, Job
from detent.kernel.clock import micros
from detent.kernel.command import Cancel, Command, Fail
from detent.store import JobQuery, Request
from detent.store.query import PAGE_MAX, EventQuery
from detent.surfaces.bus.ends import ANNOUNCED, FAILED, LAST, Asked, asked_for, cancel_of, end_of, is_announced
from detent.surfaces.bus.link import Link
from detent.surfaces.bus.packets import Packet
from detent.surfaces.bus.requests import LIFECYCLE, request_of, topic_of
from detent.surfaces.bus.subjects import CANCEL, RESULT, SYSTEM
from detent.surfaces.bus.trouble import is_not_sent
from detent.wire.bounds import TEXT_CHARS_MAX

PAGES_MAX: Final = 1_000
BROUGHT_MAX: Final = 100_000  # that are remembered to have been brought
LATE_S: Final = 30.0  # in which what was claimed together has been brought
OWED_MAX: Final = 100_000  # jobs that could not be brought
log: Final = logging.getLogger("detent.bus")


class Outbox:
    def __init__(self, client: Client, link: Link) -> None:
        self._client = client
        self._link = link
        self._brought: dict[str, None] = {}
        self._owed: dict[str, None] = {}

    async def bring(self, jobs: Iterable[Job]) -> None:
        """What was certainly not brought is owed."""
        left = deque(jobs)
        try:
            while left:
                await self._bring_or_give_up(left[0])
                self._owed.pop(left.popleft().id, None)
        except BaseException as error:
            if not (isinstance(error, StoreError) or is_not_sent(error)):
                self._owed.pop(left.popleft().id, None)  # it may have got there
            for job in left:
                _keep(self._owed, job.id, OWED_MAX)
            raise

    async def _bring_or_give_up(self, job: Job) -> None:
        if job.spec.lifecycle == LIFECYCLE and topic_of(job) in self._link.topics:
            try:
                await self._bring(job)
            except (InvalidArgument, ValueError) as wrong:  # a number too large for the wire; too many bytes
                await self._give_up(job, wrong)

    async def call_off_late(self, claimed: Iterable[Job]) -> None:
        """Those that were ended while they were being brought: what called them off may have come before them."""
        asked = [job.id for job in claimed if topic_of(job) in self._link.topics]
        for job in await self._client.store.get(self._client.tenant, asked) if asked else []:
            if job is not None and job.state in ANNOUNCED and job.last_owner == topic_of(job):
                await self._call_off(job, "late cancel")

    async def bring_by_id(self, ids: Iterable[str]) -> None:
        asked = list(dict.fromkeys(ids))
        found = await self._client.store.get(self._client.tenant, asked) if asked else []
        await self.bring(job for job in found if job is not None)

    async def sweep(self, since: int) -> None:
        """All that pools have, and all that was ended since. Of what was claimed earlier it is known no more whether
        it was published: that has had its time, and is not run twice. What is owed never was.
        """
        owed = list(self._owed)
        await self.bring_by_id(owed)
        for job_id in owed:  # those that are not there any more; what came to be owed meanwhile stays so
            self._owed.pop(job_id, None)
        for query in self._queries(since):
            cursor: str | None = None
            for _ in range(PAGES_MAX):
                page = await self._client.store.find(query, PAGE_MAX, cursor)
                await self.bring(job for job in page if self._is_due(job, since))
                await self.call_off_late(job for job in page if _is_ended_at_once(job))
                cursor = page.cursor
                if cursor is None:
                    break

    def _is_due(self, job: Job, since: int) -> bool:
        """What is to be called off is, however long ago it was claimed."""
        if topic_of(job) not in self._link.topics:
            return False
        root = SYSTEM if job.phase == "ended" else self._link.topics.root_of(topic_of(job))
        return job.cancel_by is not None or _since_of(job) >= max(since, self._link.remembered_from(root))

    def _queries(self, since: int) -> list[JobQuery]:
        tenant = self._client.tenant
        held = [JobQuery(tenant=tenant, lifecycle=LIFECYCLE, phase=phase) for phase in ("held", "active")]
        return held + [
            JobQuery(tenant=tenant, lifecycle=LIFECYCLE, state=state, ended_from=since)
            for state in (*ANNOUNCED, FAILED)
        ]

    async def _bring(self, job: Job) -> None:
        topic = topic_of(job)
        if job.cancel_by is not None and job.owner == topic:
            await self._end_for_its_pool(job)
        elif job.phase == "held" and job.owner == topic:
            await self._publish(job, topic)
        elif is_announced(job):
            if job.state in ANNOUNCED and job.last_owner == topic:
                await self._call_off(job, "cancel")
            await self._announce(job)

    async def _publish(self, job: Job, topic: str) -> None:
        if not self._is_brought(job, "run"):
            packet = Packet(job.spec.correlation_id, self._name, "job_request", request_of(job))
            await self._put(topic, job, packet, "run")

    async def _announce(self, job: Job) -> None:
        if not self._is_brought(job, "end"):
            await self._put(RESULT, job, end_of(job, await self._asked_for(job), self._name), "end")

    async def _call_off(self, job: Job, what: str) -> None:
        if not self._is_brought(job, what):
            await self._put(CANCEL, job, cancel_of(job, await self._asked_for(job), self._name), what)

    async def _asked_for(self, job: Job) -> Asked:
        query = EventQuery(tenant=job.spec.tenant, job_id=job.id)
        return asked_for(job, [entry.event for entry in await self._client.store.recent(query, LAST)], self._name)

    async def _end_for_its_pool(self, job: Job) -> None:
        """Its workers know no grace: asked to stop, the pool has stopped."""
        asked = await self._asked_for(job)
        command = Cancel(worker=topic_of(job), role="owner", attempt=job.attempt, actor=self._name, reason=asked.why)
        await self._ask(job, command)

    async def _give_up(self, job: Job, wrong: Exception) -> None:
        """What cannot be told to its pool is not left to run out: it has failed, and its record says why."""
        log.warning("job %s cannot be brought to the bus: %s", job.id, wrong)
        if job.phase == "held" and job.owner == topic_of(job):
            error = Error("PermanentError", f"it cannot be published: {wrong}"[:TEXT_CHARS_MAX], code="not_publishable")
            await self._ask(
                job, Fail(worker=topic_of(job), role="owner", attempt=job.attempt, actor=self._name, error=error)
            )

    async def _ask(self, job: Job, command: Command) -> None:
        """Whoever was quicker has decided otherwise: then it is refused, and rightly so."""
        (answer,) = await self._client.store.apply([Request(job.spec.tenant, job.id, command)])
        if isinstance(answer, StoreError):
            raise answer

    async def _put(self, subject: str, job: Job, packet: Packet, what: str) -> None:
        once = _once(job, what)
        await self._link.put(subject, packet, once)
        _keep(self._brought, once, BROUGHT_MAX)

    def _is_brought(self, job: Job, what: str) -> bool:
        return _once(job, what) in self._brought

    @property
    def _name(self) -> str:
        return self._link.settings.name


def _once(job: Job, what: str) -> str:
    """An id may be given out again once the job that had it is gone."""
    return f"{job.spec.tenant}/{job.id}/{job.created_at}/{job.attempt}/{what}"


def _keep(kept: dict[str, None], key: str, most: int) -> None:
    """The last so many."""
    kept[key] = None
    while len(kept) > most:
        del kept[next(iter(kept))]


def _is_ended_at_once(job: Job) -> bool:
    """While it was being brought, maybe; and whoever brought it may have been killed before it was called off."""
    return job.ended_at is not None and job.claimed_at is not None and job.ended_at - job.claimed_at < micros(LATE_S)


def _since_of(job: Job) -> int:
    """When it came to be as it is now, or somewhat earlier."""
    return job.ended_at or job.claimed_at or job.created_at
