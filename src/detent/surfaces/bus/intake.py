"""What comes over the bus, and what becomes of it: submissions, results, progress and cancels, in their order.

A message is acknowledged once what it asks for is committed, or can never be done. Until then it is kept, and comes
again: a second time it changes nothing.
"""

import logging
from collections.abc import Sequence
from typing import Final, NamedTuple

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import TimeoutError as NothingCame

from detent.client import Client
from detent.client.arguments import is_name
from detent.errors import DetentError, InvalidArgument, ServiceError, StoreError
from detent.kernel import Job
from detent.kernel.command import Cancel, Command
from detent.kernel.parse import REASON_CHARS_MAX, check_command
from detent.store import Request
from detent.store.clock import new_id
from detent.surfaces.bus.alerting import Alerts
from detent.surfaces.bus.link import BATCH_MAX, Link
from detent.surfaces.bus.packets import Packet, read
from detent.surfaces.bus.reports import commands_of, storable, unrecordable
from detent.surfaces.bus.requests import LIFECYCLE, arguments_of, topic_of
from detent.surfaces.bus.subjects import CANCEL, PROGRESS, RESULT, SUBMIT
from detent.surfaces.bus.trouble import bus_trouble

WAIT_S: Final = 1.0
AGAIN_S: Final = 1.0  # after which what could not be dealt with comes again
log: Final = logging.getLogger("detent.bus")
EARLY_MAX: Final = 5  # times that something is said of a job that is not there, before it is told
_SUBMISSION: Final = "job_request"
_EXPECTED: Final = {SUBMIT: _SUBMISSION, RESULT: "job_result", PROGRESS: "job_progress", CANCEL: "job_cancel"}


class Came(NamedTuple):
    message: Msg
    packet: Packet


class Intake:
    def __init__(self, client: Client, link: Link) -> None:
        self._client = client
        self._link = link
        self._alerts = Alerts(link)

    async def take(self, inbox: Subscription) -> None:
        """What has come, up to a batch of it; or nothing, within a while."""
        with bus_trouble("the inbox cannot be read"):
            messages = await _batch(inbox)
        try:
            early = await self.deal_with(messages)
        except DetentError:
            await _settle(messages, again=messages)
            raise
        except Exception:  # a mistake of ours: by which of them it comes shows when each is dealt with by itself
            log.exception("what came over the bus cannot be dealt with together")
            early = await self._one_by_one(messages)
        await _settle(messages, again=early)

    async def deal_with(self, messages: Sequence[Msg]) -> list[Msg]:
        """The submissions in one transaction, the rest in another. The answer are those that are to come again: what
        they are about is not there yet.

        What is wrong with one is its own matter; if the store fails, it is all's.
        """
        came = [Came(each, packet) for each in messages if (packet := await self._read(each)) is not None]
        # Whatever is said of a job is said after it was submitted, maybe right after.
        await self._carry_out([each for each in came if each.packet.kind == _SUBMISSION], {})
        others = [each for each in came if each.packet.kind != _SUBMISSION]
        jobs = await self._jobs(others)
        early = [each for each in others if each.packet.message.job_id not in jobs and _is_early(each.message)]
        await self._carry_out([each for each in others if each not in early], jobs)
        return [each.message for each in early]

    async def _one_by_one(self, messages: Sequence[Msg]) -> list[Msg]:
        early: list[Msg] = []
        for each in messages:
            try:
                early += await self.deal_with([each])
            except DetentError:
                early.append(each)
            except Exception as error:  # it would do so for ever
                wrong = ServiceError("internal_error", f"it was left out: {type(error).__name__}")
                await self._alerts.tell(wrong, logging.ERROR, new_id(), subject=each.subject)
        return early

    async def _carry_out(self, came: Sequence[Came], jobs: dict[str, Job]) -> None:
        asked: list[tuple[Packet, Request]] = []
        for _, packet in came:
            try:
                asked += [(packet, request) for request in self._requests(packet, jobs)]
            except InvalidArgument as wrong:
                await self._refuse(packet, wrong)
        answers = await self._client.store.apply([request for _, request in asked]) if asked else []
        for (packet, _), answer in zip(asked, answers, strict=True):
            if isinstance(answer, StoreError):
                raise answer
            if isinstance(answer, DetentError):
                await self._refuse(packet, answer)

    async def _read(self, came: Msg) -> Packet | None:
        try:
            packet = read(came.data, self._link.keys)
            _check_place(came.subject, packet.kind)
        except InvalidArgument as wrong:
            await self._alerts.tell(wrong, logging.WARNING, new_id(), subject=came.subject)
            return None
        return None if packet.sender_id == self._link.settings.name else packet  # what it has said itself

    async def _jobs(self, came: Sequence[Came]) -> dict[str, Job]:
        """Those of pools of this bus, of which alone it may be asked for anything."""
        ids = [job_id for each in came if is_name(job_id := each.packet.message.job_id)]
        found = await self._client.store.get(self._client.tenant, list(dict.fromkeys(ids))) if ids else []
        return {job.id: job for job in found if job is not None and self._is_of_a_pool(job)}

    def _is_of_a_pool(self, job: Job) -> bool:
        return job.spec.lifecycle == LIFECYCLE and topic_of(job) in self._link.topics

    def _requests(self, packet: Packet, jobs: dict[str, Job]) -> list[Request]:
        if packet.kind == _SUBMISSION:
            settings, topics = self._link.settings, self._link.topics
            return [self._client.request({"verb": "enqueue"} | arguments_of(packet, settings, topics))]
        job = jobs.get(packet.message.job_id)
        if job is None:
            raise InvalidArgument(
                f"job {packet.message.job_id[:64]!r}, of which {packet.kind} came, is no job of this bus",
                code="not_found",
            )
        return [Request(self._client.tenant, job.id, command) for command in _commands(packet, job)]

    async def _refuse(self, packet: Packet, refused: DetentError) -> None:
        """Whoever sent it gets no answer: it may listen to alerts. A late result is a note of the job's by now."""
        told = {"job_id": packet.message.job_id, "sender_id": packet.sender_id, "message": packet.kind}
        await self._alerts.tell(refused, logging.INFO, packet.trace_id, **told)


