"""Why a job is where it is, and what would move it: read off its record, its log and the log of its queue."""

from datetime import datetime

from msgspec import Struct

from detent.client.arguments import check_text_name
from detent.client.ends import ends_of
from detent.client.moments import to_micros, to_moment
from detent.client.reads import EventFilters, Reads
from detent.client.reasons import Facts, Reason
from detent.client.serving import serves
from detent.client.stays import stays_of
from detent.client.views import Event, Job
from detent.client.ways import Way, ways_of
from detent.client.workers import Worker, Workers
from detent.errors import StoreError
from detent.lifecycle import Lifecycle
from detent.lifecycle.soundness.answers import has_way_back
from detent.store.clock import host_clock
from detent.store.fleet import WORKER_KEPT_S


class Budget(Struct, frozen=True):
    """What counts against a job, and how much of it is left. `attempts_left`: failures or crashes it may still have.
    `reruns_left`: where failed jobs are run again as new ones, how many may follow this one.
    """

    failures: int
    crashes: int
    interruptions: int
    attempts_max: int
    crashes_max: int | None
    attempts_left: int
    reruns_left: int


class Explanation(Struct, frozen=True):
    """The first reason is the one that matters most. `ways` are the verbs that its state has, and when time asks.

    `reruns` are the jobs that ran it again, the newest first.
    """

    job: Job
    at: datetime
    reasons: list[Reason]
    ways: list[Way]
    budget: Budget
    reruns: list[str]


class Explaining(Reads, Workers):
    async def explain(self, job_id: str, *, now: datetime | None = None) -> Explanation:
        """Why a job is where it is and what would move it, by what is on the record. `now` is this host's clock."""
        check_text_name("job_id", job_id)
        story = await self._story(job_id)
        if not story.events:  # no program of ours leaves it so: somebody has been at the store
            raise StoreError(f"the log of job {job_id} is missing; see: detent verify", code="store_corrupt")
        job = Job(story.job, self._codec)
        at = to_moment(host_clock() if now is None else to_micros("now", now))
        facts = await self._facts(job, [Event(event) for event in story.events], at)
        undone = [note.payload["by_job_id"] for note in story.notes if note.kind == "compensated"]
        facts.compensated_by = undone[-1] if undone else None
        reasons = ends_of(job, facts) if job.is_ended else stays_of(job, facts)
        return Explanation(job, at, reasons, ways_of(job, facts, reasons), _budget(job, facts.lifecycle), facts.reruns)

    async def _facts(self, job: Job, events: list[Event], now: datetime) -> Facts:
        lifecycle = await self.lifecycle(job.lifecycle, job.lifecycle_version)
        asked = [event for event in events if event.verb == "request_cancel"]
        facts = Facts(now, lifecycle, events[-1], asked[-1] if asked else None)
        if job.phase == "ready":
            facts.queue_claim, facts.looked_back_to = await self._last_claim(job.queue, None)
            facts.kind_claim, _ = await self._last_claim(job.queue, job.kind)
            facts.waiting = (await self.count(queue=job.queue, phase="ready"))[()]
            facts.queue = next(iter(await self.store.queues(self.tenant, job.queue)), None)
            if job.limit_key is not None:
                facts.limit_key = await self.store.key_use(self.tenant, job.limit_key)
            facts.workers = await self.workers()
            facts.gone = None if any(serves(each, job) for each in facts.workers) else await self._gone(job)
        if job.phase == "parked" and "schedule" in lifecycle.table.allowed[job.state]:
            facts.workers = await self.workers()
        if job.is_ended:
            facts.reruns = [each.id for each in await self.reruns(job.id)]
        return facts

    async def _gone(self, job: Job) -> Worker | None:
        """The last worker that would have taken the job, or else the last of all, of those that are kept."""
        kept = await self.workers(within_s=WORKER_KEPT_S)
        return next((each for each in kept if serves(each, job)), kept[0] if kept else None)

    async def _last_claim(self, queue: str, kind: str | None) -> tuple[Event | None, datetime | None]:
        """The last claim, if the look back found one; and how far back it went, if not to the beginning."""
        asked: EventFilters = {"queue": queue, "verb": "claim"}
        if kind is not None:
            asked["kind"] = kind
        page = await self.recent(limit=1, **asked)
        if page.items or page.cursor is None:
            return next(iter(page), None), None
        beyond = await self.events(limit=1, cursor=page.cursor)
        return None, beyond.items[0].at if beyond.items else None


def _budget(job: Job, lifecycle: Lifecycle) -> Budget:
    retry = job.policy.retry
    attempts_max = retry.max_attempts if has_way_back(lifecycle) else 1
    left = attempts_max - job.failures - job.crashes
    if retry.crashes_max is not None:
        left = min(left, attempts_max if job.crashes < retry.crashes_max else 0)
    return Budget(
        job.failures, job.crashes, job.interruptions, attempts_max, retry.crashes_max, max(left, 0),
        _reruns_left(job, lifecycle),
    )  # fmt: skip


def _reruns_left(job: Job, lifecycle: Lifecycle) -> int:
    """A failure that goes back needs no other job, and whoever asked this one to stop does not want it again."""
    if not job.policy.rerun_failed or job.is_cancel_requested or "retry" in lifecycle.table.targets:
        return 0
    return max(job.policy.retry.max_attempts - 1 - job.record.retries, 0)
