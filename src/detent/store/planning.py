"""From requests to what is to be written. Pure, and shared by every store: none states a rule a second time."""

from collections.abc import Callable, Iterable, Sequence
from typing import Final

from msgspec import Struct, field
from msgspec.structs import replace

from detent import kernel
from detent.errors import DetentError, InvalidArgument, NotFound, Refused
from detent.kernel import Change, Job, Note, Receipt
from detent.kernel.alike import Decide, Precedent
from detent.kernel.artifacts import ARTIFACTS_MAX, is_registered
from detent.kernel.command import Command, Enqueue, RegisterArtifact, Rerun
from detent.kernel.digest import derived_id, digest_of
from detent.kernel.due import due_command
from detent.kernel.notes import late_result
from detent.kernel.repeating import still_held, whoever_asked
from detent.lifecycle import Lifecycle
from detent.store import compensating
from detent.store.facts import Facts, WorkingCopy
from detent.store.limits import KeyRate
from detent.store.request import ClaimRequest, Kept, Replies, Reply, Request, Scope, scope_of
from detent.store.spawning import with_free_id

Random = Callable[[], float]
# Verbs by which callers put jobs into a queue. What comes back to it by itself finds its place, full or not.
_FILLING: Final = frozenset({"enqueue", "submit", "rerun"})


class Plan(Struct):
    """What a transaction writes, in this order, and what it answers."""

    replies: Replies = field(default_factory=list)
    changes: list[tuple[Change, Job]] = field(default_factory=list)  # each with the job as it leaves it
    notes: list[Note] = field(default_factory=list)  # those of the changes, and of results that came too late
    kept: list[Kept] = field(default_factory=list)
    rates: list[KeyRate] = field(default_factory=list)  # of limit keys, after the claims


def plan(requests: Sequence[Request], facts: Facts, now: int, random: Random, decide: Decide = kernel.decide) -> Plan:
    """Decide each request on the store as the ones before it leave it.

    `decide` is the kernel's; the exploration passes broken ones, to see that it notices.
    """
    planned, copy, precedent = Plan(), WorkingCopy(facts), Precedent(decide)
    for request in requests:
        try:
            reply = _followed(request, copy, planned, now, precedent)
            planned.replies.append(reply or _settle(request, copy, planned, now, random(), precedent))
        except (InvalidArgument, NotFound) as wrong:  # settings that do not fit its lifecycle; others need not suffer
            planned.replies.append(wrong)
    planned.rates = copy.limits.rates()
    return planned


def plan_claim(
    request: ClaimRequest,
    due: Iterable[Job],
    facts: Facts,
    now: int,
    decide: Decide = kernel.decide,
    passed: set[str] | None = None,
) -> Plan:
    """Claim the first of the jobs that are due, up to the limit; a repeat gets what it still holds, and no more.

    Limit keys that take no more are added to `passed`: whoever looks for further jobs need not bring theirs.
    """
    planned, copy, command, decide = Plan(), WorkingCopy(facts), request.command, Precedent(decide)
    passed = set() if passed is None else passed
    scope = None if command.request_id is None else scope_of(request.tenant, "", "claim", command.request_id)
    kept = None if scope is None else copy.kept(scope)
    if kept is not None:
        planned.replies += _claim_again(request, kept, copy)
        return planned
    for job in due:
        key = job.spec.limit_key
        if key is not None and (key in passed or not copy.limits.admits(job, now)):
            passed.add(key)
            continue
        lifecycle = copy.lifecycle(job.spec.lifecycle, job.spec.lifecycle_version)
        named = _named(job, job.id, command) if lifecycle.requires_rev else command
        change = decide(lifecycle, job, named, now, 0.5, None)
        if isinstance(change, Change) and change.events:
            claimed = change.job
            planned.changes.append((change, claimed))
            planned.replies.append(Reply(claimed))
            if key is not None:
                copy.limits.took(job, now)
        if len(planned.changes) == request.limit:
            break  # before the next is looked for
    if scope is not None and planned.changes:
        planned.kept.append(_kept_claim(request, scope, planned))
    planned.rates = copy.limits.rates()
    return planned


