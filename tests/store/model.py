"""What a store should do, said the obvious way: dictionaries, one request after the other, and the kernel.

It shares no line with `detent.store.planning` or with any store. It is slow and plain so that it can be read and
believed; the differential test holds the real stores against it.
"""

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Final, NamedTuple

from msgspec.structs import replace

from detent.errors import DetentError, NotFound, Refused
from detent.kernel import Change, Event, Job, Note, Receipt, decide
from detent.kernel.command import Command, Enqueue, RegisterArtifact, Rerun
from detent.kernel.compensating import compensation, is_owed, job_undone_by
from detent.kernel.digest import derived_id
from detent.kernel.due import due_command
from detent.kernel.notes import compensated, late_result
from detent.kernel.repeating import still_held
from detent.lifecycle import Lifecycle
from detent.store import ClaimRequest, Reply, Request, Retention

Key = tuple[str, str]
Answer = Reply | DetentError
SECOND: Final = 1_000_000
DAY: Final = 86_400 * SECOND
NOTES_MAX: Final = 100
WINDOW: Final = 10 * SECOND  # of every rate
VERBOSE_KEPT: Final = 3 * DAY


class Memory(NamedTuple):
    """What is remembered of a request: of a claim what was asked and taken, of any other its receipt."""

    until: int
    receipt: Receipt | None = None
    asked: ClaimRequest | None = None
    taken: dict[str, int] | None = None


