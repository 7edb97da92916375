"""Everything that can happen next in a world: the clock, the system, people, workers, and the faults of all of them."""

from collections.abc import Iterator
from typing import Any, Final

from msgspec.structs import replace

from detent.errors import Refused
from detent.kernel import Change, Error, Job
from detent.kernel.command import (
    COMMANDS,
    Cancel,
    Claim,
    Command,
    Complete,
    DeadLetter,
    Fail,
    Release,
    Renew,
    ReportProgress,
    Schedule,
    Stall,
    Start,
    Verdict,
)
from detent.kernel.due import due_command
from detent.kernel.job import Progress
from detent.kernel.repeating import still_held
from detent.lifecycle.words import WORKING
from detent.testing.machinery import Machinery
from detent.testing.world import Message, Worker, World, is_outdated

Step = tuple[str, World]

_TRANSIENT: Final = Error("TransientError", "try again")
_PERMANENT: Final = Error("PermanentError", "never again")
# What a worker may say of a job it holds, or believes it holds.
WORDS: Final[tuple[tuple[str, Command], ...]] = (
    ("start", Start()),
    ("renew", Renew()),
    ("complete", Complete()),
    ("fail for now", Fail(error=_TRANSIENT)),
    ("fail for good", Fail(error=_PERMANENT)),
    ("release", Release()),
    ("stall", Stall()),
    ("cancel", Cancel(mode="hard")),
    ("dead_letter", DeadLetter(reason_code="parse_error")),
    ("progress", ReportProgress(progress=Progress(0.5))),
)


