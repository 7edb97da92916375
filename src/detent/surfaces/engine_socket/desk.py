"""What engines and watchers say, message by message, and what each is answered."""

import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any, Final

from msgspec import to_builtins

from detent.client import Job
from detent.errors import DetentError, InvalidArgument, Refused, ServiceError, shown
from detent.surfaces.engine_socket.claims import Claims
from detent.surfaces.engine_socket.engine import Engine
from detent.surfaces.engine_socket.offering import Offering
from detent.surfaces.engine_socket.outlet import Outlet
from detent.surfaces.engine_socket.packets import ATTACHED
from detent.surfaces.engine_socket.registering import check_names, resumed
from detent.surfaces.engine_socket.reporting import Report, verb_of
from detent.surfaces.engine_socket.roster import Roster
from detent.surfaces.engine_socket.shaping import Shaping, refusal_of
from detent.surfaces.engine_socket.visitor import Visitor
from detent.surfaces.engine_socket.watching import Watching
from detent.surfaces.http.telling import escaped
from detent.wire import engine_messages as messages
from detent.wire.engine_messages import Accepted, Acknowledged, Alive, HeldJob, Moved, Registered
from detent.wire.shape import CamelShape, read

# After these a job is the engine's no more, whatever it was that it asked for.
_GONE: Final = frozenset({"not_owner", "lease_expired", "not_found"})
_NAME_CHARS_MAX: Final = 64
log: Final = logging.getLogger("detent.engines")
Handler = Callable[[Visitor, Any], Awaitable[CamelShape]]