def plan_due(due: Iterable[Job], facts: Facts, now: int, random: Random) -> Plan:
    """What time demands of these jobs."""
    planned, copy = Plan(), WorkingCopy(facts)
    for job in due:
        lifecycle = copy.lifecycle(job.spec.lifecycle, job.spec.lifecycle_version)
        command = due_command(lifecycle, job, now)
        change = None if command is None else kernel.decide(lifecycle, job, command, now, random())
        if isinstance(change, Change) and change.events:
            planned.replies.append(_write(change, None, copy, planned))
    return planned


def _followed(request: Request, copy: WorkingCopy, planned: Plan, now: int, precedent: Precedent) -> Reply | None:
    """The short way, for what was asked of the job before and a job like that one: nothing stands in its way but what
    stood in the other's. None, if it is not so.
    """
    if request.lifecycle is not None or not precedent.is_for(request.command):
        return None
    job = copy.job(request.tenant, request.job_id)
    if job is None or job.spec.dedupe_key is not None or job.spec.limit_key is not None:
        return None
    change = precedent.followed_by(job, now)
    if change is None:
        return None
    after = copy.apply(change)
    planned.changes.append((change, after))
    return Reply(after)


def _settle(
    request: Request, copy: WorkingCopy, planned: Plan, now: int, random: float, decide: Decide
) -> Reply | DetentError:
    tenant, job_id, command = request.tenant, request.job_id, request.command
    scope = None if command.request_id is None else scope_of(tenant, job_id, command.verb, command.request_id)
    kept = None if scope is None else _kept(scope, copy)
    job = _job(request, kept, copy)
    if job is None and not isinstance(command, Enqueue):
        return NotFound(f"there is no job {job_id} in tenant '{tenant}'; look at the id and the tenant")
    lifecycle = request.lifecycle
    if lifecycle is None:
        assert job is not None, "a request without a lifecycle is for a job that exists"
        lifecycle = copy.lifecycle(job.spec.lifecycle, job.spec.lifecycle_version)
    if lifecycle.requires_rev:
        command = _named(job, job_id, command)
    receipt = None if kept is None or job is None else kept.receipt
    answer = decide(lifecycle, job, command, now, random, receipt)
    if isinstance(answer, Refused):
        note = None if job is None else late_result(job, command, answer, now)
        planned.notes += [note] if note is not None else []
        return answer
    if command.verb in _FILLING and answer.events:
        in_the_way = _in_the_way(answer, lifecycle, command, copy)
        if in_the_way is not None:
            return in_the_way
    if answer.notes and isinstance(command, RegisterArtifact):
        room = _artifact(answer, lifecycle, command, copy)
        if isinstance(room, Refused):
            return room
        answer = room
    if job is not None and job.spec.limit_key is not None and command.verb == "claim" and answer.events:
        if not copy.limits.admits(job, now):
            return _refused("limit_reached", command, job, lifecycle)
        copy.limits.took(job, now)
    return _write(answer, scope, copy, planned)


def _kept(scope: Scope, copy: WorkingCopy) -> Kept | None:
    """What is remembered of a request, unless the job it was answered with has been removed."""
    kept = copy.kept(scope)
    return kept if kept is not None and copy.job(scope.tenant, kept.receipt.job_id) is not None else None


def _job(request: Request, kept: Kept | None, copy: WorkingCopy) -> Job | None:
    """The job a request is about: of a repeat the one it was answered with; of an enqueue the one in its place."""
    command, tenant = request.command, request.tenant
    if kept is not None:
        return copy.job(tenant, kept.receipt.job_id)
    job = None if request.is_fresh else copy.job(tenant, request.job_id)
    if job is None and isinstance(command, Enqueue) and command.dedupe_key is not None:
        return copy.live(tenant, command.kind, command.dedupe_key)
    return job


def _named(job: Job | None, job_id: str, command: Command) -> Command:
    """Where a lifecycle wants every request named, one that came without a name is named after what it does.

    It is on the record, but not kept: nobody knows it, so nobody can repeat it.
    """
    if command.request_id is not None:
        return command
    rev = 0 if job is None else job.rev
    return replace(command, request_id=derived_id(job_id, rev, digest_of(command)))