class Model:
    def __init__(self, lifecycles: list[Lifecycle]) -> None:
        self.lifecycles = {(each.name, each.version): each for each in lifecycles}
        self.jobs: dict[Key, Job] = {}
        self.events: dict[Key, list[Event]] = defaultdict(list)
        self.notes: dict[Key, list[Note]] = defaultdict(list)
        self.depths_max: dict[Key, int | None] = {}
        self.paused: set[Key] = set()
        self.claims: dict[Key, list[int]] = defaultdict(list)  # by tenant and limit key, of those that have a rate
        self.full_until: dict[Key, int] = {}
        self.memories: dict[tuple[str, str, str], Memory] = {}
        self._ages: dict[Key, int] = {}  # in which order jobs were made
        self._age = 0
        self._verbose_until: dict[tuple[str, str, int], int] = {}  # of events and notes that are kept for a while only
        self._notes_until: dict[Key, list[int | None]] = defaultdict(list)
        self.now = 0

    # -- what a store is asked --------------------------------------------------------------------------------------

    def apply(self, requests: list[Request], now: int, random: Callable[[], float]) -> list[Answer]:
        self.now = now
        return [self._answer(request, random()) for request in requests]

    def claim(self, request: ClaimRequest, now: int) -> list[Answer]:
        self.now = now
        remembered = self._remembered(request.tenant, "claim", request.command.request_id)
        if remembered is not None:
            return self._claim_again(request, remembered)
        taken: list[Job] = []
        passed: set[str | None] = set()
        for job in self._claimable(request):
            key = job.spec.limit_key
            if len(taken) == request.limit or key in passed:
                continue
            if not self._admits(job):
                passed.add(key)
            elif (moved := self._moved(job, request.command, 0.5)) is not None:
                self._count(job)
                taken.append(moved)
        if taken and request.command.request_id is not None:
            attempts = {job.id: job.attempt for job in taken}
            memory = Memory(now + DAY, asked=_without_trace(request), taken=attempts)
            self.memories[request.tenant, "claim", request.command.request_id] = memory
        return [Reply(job) for job in taken]

    def reconcile(self, limit: int, now: int, random: Callable[[], float]) -> list[Answer]:
        self.now = now
        due = [(job.wake_at, self._ages[_key(job)], job) for job in self.jobs.values() if _is_past(job.wake_at, now)]
        replies: list[Answer] = []
        for _, _, job in sorted(due, key=lambda each: each[:2])[:limit]:
            command = due_command(self._own(job), job, now)
            moved = None if command is None else self._moved(job, command, random())
            replies += [Reply(moved)] if moved is not None else []
        return replies

    def prune(self, tenant: str, retention: Retention, now: int) -> None:
        self.now = now
        for key, job in list(self.jobs.items()):
            kept_s = retention.successes_s if self._outcome(job) == "success" else retention.others_s
            if key[0] == tenant and job.ended_at is not None and job.ended_at < now - round(kept_s * SECOND):
                self._remove(key)
        self.memories = {name: memory for name, memory in self.memories.items() if memory.until > now}
        self._forget_verbose()
        for limited, moments in list(self.claims.items()):
            if moments[-1] + WINDOW <= now:
                del self.claims[limited], self.full_until[limited]

    def purge(self, tenant: str, job_ids: list[str]) -> tuple[int, int]:
        """How many jobs and events went."""
        keys = {(tenant, job_id) for job_id in job_ids}
        ended = [key for key in keys if key in self.jobs and self.jobs[key].ended_at is not None]
        events = sum(len(self.events[key]) for key in ended)
        for key in ended:
            self._remove(key)
        return len(ended), events

    def _remove(self, key: Key) -> None:
        for kept in (self.jobs, self.events, self.notes, self._notes_until):
            kept.pop(key, None)
        self._verbose_until = {name: until for name, until in self._verbose_until.items() if name[:2] != key}
        of_job = (key[0], f"job {key[1]}")
        self.memories = {name: memory for name, memory in self.memories.items() if name[:2] != of_job}

    # -- one request ------------------------------------------------------------------------------------------------

    def _answer(self, request: Request, random: float) -> Answer:
        command, memory = request.command, None
        if command.request_id is not None:
            memory = self._remembered(request.tenant, _group(request), command.request_id)
        if memory is not None and (request.tenant, _named_by(memory)) not in self.jobs:
            memory = None  # what it was answered with is pruned: nothing of it is left to answer with
        job = self._about(request, memory)
        if job is None and not isinstance(command, Enqueue):
            return NotFound("no such job")
        lifecycle = request.lifecycle if request.lifecycle is not None else self._own(job)
        receipt = None if memory is None or job is None else _receipt_of(memory)
        answer = decide(lifecycle, job, command, self.now, random, receipt)
        if isinstance(answer, Refused):
            note = None if job is None else late_result(job, command, answer, self.now)
            self._keep_note(note)
            return answer
        obstacle = self._obstacle(answer, command, lifecycle) if answer.events else None
        if obstacle is not None:
            return obstacle
        if command.verb == "claim" and answer.events and job is not None:
            if not self._admits(job):
                return _refused("limit_reached", command, job, lifecycle)
            self._count(job)
        if isinstance(command, RegisterArtifact) and answer.answer == "noted" and self._is_known(answer.notes[0]):
            answer = replace(answer, notes=(), answer="unchanged")
        if answer.receipt is not None and command.request_id is not None:
            kept = Memory(self.now + DAY, receipt=answer.receipt)
            self.memories[request.tenant, _group(request), command.request_id] = kept
        return Reply(self._write(answer), answer.answer)

    def _about(self, request: Request, memory: Memory | None) -> Job | None:
        """The job a request is for: the one it was answered with, the one it names, or the one with its key."""
        command, tenant = request.command, request.tenant
        if memory is not None:
            return self.jobs[tenant, _named_by(memory)]
        job = self.jobs.get((tenant, request.job_id))
        if job is None and isinstance(command, Enqueue) and command.dedupe_key is not None:
            return self._live(tenant, command.kind, command.dedupe_key)
        return job

    def _obstacle(self, change: Change, command: Command, lifecycle: Lifecycle) -> Answer | None:
        before, spec = change.before, change.before.spec
        if isinstance(command, Rerun):
            old = self.jobs[spec.tenant, spec.parent_job_id or ""]
            conflict = self._conflict(old)
            if conflict is not None:
                return _refused("compensation_conflict", command, old, lifecycle, conflict)
            if (spec.tenant, spec.id) in self.jobs:
                return _refused("job_exists", command, before, lifecycle)
            twin = None if spec.dedupe_key is None else self._live(spec.tenant, spec.kind, spec.dedupe_key)
            if twin is not None:
                return Reply(twin, "duplicate")
        depth_max = self.depths_max.get((spec.tenant, spec.queue))
        waiting = [
            job
            for job in self.jobs.values()
            if (job.spec.tenant, job.spec.queue) == (spec.tenant, spec.queue) and job.claim_at is not None
        ]
        is_brought = command.verb in ("enqueue", "submit", "rerun") and before.owner is None
        is_full = depth_max is not None and len(waiting) >= depth_max and change.job.claim_at is not None
        return _refused("queue_full", command, before, lifecycle) if is_brought and is_full else None

    def _conflict(self, old: Job) -> str | None:
        """A job is run again once it is undone, and undone once."""
        if old.spec.policy.is_compensation:
            subject = job_undone_by(old, self._others(old))
            is_undone = subject is not None and self._has_note(subject, "compensated")
            return f"the work of job {subject.id} is undone already" if subject is not None and is_undone else None
        if not is_owed(old, self._others(old)) or self._has_note(old, "compensated"):
            return None
        return f"the work of job {old.id} is not undone yet; wait for its compensation, or run that again if it failed"

    def _is_known(self, said: Note) -> bool:
        """Whether the last word on the artifact, in the same attempt, is the same."""
        told = [
            note.payload
            for note in self.notes[said.tenant, said.job_id]
            if note.kind == "artifact"
            and (note.payload["attempt"], note.payload["name"]) == (said.payload["attempt"], said.payload["name"])
        ]
        return bool(told) and told[-1] == said.payload

    def _has_note(self, job: Job, kind: str) -> bool:
        return any(note.kind == kind for note in self.notes[_key(job)])

    def _others(self, job: Job) -> Callable[[str], Job | None]:
        return lambda job_id: self.jobs.get((job.spec.tenant, job_id))

    def _claim_again(self, request: ClaimRequest, memory: Memory) -> list[Answer]:
        if memory.asked != _without_trace(request):
            return [Refused("request_conflict", job_id="", verb="claim", state=None, allowed=(), lifecycle="")]
        taken = memory.taken or {}
        jobs = [self.jobs[request.tenant, each] for each in taken if (request.tenant, each) in self.jobs]
        return [Reply(job, "repeat") for job in still_held(jobs, taken, request.command.worker or "")]

    def _claimable(self, request: ClaimRequest) -> list[Job]:
        def suits(job: Job) -> bool:
            spec = job.spec
            return (
                spec.tenant == request.tenant
                and (spec.tenant, spec.queue) not in self.paused
                and spec.queue in request.queues
                and (request.kinds is None or spec.kind in request.kinds)
                and (request.adapters is None or spec.adapter_id in (None, *request.adapters))
                and _is_past(job.claim_at, self.now)
            )

        places = [(job.order_at, self._ages[_key(job)], job) for job in self.jobs.values() if suits(job)]
        return [job for _, _, job in sorted(places, key=lambda each: each[:2])]

    # -- limits per key ---------------------------------------------------------------------------------------------

    def _admits(self, job: Job) -> bool:
        spec = job.spec
        if spec.limit_key is None:
            return True
        key, limits = (spec.tenant, spec.limit_key), [spec.policy.limit]
        leased = [each.spec for each in self.jobs.values() if each.is_leased and _limited(each) == key]
        limits += [each.policy.limit for each in leased]
        if any(each is not None and len(leased) >= (each.concurrency_max or len(leased) + 1) for each in limits):
            return False
        if self.full_until.get(key, 0) > self.now:
            return False
        rate_max = None if spec.policy.limit is None else spec.policy.limit.rate_max
        return rate_max is None or sum(at > self.now - WINDOW for at in self.claims.get(key, ())) < rate_max

    def _count(self, job: Job) -> None:
        limit, key = job.spec.policy.limit, _limited(job)
        if limit is None or limit.rate_max is None:
            return
        assert limit.per_us == WINDOW
        moments = [at for at in self.claims[key] if at > self.now - WINDOW]
        self.claims[key] = moments = [*moments, max([self.now, *moments])]
        is_full = len(moments) >= limit.rate_max and moments[-limit.rate_max] + WINDOW > self.now
        self.full_until[key] = moments[-limit.rate_max] + WINDOW if is_full else 0

    # -- writing ----------------------------------------------------------------------------------------------------

    def _moved(self, job: Job, command: Command, random: float) -> Job | None:
        change = decide(self._own(job), job, command, self.now, random)
        return self._write(change) if isinstance(change, Change) and change.events else None

    def _with_free_id(self, spawned: Change) -> Change:
        """The id of a rerun follows from that of its job; if there is one of that id already, from that one's."""
        spec = spawned.before.spec
        while (spec.tenant, spec.id) in self.jobs:
            spec = replace(spec, id=derived_id(spec.id))
        events = tuple(replace(event, job_id=spec.id) for event in spawned.events)
        return replace(spawned, before=replace(spawned.before, spec=spec), events=events)

    def _compensated(self, change: Change) -> Change:
        """The end of a job brings along the job that undoes it; the success of that one is noted on it."""
        job = change.job
        if not change.events or not job.is_ended:
            return change
        if is_owed(job, self._others(job)):
            if change.spawned:
                spawned = tuple(map(self._with_free_id, change.spawned))
                return _saying(replace(change, spawned=spawned), "rerun_job_id", spawned[0].before.id)
            declared = job.spec.policy.compensate
            assert declared is not None
            made = compensation(self.lifecycles[declared.lifecycle, declared.lifecycle_version], change, job)
            made = self._with_free_id(made)
            return _saying(replace(change, spawned=(made,)), "compensation_job_id", made.before.id)
        subject = job_undone_by(job, self._others(job)) if job.spec.policy.is_compensation else None
        if job.outcome != "success" or subject is None or subject.outcome in (None, "success"):
            return change
        note = compensated(self._own(subject), subject, by_job_id=job.id, now=change.events[-1].at)
        return replace(change, notes=(*change.notes, note))

    def _write(self, change: Change) -> Job:
        change = self._compensated(change)
        job, key = change.job, _key(change.before)
        if change.answer == "repeat":
            return job
        self.jobs[key] = job
        if change.before.rev == 0:
            self._age += 1
            self._ages[key] = self._age
        self.events[key] += change.events
        for event in change.events:
            if event.verb == "renew" and event.payload is not None:
                self._verbose_until[(*key, event.rev)] = self.now + VERBOSE_KEPT
        for note in change.notes:
            self._keep_note(note)
        for spawned in change.spawned:
            self._write(self._with_free_id(spawned))
        return job

    def _keep_note(self, note: Note | None) -> None:
        if note is None:
            return
        key = note.tenant, note.job_id
        if sum(kept.kind == note.kind for kept in self.notes[key]) < NOTES_MAX:
            self.notes[key].append(note)
            self._notes_until[key].append(self.now + VERBOSE_KEPT if note.kind == "progress" else None)

    def _forget_verbose(self) -> None:
        for (tenant, job_id, rev), until in list(self._verbose_until.items()):
            log = self.events.get((tenant, job_id))
            if until <= self.now and log is not None:
                log[rev - 1] = replace(log[rev - 1], payload=None)
        for key, moments in self._notes_until.items():
            stays = [until is None or until > self.now for until in moments]
            self.notes[key] = [note for note, kept in zip(self.notes[key], stays, strict=True) if kept]
            self._notes_until[key] = [until for until, kept in zip(moments, stays, strict=True) if kept]

    # -- looking ----------------------------------------------------------------------------------------------------

    def _remembered(self, tenant: str, group: str, request_id: str | None) -> Memory | None:
        memory = None if request_id is None else self.memories.get((tenant, group, request_id))
        return memory if memory is not None and memory.until > self.now else None

    def _live(self, tenant: str, kind: str, dedupe_key: str) -> Job | None:
        wanted = tenant, kind, dedupe_key
        for job in self.jobs.values():
            if (job.spec.tenant, job.spec.kind, job.spec.dedupe_key) == wanted and not job.is_ended:
                return job
        return None

    def _own(self, job: Job | None) -> Lifecycle:
        assert job is not None
        return self.lifecycles[job.spec.lifecycle, job.spec.lifecycle_version]

    def counts(self, tenant: str) -> Counter[tuple[str | None, ...]]:
        """Jobs by lifecycle, state, phase, outcome, queue and kind."""
        jobs = [job for job in self.jobs.values() if job.spec.tenant == tenant]
        return Counter(
            (job.spec.lifecycle, job.state, job.phase, self._outcome(job), job.spec.queue, job.spec.kind)
            for job in jobs
        )

    def _outcome(self, job: Job) -> str | None:
        return self._own(job).by_name[job.state].outcome