class Actions:
    def __init__(self, machinery: Machinery, *, is_claims_only: bool) -> None:
        self.machinery = machinery
        self.lifecycle = machinery.lifecycle
        self.is_claims_only = is_claims_only
        owned = {move.verb for move in self.lifecycle.moves if "owner" in move.by} | {"cancel"}
        told = owned | ({"progress"} if self.lifecycle.implies_start else set())
        self.words = tuple((label, word) for label, word in WORDS if word.verb in told)
        if is_claims_only:
            self.words = tuple(word for word in self.words if word[0] == "complete")

    def steps(self, world: World) -> Iterator[Step]:
        yield from self._clock(world)
        yield from self._reconciler(world)
        yield from self._deliveries(world)
        for who in range(len(world.workers)):
            yield from self._claims(world, who)
            yield from self._words(world, who)
        yield from self._controls(world)

    # -- the system -------------------------------------------------------------------------------------------------

    def _clock(self, world: World) -> Iterator[Step]:
        """Jump to the next moment at which anything can turn out differently."""
        moments = {moment for job in world.jobs for moment in _moments(job) if moment > world.now}
        if moments:
            then = min(moments)
            yield f"{(then - world.now) / 1e6:g} s pass", world._replace(now=then)

    def _reconciler(self, world: World) -> Iterator[Step]:
        for index, job in enumerate(world.jobs):
            command = due_command(self.lifecycle, job, world.now)
            if command is None:
                continue
            yield f"reconciler: {command.verb}", self._send(world, index, command)[0]
            if world.faults_left:
                late = _fault(world)._replace(in_flight=(*world.in_flight, Message(index, command)))
                yield f"reconciler pauses before {command.verb}", late

    def _controls(self, world: World) -> Iterator[Step]:
        """Whoever else the lifecycle lets in. A cancel is a disturbance, so it uses up a fault."""
        for index, job in enumerate(world.jobs):
            for verb in self.lifecycle.table.allowed[job.state]:
                if self.is_claims_only and verb != "requeue":
                    continue  # a person may have to send a used-up job round again; nothing else is of interest
                for role in _heard(verb, self.lifecycle.table.routes[job.state][verb].by):
                    for command in _orders(verb, role, job):
                        is_fault = verb in ("cancel", "request_cancel")
                        if not is_fault or world.faults_left:
                            start = _fault(world) if is_fault else world
                            yield f"{role}: {_named(command)}", self._send(start, index, command)[0]

    # -- workers ----------------------------------------------------------------------------------------------------

    def _claims(self, world: World, who: int) -> Iterator[Step]:
        if world.workers[who].unanswered is not None or not self._claimable(world):
            return
        for limit in range(1, len(world.jobs) + 1):
            for starts in (True,) if self.is_claims_only else (False, True):
                command = Claim(worker=_name(who), start=starts)
                said = f"w{who}: claim {limit}{' and start' if starts else ''}"
                yield said, self._claim(world, who, Message(None, command, limit))
                if world.faults_left and (self.is_claims_only or not starts):
                    yield from self._doubtful(world, who, Message(None, command, limit), said)

    def _words(self, world: World, who: int) -> Iterator[Step]:
        worker = world.workers[who]
        if worker.unanswered is not None:
            message = worker.unanswered
            fresh = world.with_worker(who, worker._replace(unanswered=None))
            yield f"w{who}: asks {message.command.verb} again", self._deliver(fresh, who, message)
            return
        for index, seen in enumerate(worker.memory):
            if seen is None:
                continue
            if is_outdated(self._fenced(Start(), who, seen), world.jobs[index]):
                yield f"w{who} wakes up and goes on", self._speak_in_vain(world, who, index, seen)
                continue
            for label, word in self.words:
                message = Message(index, self._fenced(word, who, seen))
                yield f"w{who}: {label}", self._deliver(world, who, message)
                if world.faults_left:
                    yield from self._doubtful(world, who, message, f"w{who}: {label}")
                    gone = _fault(world).remembering(who, index, None)
                    left = gone._replace(in_flight=(*world.in_flight, message))
                    yield f"w{who}: {label}, on its way as w{who} crashes", left
            if world.faults_left:
                yield f"w{who} crashes", _fault(world).remembering(who, index, None)

    def _doubtful(self, world: World, who: int, message: Message, said: str) -> Iterator[Step]:
        """The same request twice on the network, or carried out with its reply lost."""
        named = message._replace(command=replace(message.command, request_id=f"w{who} r{world.faults_left}"))
        once = self._deliver(_fault(world), who, named)
        yield f"{said}, sent twice", once._replace(in_flight=(*world.in_flight, named))
        unheard = once.with_worker(who, world.workers[who]._replace(unanswered=named))
        yield f"{said}, reply lost", unheard

    def _deliveries(self, world: World) -> Iterator[Step]:
        for at, message in enumerate(world.in_flight):
            rest = world._replace(in_flight=world.in_flight[:at] + world.in_flight[at + 1 :])
            label = f"delayed {message.command.verb} of {message.command.worker or message.command.role} arrives"
            if message.to is None:
                yield label, self._claim(rest, None, message)
            else:
                self._tamper(rest, message.to, message.command)
                if is_outdated(message.command, world.jobs[message.to]) and message.command.worker is not None:
                    self._try_every_word(rest, message.to, message.command)
                yield label, self._send(rest, message.to, message.command)[0]

    # -- the register -----------------------------------------------------------------------------------------------

    def _deliver(self, world: World, who: int, message: Message) -> World:
        """A worker's request and its answer, which is what the worker knows from then on."""
        if message.to is None:
            return self._claim(world, who, message)
        index = message.to
        after, _ = self._send(world, index, message.command, seen=world.workers[who].memory[index])
        job = after.jobs[index]
        attempt = message.command.attempt
        keeps = job.owner == _name(who) and (attempt is None or attempt == job.attempt)
        return after.remembering(who, index, job if keeps else None)

    def _send(
        self, world: World, index: int, command: Command, seen: Job | None = None
    ) -> tuple[World, Change | Refused]:
        job = world.jobs[index]
        receipt = dict(world.receipts).get(command.request_id or "")
        answer = self.machinery.ask(job, seen, command, world.now, receipt)
        self.machinery.judge_repeat(job, command, receipt, answer)
        if isinstance(answer, Refused) or not answer.events:
            return world, answer
        after = world.with_job(index, self.machinery.write(job, command, answer))
        if answer.receipt is not None:
            after = after._replace(receipts=(*after.receipts, (answer.receipt.request_id, answer.receipt)))
        return after, answer

    def _claim(self, world: World, who: int | None, message: Message) -> World:
        """What a store does for a claim: the first due jobs, each decided; a repeat gets what it still has."""
        command = message.command
        worker = command.worker or ""
        first = dict(world.claims).get(command.request_id or "")
        if first is not None:
            kept = {job.id for job in still_held(list(world.jobs), dict(first), worker)}
            return _answered(world, who, kept)
        won: dict[str, int] = {}
        bare = replace(command, request_id=None)
        for index in self._claimable(world)[: message.limit]:
            world, answer = self._send(world, index, bare)
            if isinstance(answer, Change):
                won[world.jobs[index].id] = world.jobs[index].attempt
        if command.request_id is not None:
            world = world._replace(claims=(*world.claims, (command.request_id, tuple(won.items()))))
        return _answered(world, who, set(won))

    def _claimable(self, world: World) -> list[int]:
        due = [
            (job.order_at or 0, index)
            for index, job in enumerate(world.jobs)
            if job.claim_at is not None and job.claim_at <= world.now
        ]
        return [index for _, index in sorted(due)]

    def _speak_in_vain(self, world: World, who: int, index: int, seen: Job) -> World:
        """A worker that lost the job tries everything; whatever is accepted, the judge will see."""
        self._try_every_word(world, index, self._fenced(Start(), who, seen))
        return world.remembering(who, index, None)

    def _try_every_word(self, world: World, index: int, fence: Command) -> None:
        for _, word in self.words:
            said = replace(
                word,
                worker=fence.worker,
                attempt=fence.attempt,
                expected_rev=fence.expected_rev,
                request_id=fence.request_id,
            )
            self._send(world, index, said)

    def _tamper(self, world: World, index: int, command: Command) -> None:
        """Other content under a request id that is taken must be refused (I12)."""
        receipt = dict(world.receipts).get(command.request_id or "")
        if receipt is not None:
            other = replace(command, reason="something else")
            answer = self.machinery.decide(self.lifecycle, world.jobs[index], other, world.now, receipt)
            if isinstance(answer, Change):
                self.machinery.judge_repeat(world.jobs[index], other, receipt, replace(answer, events=(None,)))

    def _fenced(self, word: Command, who: int, seen: Job) -> Command:
        rev = seen.rev if self.lifecycle.requires_rev else None
        return replace(word, worker=_name(who), attempt=seen.attempt, expected_rev=rev)


