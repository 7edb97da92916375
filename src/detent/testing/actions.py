"""Everything that can happen next in a world: the clock, the system, people, workers, and the faults of all of them."""

from collections.abc import Iterator

from msgspec.structs import replace

from detent.kernel import Change, Job
from detent.kernel.command import Claim, Command, Start
from detent.kernel.due import due_command
from detent.testing.machinery import Machinery
from detent.testing.network import Network, claimable, worker_name
from detent.testing.words import heard_roles, named, orders, words_in_vain, workers_words
from detent.testing.world import MOMENTS, Message, World, is_outdated

Step = tuple[str, World]


class Actions:
    def __init__(self, machinery: Machinery, *, is_claims_only: bool) -> None:
        self.machinery = machinery
        self.lifecycle = machinery.lifecycle
        self.network = Network(machinery)
        self.is_claims_only = is_claims_only
        self.words = workers_words(self.lifecycle, is_claims_only=is_claims_only)

    def steps(self, world: World) -> Iterator[Step]:
        yield from self._clock(world)
        yield from self._reconciler(world)
        yield from self._deliveries(world)
        for who in range(len(world.workers)):
            yield from self._claims(world, who)
            yield from self._words(world, who)
        yield from self._controls(world)

    def _clock(self, world: World) -> Iterator[Step]:
        """Jump to the next moment at which anything can turn out differently."""
        moments = [moment for job in world.jobs for moment in MOMENTS(job) if moment is not None and moment > world.now]
        if moments:
            then = min(moments)
            yield f"{(then - world.now) / 1e6:g} s pass", world._replace(now=then)

    def _reconciler(self, world: World) -> Iterator[Step]:
        for index, job in enumerate(world.jobs):
            command = due_command(self.lifecycle, job, world.now)
            if command is None:
                continue
            yield f"reconciler: {command.verb}", self.network.send(world, index, command)
            if world.faults_left:
                late = _fault(world)._replace(in_flight=(*world.in_flight, Message(index, command)))
                yield f"reconciler pauses before {command.verb}", late

    def _controls(self, world: World) -> Iterator[Step]:
        """Whoever else the lifecycle lets in. A cancel is a disturbance, so it uses up a fault."""
        for index, job in enumerate(world.jobs):
            for verb in self.lifecycle.table.allowed[job.state]:
                if self.is_claims_only and verb != "requeue":
                    continue  # a person may have to send a used-up job round again; nothing else is of interest
                for role in heard_roles(verb, self.lifecycle.table.routes[job.state][verb].by):
                    yield from self._orders(world, index, verb, role)

    def _orders(self, world: World, index: int, verb: str, role: str) -> Iterator[Step]:
        is_fault = verb in ("cancel", "request_cancel")
        if is_fault and not world.faults_left:
            return
        start = _fault(world) if is_fault else world
        for command in orders(verb, role, world.jobs[index]):
            yield f"{role}: {named(command)}", self.network.send(start, index, command)

    def _claims(self, world: World, who: int) -> Iterator[Step]:
        if world.workers[who].unanswered is not None or not claimable(world):
            return
        for limit in range(1, len(world.jobs) + 1):
            for starts in (True,) if self.is_claims_only else (False, True):
                message = Message(None, Claim(worker=worker_name(who), start=starts), limit)
                said = f"w{who}: claim {limit}{' and start' if starts else ''}"
                yield said, self.network.claim(world, who, message)
                if world.faults_left and (self.is_claims_only or not starts):
                    yield from self._doubtful(world, who, message, said)

    def _words(self, world: World, who: int) -> Iterator[Step]:
        worker = world.workers[who]
        if worker.unanswered is not None:
            message = worker.unanswered
            fresh = world.with_worker(who, worker._replace(unanswered=None))
            yield f"w{who}: asks {message.command.verb} again", self.network.ask(fresh, who, message)
            if world.faults_left:
                restarted = worker._replace(unanswered=None, memory=(None,) * len(worker.memory))
                yield f"w{who} crashes while it waits", _fault(world).with_worker(who, restarted)
            return
        for index, seen in enumerate(worker.memory):
            if seen is None:
                continue
            if is_outdated(self._fenced(Start(), who, seen), world.jobs[index]):
                self._try_every_word(world, index, self._fenced(Start(), who, seen), seen)
                yield f"w{who} wakes up and goes on", world.remembering(who, index, None)
                continue
            for label, word in self.words:
                message = Message(index, self._fenced(word, who, seen))
                yield f"w{who}: {label}", self.network.ask(world, who, message)
                if world.faults_left:
                    yield from self._doubtful(world, who, message, f"w{who}: {label}")
                    gone = _fault(world).remembering(who, index, None)
                    left = gone._replace(in_flight=(*world.in_flight, message))
                    yield f"w{who}: {label}, on its way as w{who} crashes", left
            if world.faults_left:
                yield f"w{who} crashes", _fault(world).remembering(who, index, None)

    def _doubtful(self, world: World, who: int, message: Message, said: str) -> Iterator[Step]:
        """The same request twice on the network, or carried out with its reply lost."""
        request_id = f"{worker_name(who)} r{world.faults_left}"
        message = message._replace(command=replace(message.command, request_id=request_id))
        once = self.network.ask(_fault(world), who, message)
        yield f"{said}, sent twice", once._replace(in_flight=(*world.in_flight, message))
        yield f"{said}, reply lost", once.with_worker(who, world.workers[who]._replace(unanswered=message))

    def _deliveries(self, world: World) -> Iterator[Step]:
        for at, message in enumerate(world.in_flight):
            command, index = message.command, message.to
            rest = world._replace(in_flight=world.in_flight[:at] + world.in_flight[at + 1 :])
            label = f"delayed {command.verb} of {command.worker or command.role} arrives"
            if index is None:
                yield label, self.network.claim(rest, None, message)
                continue
            self._tamper(rest, index, command)
            if command.worker is not None and is_outdated(command, world.jobs[index]):
                self._try_every_word(rest, index, command)
            yield label, self.network.send(rest, index, command)

    def _try_every_word(self, world: World, index: int, fence: Command, seen: Job | None = None) -> None:
        """Outdated requests are alike, so the search keeps one of them; here it stands for all there could be."""
        for _, word in words_in_vain(self.words):
            said = replace(word, worker=fence.worker, attempt=fence.attempt, expected_rev=fence.expected_rev)
            self.network.send(world, index, replace(said, request_id=fence.request_id), seen)

    def _tamper(self, world: World, index: int, command: Command) -> None:
        """Other content under a request id that is taken must be refused."""
        receipt = self.network.receipt(world, index, command)
        if receipt is not None:
            other = replace(command, reason="something else")
            answer = self.machinery.decide(self.lifecycle, world.jobs[index], other, world.now, receipt)
            if isinstance(answer, Change):
                self.machinery.judge_conflict(world.jobs[index], other)

    def _fenced(self, word: Command, who: int, seen: Job) -> Command:
        rev = seen.rev if self.lifecycle.requires_rev else None
        return replace(word, worker=worker_name(who), attempt=seen.attempt, expected_rev=rev)


def _fault(world: World) -> World:
    return world._replace(faults_left=world.faults_left - 1)