def _in_the_way(change: Change, lifecycle: Lifecycle, command: Command, copy: WorkingCopy) -> Refused | Reply | None:
    """What keeps a job from the queue: that it is full; a rerun also that its id, or its key, is taken, or that
    the work of the job is still to be undone.
    """
    spec = change.before.spec
    compensating.check_declared(change, copy)
    if isinstance(command, Rerun):
        old = copy.job(spec.tenant, spec.parent_job_id or "")
        detail = None if old is None else compensating.conflict(old, copy)
        if old is not None and detail is not None:
            return _refused("compensation_conflict", command, old, lifecycle, detail)
        if copy.job(spec.tenant, spec.id) is not None:
            return _refused("job_exists", command, change.before, lifecycle)
        twin = None if spec.dedupe_key is None else copy.live(spec.tenant, spec.kind, spec.dedupe_key)
        if twin is not None:
            return Reply(twin, "duplicate")
    # A worker that hands its job on to the next queue does not come from outside.
    will_wait = change.before.owner is None and change.events[-1].changes.get("claim_at") is not None
    room = copy.room(spec.tenant, spec.queue) if will_wait else None
    return _refused("queue_full", command, change.before, lifecycle) if room is not None and room <= 0 else None


def _artifact(change: Change, lifecycle: Lifecycle, command: RegisterArtifact, copy: WorkingCopy) -> Change | Refused:
    """A job has so many artifacts. What is registered already is not registered again."""
    job = change.job
    known = copy.noted(job.spec.tenant, job.id, "artifact")
    if not change.events and is_registered(command, job, known):
        return replace(change, notes=(), answer="unchanged")
    if len(known) >= ARTIFACTS_MAX:
        return _refused("too_many_artifacts", command, job, lifecycle)
    return change


def _refused(code: str, command: Command, job: Job, lifecycle: Lifecycle, detail: str = "") -> Refused:
    """A job that was not made is in no state."""
    state = job.state if job.rev else None
    allowed = () if state is None else lifecycle.table.allowed[state]
    return Refused(
        code,
        job_id=job.id,
        verb=command.verb,
        state=state,
        allowed=allowed,
        lifecycle=lifecycle.name,
        detail=detail,
    )


def _write(change: Change, scope: Scope | None, copy: WorkingCopy, planned: Plan) -> Reply:
    if change.spawned:
        change = replace(change, spawned=tuple(with_free_id(spawned, copy) for spawned in change.spawned))
    if compensating.is_concerned(change):
        change = compensating.brought_along(change, copy)
    job = copy.apply(change) if change.answer != "repeat" else change.before
    if change.receipt is not None and scope is not None:
        kept = Kept(scope, change.receipt)
        copy.remember(kept)
        planned.kept.append(kept)
    if change.events or change.notes:
        planned.changes.append((change, job))
        planned.notes += change.notes
    return Reply(job, change.answer)


def _claim_again(request: ClaimRequest, kept: Kept, copy: WorkingCopy) -> Replies:
    command = request.command
    if kept.receipt.digest != _fingerprint(request):
        return [Refused("request_conflict", job_id="", verb="claim", state=None, allowed=(), lifecycle="")]
    claimed = kept.claimed or {}
    jobs = [job for job_id in claimed if (job := copy.job(request.tenant, job_id)) is not None]
    return [Reply(job, "repeat") for job in still_held(jobs, claimed, command.worker or "")]


def _kept_claim(request: ClaimRequest, scope: Scope, planned: Plan) -> Kept:
    jobs = [job for _, job in planned.changes]
    receipt = Receipt(scope.request_id, _fingerprint(request), jobs[0].id, jobs[0].rev)
    return Kept(scope, receipt, {job.id: job.attempt for job in jobs})


def _fingerprint(request: ClaimRequest) -> str:
    """The content of a claim: what was asked of which queues, whoever asked."""
    return digest_of((whoever_asked(request.command), request.queues, request.kinds, request.adapters, request.limit))
