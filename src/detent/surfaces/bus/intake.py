"""What comes over the bus, and what becomes of it: submissions, results, progress and cancels, in their order.

A message is acknowledged once what it asks for is committed, or can never be done. Until then it is kept, and comes
again: a second time it changes nothing.
"""

import logging
from collections.abc import Callable, Collection, Sequence
from typing import Final, NamedTuple

from msgspec import structs
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import TimeoutError as NothingCame

from detent.client import Client
from detent.client.arguments import is_name
from detent.errors import DetentError, InvalidArgument, ServiceError, StoreError
from detent.kernel import Job
from detent.kernel.command import Cancel, Command, ReportProgress
from detent.kernel.parse import REASON_CHARS_MAX, check_command
from detent.store import Request
from detent.store.clock import new_id
from detent.surfaces.bus.alerting import Alerts
from detent.surfaces.bus.counts import UNREADABLE
from detent.surfaces.bus.early import Early
from detent.surfaces.bus.link import BATCH_MAX, Link
from detent.surfaces.bus.packets import Packet, read
from detent.surfaces.bus.reports import commands_of, storable, unrecordable
from detent.surfaces.bus.requests import LIFECYCLE, arguments_of, topic_of
from detent.surfaces.bus.subjects import CANCEL, PROGRESS, RESULT, SUBMIT
from detent.surfaces.bus.trouble import bus_trouble

WAIT_S: Final = 1.0
NAK_S: Final = 1.0  # after which what could not be dealt with comes again
log: Final = logging.getLogger("detent.bus")
_SUBMISSION: Final = "job_request"
_EXPECTED: Final = {SUBMIT: _SUBMISSION, RESULT: "job_result", PROGRESS: "job_progress", CANCEL: "job_cancel"}


class Came(NamedTuple):
    """`place` is that in the stream of all that came; `once` names the message, also when it comes again."""

    place: int
    once: str
    packet: Packet