def _key(job: Job) -> Key:
    return job.spec.tenant, job.spec.id


def _limited(job: Job) -> Key:
    return job.spec.tenant, job.spec.limit_key or ""


def _group(request: Request) -> str:
    """Within what its request id is unique, beside the tenant: its verb, or else its job."""
    verb = request.command.verb
    return verb if verb in ("enqueue", "claim") else f"job {request.job_id}"


def _named_by(memory: Memory) -> str:
    return memory.receipt.job_id if memory.receipt is not None else next(iter(memory.taken or ()))


def _receipt_of(memory: Memory) -> Receipt:
    """Of a claim from a queue there is none for a single job: whatever is asked under its id is another request."""
    return memory.receipt or Receipt("", "", "", 0)


def _without_trace(request: ClaimRequest) -> ClaimRequest:
    return replace(request, command=replace(request.command, trace_id=None))


def _is_past(moment: int | None, now: int) -> bool:
    return moment is not None and moment <= now


def _saying(change: Change, name: str, value: str) -> Change:
    last = change.events[-1]
    said = replace(last, payload={**(last.payload or {}), name: value})
    return replace(change, events=(*change.events[:-1], said))


def _refused(code: str, command: Command, job: Job, lifecycle: Lifecycle, detail: str = "") -> Refused:
    state = job.state if job.rev else None
    allowed = lifecycle.table.allowed[state] if state is not None else ()
    return Refused(
        code,
        job_id=job.id,
        verb=command.verb,
        state=state,
        allowed=allowed,
        lifecycle=lifecycle.name,
        detail=detail,
    )
