"""How requests reach the register and answers come back: to one job, or to the queue; repeats told apart."""

from msgspec.structs import replace

from detent.errors import Refused
from detent.kernel import Change, Job, Receipt
from detent.kernel.command import Command
from detent.kernel.repeating import still_held
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
        after, _ = self.send(world, index, message.command, seen=world.workers[who].memory[index])
        job = after.jobs[index]
        keeps = job.owner == name and message.command.attempt in (None, job.attempt)
        return after.remembering(who, index, job if keeps else None)

    def send(
        self, world: World, index: int, command: Command, seen: Job | None = None
    ) -> tuple[World, Change | Refused]:
        """A request to one job, decided and written; `seen` is what the sender remembers of it."""
        job = world.jobs[index]
        receipt = self.receipt(world, command)
        answer = self.machinery.ask(job, seen, command, world.now, receipt)
        self.machinery.judge_repeat(job, command, receipt, answer)
        if isinstance(answer, Refused):
            return world, answer
        after = world
        if answer.events:
            after = world.with_job(index, self.machinery.write(job, command, answer, world.now))
        if answer.receipt is not None:
            after = after._replace(receipts=(*after.receipts, (answer.receipt.request_id, answer.receipt)))
        return after, answer

    def claim(self, world: World, who: int | None, message: Message) -> World:
        """What a store does for a claim: the first due jobs, each decided; a repeat gets what it still has."""
        command = message.command
        first = dict(world.claims).get(command.request_id or "")
        if first is not None:
            kept = {job.id for job in still_held(list(world.jobs), dict(first), command.worker or "")}
            return _answered(world, who, kept)
        won: dict[str, int] = {}
        bare = replace(command, request_id=None)
        for index in claimable(world)[: message.limit]:
            world, answer = self.send(world, index, bare)
            if isinstance(answer, Change):
                won[world.jobs[index].id] = world.jobs[index].attempt
        if command.request_id is not None:
            world = world._replace(claims=(*world.claims, (command.request_id, tuple(won.items()))))
        return _answered(world, who, set(won))

    def receipt(self, world: World, command: Command) -> Receipt | None:
        return None if command.request_id is None else dict(world.receipts).get(command.request_id)


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