class Desk:
    def __init__(
        self, roster: Roster, offering: Offering, watching: Watching, outlet: Outlet, shaping: Shaping
    ) -> None:
        self._roster = roster
        self._offering = offering
        self._watching = watching
        self._outlet = outlet
        self._shaping = shaping
        self._claims = Claims()
        self._handlers: dict[str, Handler] = {
            "register": self._register,
            "job_ack": self._ack,
            "job_reject": self._reject,
            "job_started": self._report,
            "job_progress": self._progress,
            "job_complete": self._report,
            "job_failed": self._report,
            "job_cancelled": self._report,
            "heartbeat": self._heartbeat,
            "watch": self._watch,
            "unwatch": self._unwatch,
        }

    async def answered(self, visitor: Visitor, name: Any, said: Any) -> dict[str, Any]:
        """Whatever was said: refusals are answers, too. `Unauthorized` and `Forbidden` tokens are for the caller."""
        await visitor.check()
        try:
            visitor.take_turn()
            shape, handle = self._handler(name)
            if said is ATTACHED:
                raise InvalidArgument(
                    f"{name} came with an attachment; send JSON alone: text instead of a Buffer or Blob"
                )
            answer = await handle(visitor, read(shape, {} if said is None else said))
        except DetentError as error:
            answer = refusal_of(error)
        told: dict[str, Any] = to_builtins(answer)
        return told

    def _handler(self, name: Any) -> tuple[type[CamelShape], Handler]:
        known = self._handlers.get(name) if isinstance(name, str) else None
        if known is None:
            shown = escaped(str(name), _NAME_CHARS_MAX)
            message = f"there is no message '{shown}'; there are {', '.join(self._handlers)}"
            raise ServiceError("unknown_message", message)
        return messages.SAID[name], known

    def _engine(self, visitor: Visitor) -> Engine:
        engine = self._roster.of(visitor.sid)
        if engine is None:
            raise ServiceError("not_registered")
        engine.is_silent = False
        return engine

    async def _register(self, visitor: Visitor, said: messages.Register) -> Registered:
        visitor.grant.check("work")
        visitor.grant.check_worker(said.engine_id)
        check_names(said)
        engine = Engine(visitor.sid, visitor.grant.tenant, said, since=datetime.now(UTC))
        await self._claims.settled(engine)
        if visitor.is_gone:
            raise ServiceError("not_registered")
        replaced = self._roster.add(engine)
        if replaced is not None and replaced.sid != visitor.sid:
            await self._outlet.emit(replaced.sid, "superseded", {"engineId": engine.name})
            await self._outlet.send_away(replaced.sid)
        jobs, lost = await resumed(visitor, engine, said.jobs, self._roster, self._shaping)
        log.info("engine %s is there, with room for %d", escaped(engine.name, _NAME_CHARS_MAX), engine.capacity)
        self._offering.nudge()
        return Registered(engine_id=engine.name, jobs=jobs, lost=lost)

    async def _ack(self, visitor: Visitor, said: messages.JobAck) -> Acknowledged:
        """The claim. One that comes twice is answered twice, and has taken the job once."""
        engine, client = self._engine(visitor), visitor.client
        if said.job_id in engine.held:
            return Acknowledged(**_fields(await self._shaping.granted(client, (await client.get(said.job_id)).record)))
        if engine.was_offered(said.job_id):
            return await self._claimed(visitor, engine, said.job_id)
        # What it has acknowledged before, and heard nothing of, is its own by the record, as long as nobody began it.
        granted, _ = await resumed(visitor, engine, [HeldJob(job_id=said.job_id)], self._roster, self._shaping)
        if not granted:
            raise ServiceError("not_offered")
        return Acknowledged(**_fields(granted[0]))

    async def _claimed(self, visitor: Visitor, engine: Engine, job_id: str) -> Acknowledged:
        if len(engine.held) >= engine.capacity:
            self._offering.pass_by(engine, job_id)
            raise ServiceError("engine_full")
        with self._claims.under_way(engine):
            try:
                taken = await self._carried_out(visitor, {"verb": "claim", "job_id": job_id, "worker": engine.name})
            except DetentError:
                engine.withdraw(job_id)
                raise
            self._roster.hold(engine, taken.id, taken.attempt)
        return Acknowledged(**_fields(await self._shaping.granted(visitor.client, taken.record)))

    async def _reject(self, visitor: Visitor, said: messages.JobReject) -> Accepted:
        engine = self._engine(visitor)
        if said.job_id not in engine.offers:
            raise ServiceError("not_offered")
        self._offering.pass_by(engine, said.job_id)
        why = "" if said.reason is None else f": {shown(said.reason)}"
        name, job = escaped(engine.name, _NAME_CHARS_MAX), escaped(said.job_id, _NAME_CHARS_MAX)
        log.info("engine %s rejects job %s%s", name, job, why, extra={"job_id": said.job_id})
        return Accepted()

    async def _report(self, visitor: Visitor, said: Report) -> Moved:
        engine = self._engine(visitor)
        try:
            job = await self._carried_out(visitor, verb_of(said, engine))
        except Refused as refused:
            if refused.code in _GONE:
                self._release(engine, said.job_id)
            raise
        if job.owner != engine.name:
            self._release(engine, said.job_id)
        return Moved(job=await self._shaping.job(visitor.client, job.record))

    async def _progress(self, visitor: Visitor, said: messages.JobProgress) -> Moved:
        job = (await self._report(visitor, said)).job
        spec = await visitor.client.get(said.job_id)
        await self._watching.progress(spec.tenant, said, spec.kind, spec.queue)
        return Moved(job=job)

    async def _heartbeat(self, visitor: Visitor, said: messages.Heartbeat) -> Alive:
        """Of all jobs that it holds, in one transaction."""
        engine, client = self._engine(visitor), visitor.client
        if said.capacity is not None:
            engine.capacity = said.capacity
            self._offering.nudge()
        held = list(engine.held.items())
        asked = [{"job_id": job_id, "worker": engine.name, "attempt": attempt} for job_id, attempt in held]
        let_through = [visitor.grant.asked("renew", item) | {"verb": "renew"} for item in asked]
        answers = await client.apply(let_through) if asked else []
        lost, stopped = [], []
        for (job_id, attempt), answer in zip(held, answers, strict=True):
            if isinstance(answer, Job):
                stopped += [await self._shaping.stop(client, answer.record)] if answer.cancel_by is not None else []
            elif isinstance(answer, Refused):
                self._release(engine, job_id)
                (job,) = await client.store.get(client.tenant, [job_id])
                lost.append(await self._shaping.lost(client, job_id, attempt, job))
            else:
                raise answer
        return Alive(held=len(engine.held), lost=lost, cancelled=stopped)

    async def _watch(self, visitor: Visitor, said: messages.Watch) -> messages.Watching:
        return messages.Watching(cursor=await self._watching.begin(visitor, said))

    async def _unwatch(self, visitor: Visitor, said: messages.Unwatch) -> Accepted:
        visitor.stop_watching()
        return Accepted()

    def _release(self, engine: Engine, job_id: str) -> None:
        self._roster.release(engine, job_id)
        self._offering.nudge()

    async def _carried_out(self, visitor: Visitor, item: dict[str, Any]) -> Job:
        verb = item.pop("verb")
        (answer,) = await visitor.client.apply([visitor.grant.asked(verb, item) | {"verb": verb}])
        if isinstance(answer, DetentError):
            raise answer
        return answer


def _fields(shape: CamelShape) -> dict[str, Any]:
    return {name: getattr(shape, name) for name in shape.__struct_fields__}