def _commands(packet: Packet, job: Job) -> list[Command]:
    try:
        commands = [_cancel(packet)] if packet.kind == "job_cancel" else commands_of(packet, job)
        for each in commands:
            check_command(each)
    except InvalidArgument as wrong:
        if packet.kind != "job_result" or not job.is_leased:
            raise
        return [unrecordable(packet, job, wrong)]
    return commands


async def _batch(inbox: Subscription) -> list[Msg]:
    try:
        messages = [await inbox.next_msg(WAIT_S)]
    except NothingCame:
        return []
    while inbox.pending_msgs and len(messages) < BATCH_MAX:
        messages.append(await inbox.next_msg(WAIT_S))
    return messages


async def _settle(messages: Sequence[Msg], *, again: Sequence[Msg]) -> None:
    with bus_trouble("the inbox cannot be told what was dealt with"):
        for each in messages:
            if each in again:
                await each.nak(delay=AGAIN_S)
            else:
                await each.ack()


def _is_early(each: Msg) -> bool:
    """Another service may have the submission, and be about to commit it; or it comes again itself."""
    return each.metadata.num_delivered < EARLY_MAX


def _check_place(subject: str, kind: str) -> None:
    """A subject is what a sender may be let publish to: there it says what belongs there, and nothing else."""
    if _EXPECTED.get(subject) != kind:
        raise InvalidArgument(f"a packet on '{subject}' holds {kind}, which does not belong there", code="bad_packet")


def _cancel(packet: Packet) -> Command:
    """Workers of a pool know no grace: what they do from now on is too late."""
    told = packet.message
    return Cancel(
        role="client",
        actor=told.requested_by if is_name(told.requested_by) else packet.sender_id,
        reason=storable(told.reason, REASON_CHARS_MAX) or None,
        mode="hard",
    )
