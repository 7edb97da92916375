"""One moment of the explored world: jobs, workers and what they remember, messages in flight, faults still allowed.

Worlds are immutable. `key` says when two of them behave alike: revisions, attempts and the clock count only
relative to each other, so that the number of worlds that differ is finite.
"""

from operator import attrgetter
from typing import Any, Final, NamedTuple

from detent.kernel import Job
from detent.kernel.command import Command
from detent.store.request import Kept

MOMENTS: Final = attrgetter(
    "lease_expires_at", "heartbeat_by", "claim_at", "wake_at", "deadline_at", "cancel_by", "due_at"
)


class Message(NamedTuple):
    """A request on the network: to one job, or, for a claim, to the queue (`to` is None)."""

    to: int | None
    command: Command
    limit: int = 1


class Worker(NamedTuple):
    """A process. `memory` is what it last heard of each job; `unanswered` is a request whose reply got lost."""

    memory: tuple[Job | None, ...]
    unanswered: Message | None = None


class World(NamedTuple):
    now: int
    jobs: tuple[Job, ...]
    workers: tuple[Worker, ...]
    in_flight: tuple[Message, ...] = ()
    kept: tuple[Kept, ...] = ()
    faults_left: int = 2

    def settled(self) -> "World":
        """Without what is remembered of requests that nobody can repeat any more."""
        if not self.kept:
            return self
        waiting = [worker.unanswered for worker in self.workers if worker.unanswered is not None]
        open_ids = {message.command.request_id for message in (*self.in_flight, *waiting)}
        return self._replace(kept=tuple(kept for kept in self.kept if kept.receipt.request_id in open_ids))

    def with_job(self, index: int, job: Job) -> "World":
        return self._replace(jobs=_put(self.jobs, index, job))

    def with_worker(self, index: int, worker: Worker) -> "World":
        return self._replace(workers=_put(self.workers, index, worker))

    def remembering(self, who: int, index: int, job: Job | None) -> "World":
        worker = self.workers[who]
        return self.with_worker(who, worker._replace(memory=_put(worker.memory, index, job)))


def key(world: World, *, is_last_owner_known: bool) -> tuple[Any, ...]:
    """Equal for worlds with the same future. Workers are told apart by what they hold and sent, not by name.

    Who had a job last matters only where the lifecycle lets that worker repeat itself.
    """
    now, jobs = world.now, world.jobs
    system = tuple(
        sorted(_message_key(message, world) for message in world.in_flight if message.command.worker is None)
    )
    workers = sorted(
        _worker_key(f"w{who}", worker, world, is_last_owner_known) for who, worker in enumerate(world.workers)
    )
    return tuple(_job_key(job, now) for job in jobs), _order(jobs), system, tuple(workers)


def _job_key(job: Job, now: int) -> tuple[Any, ...]:
    if job.phase == "ended":
        return (job.state, job.result_digest)
    ahead = tuple(-1 if moment is None else max(moment - now, 0) for moment in MOMENTS(job))
    limit_first = job.deadline_at is not None and job.heartbeat_by is not None and job.deadline_at <= job.heartbeat_by
    return job.state, job.failures, job.crashes, job.verdict, ahead, limit_first, job.attempt > 0


def _worker_key(name: str, worker: Worker, world: World, is_last_owner_known: bool) -> tuple[Any, ...]:
    jobs = world.jobs
    ties = tuple(
        (_freshness(seen, job), job.owner == name, is_last_owner_known and job.last_owner == name)
        for seen, job in zip(worker.memory, jobs, strict=True)
    )
    if not world.in_flight and worker.unanswered is None:
        return ties, (), (), ()
    sent = sorted(_message_key(message, world) for message in world.in_flight if message.command.worker == name)
    unanswered = () if worker.unanswered is None else _message_key(worker.unanswered, world)
    known = tuple(
        _held(jobs, kept.claimed)
        for kept in world.kept
        if kept.claimed is not None and kept.receipt.request_id.startswith(name)
    )
    return ties, tuple(sent), unanswered, known


def _freshness(seen: Job | None, job: Job) -> int:
    """0 nothing remembered, 1 an older attempt, 2 this attempt but an older revision, 3 up to date."""
    if seen is None:
        return 0
    if seen.attempt != job.attempt:
        return 1
    return 3 if seen.rev == job.rev else 2


def is_outdated(command: Command, job: Job) -> bool:
    """Whether its fence can never hold again. All such requests are alike: whatever they ask, it must be refused."""
    return command.attempt not in (None, job.attempt) or command.expected_rev not in (None, job.rev)


def _message_key(message: Message, world: World) -> tuple[Any, ...]:
    command = message.command
    if command.request_id is not None and message.to is not None and _is_known(world, command.request_id):
        return message.to, "repeat", 0, False
    if message.to is None:
        return -1, _content(command), message.limit, command.request_id is None
    if is_outdated(command, world.jobs[message.to]):
        return message.to, "outdated", 0, False
    return message.to, _content(command), command.expected_rev is None, command.request_id is None


def _content(command: Command) -> str:
    """The verb, and of its arguments what makes a difference to how it turns out."""
    error = getattr(command, "error", None)
    extra = error.type if error is not None else getattr(command, "mode", None) or getattr(command, "start", None)
    return f"{command.verb} {extra} {command.attempt is None}"


def _order(jobs: tuple[Job, ...]) -> int | None:
    return _compare(jobs[0].order_at, jobs[1].order_at) if len(jobs) > 1 else None


def _is_known(world: World, request_id: str) -> bool:
    return any(kept.claimed is None and kept.receipt.request_id == request_id for kept in world.kept)


def _held(jobs: tuple[Job, ...], claimed: dict[str, int]) -> tuple[bool, ...]:
    return tuple(claimed.get(job.id) == job.attempt for job in jobs)


def _compare(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else (one > other) - (one < other)


def _put(items: tuple[Any, ...], index: int, item: object) -> tuple[Any, ...]:
    return (*items[:index], item, *items[index + 1 :])
