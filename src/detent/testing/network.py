"""How requests reach the register and answers come back: to one job, or to the queue.

What is written, and how repeats are told apart, is what every store does: it is planned by `detent.store.planning`.
"""

from detent.errors import Refused
from detent.kernel import Change, Job, Note, Receipt
from detent.kernel.alike import Decide
from detent.kernel.command import Claim, Command
from detent.lifecycle import Lifecycle
from detent.store.limits import KeyUse
from detent.store.planning import Plan, plan, plan_claim
from detent.store.request import ClaimRequest, Kept, Reply, Request, Scope, scope_of
from detent.testing.machinery import Machinery
from detent.testing.world import Message, Worker, World


class Network:
    def __init__(self, machinery: Machinery) -> None:
        self.machinery = machinery

    def ask(self, world: World, who: int, message: Message) -> World:
        """A worker's request and its answer, which is what the worker knows from then on."""
        if message.to is None:
            return self.claim(world, who, message)
        index, name = message.to, worker_name(who)
        after = self.send(world, index, message.command, seen=world.workers[who].memory[index])
        job = after.jobs[index]
        keeps = job.owner == name and message.command.attempt in (None, job.attempt)
        return after.remembering(who, index, job if keeps else None)

    def send(self, world: World, index: int, command: Command, seen: Job | None = None) -> World:
        """A request to one job, planned and written; `seen` is what the sender remembers of it."""
        job, register = world.jobs[index], Register(world, self.machinery.lifecycle)
        request = Request(job.spec.tenant, job.id, command)
        planned = plan([request], register, world.now, _always_half, self._decide(seen))
        self._judge_repeat(job, command, planned, register.receipt(request))
        return self._written(world, command, planned)

    def claim(self, world: World, who: int | None, message: Message) -> World:
        """To the queue: the first due jobs, each decided; a repeat gets what it still has."""
        assert isinstance(message.command, Claim)
        due = [world.jobs[index] for index in claimable(world)]
        request = ClaimRequest("default", message.command, limit=message.limit)
        register = Register(world, self.machinery.lifecycle)
        planned = plan_claim(request, due, register, world.now, self._decide(None))
        after = self._written(world, message.command, planned)
        return _answered(after, who, {reply.job.id for reply in planned.replies if isinstance(reply, Reply)})

    def receipt(self, world: World, index: int, command: Command) -> Receipt | None:
        job = world.jobs[index]
        return Register(world, self.machinery.lifecycle).receipt(Request(job.spec.tenant, job.id, command))

    def _decide(self, seen: Job | None) -> Decide:
        def decide(
            lifecycle: Lifecycle, job: Job | None, command: Command, now: int, random: float, receipt: Receipt | None
        ) -> Change | Refused:
            assert job is not None, "nobody enqueues in these worlds"
            return self.machinery.ask(job, seen, command, now, receipt)

        return decide

    def _judge_repeat(self, job: Job, command: Command, planned: Plan, receipt: Receipt | None) -> None:
        for change, _ in planned.changes:
            self.machinery.judge_repeat(job, command, receipt, change)

    def _written(self, world: World, command: Command, planned: Plan) -> World:
        after = world._replace(kept=(*world.kept, *planned.kept)) if planned.kept else world
        for change, _ in planned.changes:
            self.machinery.judge_notes(change.before, command, change, world.now)
            if change.events:
                index = next(at for at, job in enumerate(world.jobs) if job.id == change.before.id)
                after = after.with_job(index, self.machinery.write(world.jobs[index], command, change, world.now))
        return after


class Register:
    """A world as the facts that stores plan on: what is planned here is what a store would write."""

    def __init__(self, world: World, lifecycle: Lifecycle) -> None:
        self._world = world
        self._lifecycle = lifecycle

    def job(self, tenant: str, job_id: str) -> Job | None:
        return next((job for job in self._world.jobs if job.id == job_id), None)

    def live(self, tenant: str, kind: str, dedupe_key: str) -> Job | None:
        return None

    def kept(self, scope: Scope) -> Kept | None:
        return next((kept for kept in self._world.kept if kept.scope == scope), None)

    def room(self, tenant: str, queue: str) -> int | None:
        return None

    def noted(self, tenant: str, job_id: str, kind: str) -> list[Note]:
        return []

    def use(self, tenant: str, limit_key: str) -> KeyUse | None:
        return KeyUse()

    def lifecycle(self, name: str, version: int) -> Lifecycle:
        return self._lifecycle

    def receipt(self, request: Request) -> Receipt | None:
        command = request.command
        if command.request_id is None:
            return None
        kept = self.kept(scope_of(request.tenant, request.job_id, command.verb, command.request_id))
        return None if kept is None else kept.receipt


def _always_half() -> float:
    return 0.5


def claimable(world: World) -> list[int]:
    """The jobs a claim may take now, first come first."""
    due = [
        (job.order_at or 0, index)
        for index, job in enumerate(world.jobs)
        if job.claim_at is not None and job.claim_at <= world.now
    ]
    return [index for _, index in sorted(due)]


def worker_name(who: int) -> str:
    return f"w{who}"


def _answered(world: World, who: int | None, held: set[str]) -> World:
    if who is None:
        return world
    worker: Worker = world.workers[who]
    memory = tuple(job if job.id in held else seen for job, seen in zip(world.jobs, worker.memory, strict=True))
    return world.with_worker(who, worker._replace(memory=memory, unanswered=None))