class Intake:
    """`heard` is told which topic a result is of, and whose: whoever answers is there."""

    def __init__(self, client: Client, link: Link, heard: Callable[[str, str], None]) -> None:
        self._client = client
        self._link = link
        self._heard = heard
        self._alerts = Alerts(link)
        self._early = Early()

    async def take(self, inbox: Subscription) -> None:
        """What has come, up to a batch of it; or nothing, within a while."""
        with bus_trouble("the inbox cannot be read"):
            messages = await _batch(inbox)
        try:
            again = await self.deal_with(messages)
        except DetentError:
            await _settle(messages, again={_place_of(each) for each in messages})
            raise
        except Exception:  # a mistake of ours: by which of them it comes shows when each is dealt with by itself
            log.exception("what came over the bus cannot be dealt with together")
            again = await self._one_by_one(messages)
        await _settle(messages, again=again)

    async def deal_with(self, messages: Sequence[Msg]) -> set[int]:
        """The submissions in one transaction, the rest in another. The answer are those that are to come again: what
        they are about is not there yet.

        What is wrong with one is its own matter; if the store fails, it is all's.
        """
        came = [read for each in messages if (read := await self._read(each)) is not None]
        # Whatever is said of a job is said after it was submitted, maybe right after.
        await self._carry_out([each for each in came if each.packet.kind == _SUBMISSION], {})
        others = [each for each in came if each.packet.kind != _SUBMISSION]
        jobs = await self._jobs(others)
        again = await self._again([each.place for each in others if each.packet.message.job_id not in jobs], messages)
        await self._carry_out([each for each in others if each.place not in again], jobs)
        return again

    async def _again(self, unknown: Sequence[int], messages: Sequence[Msg]) -> set[int]:
        if not unknown:
            return set()
        settled = await self._link.settled()
        return self._early.keep(unknown, settled=settled, seen={_place_of(each) for each in messages})

    async def _one_by_one(self, messages: Sequence[Msg]) -> set[int]:
        again: set[int] = set()
        for each in messages:
            try:
                again |= await self.deal_with([each])
            except DetentError:
                again.add(_place_of(each))
            except Exception as error:  # it would do so for ever
                wrong = ServiceError("internal_error", f"it was left out: {type(error).__name__}")
                await self._alerts.tell(wrong, logging.ERROR, new_id(), subject=each.subject)
        return again

    async def _carry_out(self, came: Sequence[Came], jobs: dict[str, Job]) -> None:
        asked: list[tuple[Packet, Request]] = []
        for each in came:
            try:
                asked += [(each.packet, request) for request in self._requests(each, jobs)]
            except InvalidArgument as wrong:
                await self._refuse(each.packet, wrong)
        answers = await self._client.store.apply([request for _, request in asked]) if asked else []
        for (packet, _), answer in zip(asked, answers, strict=True):
            if isinstance(answer, StoreError):
                raise answer
            if isinstance(answer, DetentError):
                await self._refuse(packet, answer)

    async def _read(self, came: Msg) -> Came | None:
        counts = self._link.counts
        try:
            packet = read(came.data, self._link.keys)
            _check_place(came.subject, packet.kind)
        except InvalidArgument as wrong:
            counts.received.add(UNREADABLE)
            counts.refused.add(UNREADABLE, wrong.code)
            await self._alerts.tell(wrong, logging.WARNING, new_id(), subject=came.subject)
            return None
        if packet.sender_id == self._link.settings.name:  # what it has said itself
            return None
        counts.received.add(packet.kind)
        return Came(_place_of(came), f"{came.metadata.timestamp:%Y%m%d%H%M%S%f}-{_place_of(came)}", packet)

    async def _jobs(self, came: Sequence[Came]) -> dict[str, Job]:
        """Those of pools of this bus, of which alone it may be asked for anything."""
        ids = [job_id for each in came if is_name(job_id := each.packet.message.job_id)]
        found = await self._client.store.get(self._client.tenant, list(dict.fromkeys(ids))) if ids else []
        return {job.id: job for job in found if job is not None and self._is_of_a_pool(job)}

    def _is_of_a_pool(self, job: Job) -> bool:
        return job.spec.lifecycle == LIFECYCLE and topic_of(job) in self._link.topics

    def _requests(self, came: Came, jobs: dict[str, Job]) -> list[Request]:
        packet = came.packet
        if packet.kind == _SUBMISSION:
            settings, topics = self._link.settings, self._link.topics
            return [self._client.request({"verb": "enqueue"} | arguments_of(packet, settings, topics))]
        job = jobs.get(packet.message.job_id)
        if job is None:
            raise InvalidArgument(
                f"job {packet.message.job_id[:64]!r}, of which {packet.kind} came, is no job of this bus",
                code="not_found",
            )
        if packet.kind == "job_progress" and job.phase == "ended":
            return []  # it may say so many times, and its result will be noted
        if packet.kind == "job_result":
            self._heard(topic_of(job), packet.sender_id)
        return [Request(self._client.tenant, job.id, _once(command, came)) for command in _commands(packet, job)]

    async def _refuse(self, packet: Packet, refused: DetentError) -> None:
        """Whoever sent it gets no answer: it may listen to alerts. A late result is a note of the job's by now."""
        self._link.counts.refused.add(packet.kind, refused.code)
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


async def _settle(messages: Sequence[Msg], *, again: Collection[int]) -> None:
    with bus_trouble("the inbox cannot be told what was dealt with"):
        for each in messages:
            if _place_of(each) in again:
                await each.nak(delay=NAK_S)
            else:
                await each.ack()


def _place_of(each: Msg) -> int:
    return each.metadata.sequence.stream


def _once(command: Command, came: Came) -> Command:
    """A move that was made cannot be made again, but a note could be."""
    return structs.replace(command, request_id=came.once) if isinstance(command, ReportProgress) else command


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