def _answered(world: World, who: int | None, held: set[str]) -> World:
    if who is None:
        return world
    worker: Worker = world.workers[who]
    memory = tuple(job if job.id in held else seen for job, seen in zip(world.jobs, worker.memory, strict=True))
    return world.with_worker(who, worker._replace(memory=memory, unanswered=None))


def _heard(verb: str, by: tuple[str, ...]) -> list[str]:
    """The roles whose word makes a difference of its own; who may say what is tested elsewhere, exhaustively."""
    others = [role for role in by if role not in WORKING]
    if verb == "requeue":
        return others
    return others[:1] + [role for role in others[1:] if (verb, role) == ("cancel", "reconciler")]


def _orders(verb: str, role: str, job: Job) -> tuple[Command, ...]:
    """The commands a role may give with a verb, one per way it can turn out."""
    who: dict[str, Any] = {"role": role, "expected_rev": job.rev}
    if verb == "schedule":
        verdicts: tuple[Verdict, ...] = ("allow", "hold", "throttle", "deny")
        return tuple(Schedule(**who, verdict=verdict, rule="r", delay_s=5) for verdict in verdicts)
    if verb == "fail":
        return (Fail(**who, error=_PERMANENT),)
    if verb == "cancel":
        return (Cancel(**who, mode="soft"), Cancel(**who, mode="hard"))
    if verb == "claim":
        return ()  # claims go through the queue
    return (COMMANDS[verb](**who),)


def _named(command: Command) -> str:
    extra = getattr(command, "mode", None) or getattr(command, "verdict", None)
    return f"{command.verb} ({extra})" if extra else command.verb


def _moments(job: Job) -> Iterator[int]:
    for moment in (
        job.claim_at, job.wake_at, job.lease_expires_at, job.heartbeat_by, job.deadline_at, job.cancel_by, job.due_at
    ):  # fmt: skip
        if moment is not None:
            yield moment


def _fault(world: World) -> World:
    return world._replace(faults_left=world.faults_left - 1)


def _name(who: int) -> str:
    return f"w{who}"
