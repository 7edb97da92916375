"""What comes over the bus, and what becomes of it: submissions, results, progress and cancels, in their order.

A message is acknowledged once what it asks for is committed, or can never be done. Until then it is kept, and comes
again: a second time it changes nothing.
"""

import logging
from collections.abc import Sequence
from typing import Final

from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.errors import TimeoutError as NothingCame

from detent.client import Client
from detent.errors import DetentError, InvalidArgument, StoreError
from detent.kernel import Job
from detent.kernel.command import Cancel, Command
from detent.store import Request
from detent.store.clock import new_id
from detent.surfaces.bus.alerting import Alerts
from detent.surfaces.bus.link import BATCH_MAX, Link
from detent.surfaces.bus.packets import Packet, read
from detent.surfaces.bus.reports import commands_of
from detent.surfaces.bus.requests import LIFECYCLE, arguments_of
from detent.surfaces.bus.subjects import CANCEL, PROGRESS, RESULT, SUBMIT
from detent.surfaces.bus.trouble import bus_trouble

WAIT_S: Final = 1.0
AGAIN_S: Final = 1.0  # after which what could not be dealt with comes again
_SUBMISSION: Final = "job_request"
_EXPECTED: Final = {SUBMIT: _SUBMISSION, RESULT: "job_result", PROGRESS: "job_progress", CANCEL: "job_cancel"}


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
            await self.deal_with([each for each in messages if _is_whole(each)])
        except DetentError:
            with bus_trouble("the inbox cannot be told to bring it again"):
                for each in messages:
                    await each.nak(delay=AGAIN_S)
            raise
        with bus_trouble("what was dealt with cannot be acknowledged"):
            for each in messages:
                await each.ack()

    async def deal_with(self, messages: Sequence[Msg]) -> None:
        """The submissions in one transaction, the rest in another.

        What is wrong with one is its own matter; if the store fails, it is all's.
        """
        packets = [packet for each in messages if (packet := await self._read(each)) is not None]
        # Whatever is said of a job is said after it was submitted, maybe right after.
        await self._carry_out([each for each in packets if each.kind == _SUBMISSION])
        await self._carry_out([each for each in packets if each.kind != _SUBMISSION])

    async def _carry_out(self, packets: Sequence[Packet]) -> None:
        jobs = await self._jobs([each for each in packets if each.kind != _SUBMISSION])
        asked: list[tuple[Packet, Request]] = []
        for packet in packets:
            try:
                asked += [(packet, request) for request in self._requests(packet, jobs)]
            except InvalidArgument as wrong:
                await self._refuse(packet, wrong)
        if not asked:
            return
        answers = await self._client.store.apply([request for _, request in asked])
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

    async def _jobs(self, packets: Sequence[Packet]) -> dict[str, Job]:
        ids = list(dict.fromkeys(packet.message.job_id for packet in packets if packet.message.job_id))
        found = await self._client.store.get(self._client.tenant, ids) if ids else []
        return {job.id: job for job in found if job is not None and job.spec.lifecycle == LIFECYCLE}

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
        commands = [_cancel(packet)] if packet.kind == "job_cancel" else commands_of(packet, job)
        return [Request(self._client.tenant, job.id, command) for command in commands]

    async def _refuse(self, packet: Packet, refused: DetentError) -> None:
        """Whoever sent it gets no answer: it may listen to alerts. A late result is a note of the job's by now."""
        told = {"job_id": packet.message.job_id, "sender_id": packet.sender_id, "message": packet.kind}
        await self._alerts.tell(refused, logging.INFO, packet.trace_id, **told)


async def _batch(inbox: Subscription) -> list[Msg]:
    try:
        messages = [await inbox.next_msg(WAIT_S)]
    except NothingCame:
        return []
    while inbox.pending_msgs and len(messages) < BATCH_MAX:
        messages.append(await inbox.next_msg(WAIT_S))
    return messages


def _is_whole(each: Msg) -> bool:
    return bool(each.data)


def _check_place(subject: str, kind: str) -> None:
    """A subject is what a sender may be let publish to: there it says what belongs there, and nothing else."""
    if _EXPECTED.get(subject) != kind:
        raise InvalidArgument(f"a packet on '{subject}' holds {kind}, which does not belong there", code="bad_packet")


def _cancel(packet: Packet) -> Command:
    """Workers of a pool know no grace: what they do from now on is too late."""
    told = packet.message
    return Cancel(
        role="client", actor=told.requested_by[:255] or packet.sender_id, reason=told.reason or None, mode="hard"
    )
