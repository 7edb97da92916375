"""The connection to the bus: what is kept there, what is taken from it, and what is put on it.

What comes in is kept by a stream until it has been dealt with, also while no service is there. What goes out is put
into a stream of the outbox, which takes each message once, however often it is brought, and passes it on to those who
have subscribed to its subject. So a service that was killed between its commit and this can bring it again.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.aio.subscription import Subscription
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, Header, RePublish, RetentionPolicy, StreamConfig
from nats.js.errors import NotFoundError

from detent.surfaces.bus.packets import Packet, message, write
from detent.surfaces.bus.settings import BusSettings
from detent.surfaces.bus.signing import Keys
from detent.surfaces.bus.subjects import SYSTEM, TAKEN_IN, Topics
from detent.surfaces.bus.trouble import bus_trouble

BATCH_MAX: Final = 200
ACK_WAIT_S: Final = 5.0  # after which what a service took along when it was killed comes again
KEPT_S: Final = 7 * 86_400  # what nobody has come for
CONNECT_S: Final = 5
OPEN_S: Final = 10.0
RECONNECT_S: Final = 0.25
PUBLISH_S: Final = 5.0
_SCHEDULER: Final = 2  # its role, in a handshake
_ONCE: Final = "Nats-Msg-Id"
_NOBODY: Final = "503"


class Link:
    """`said` is told when the connection is lost, and when it is back."""

    def __init__(self, url: str, settings: BusSettings, said: Callable[[str], None]) -> None:
        self.settings = settings
        self.topics = Topics(settings.topics)
        self.keys: Keys = settings.loaded_keys()
        self.shown = shown_url(url)
        self.connections = 0  # that there have been
        self._url = url
        self._said = said
        self._bus: Client = Client()
        self._is_begun = False
        self._streams: JetStreamContext = self._bus.jetstream()

    # -- from beginning to end

    async def open(self) -> None:
        await self.close()
        self._bus, self._is_begun = Client(), True
        with bus_trouble(f"the bus at {self.shown} cannot be used"):
            # It would try for ever by itself, and nobody would hear why.
            async with asyncio.timeout(OPEN_S):
                await self._open()

    async def _open(self) -> None:
        await self._bus.connect(
            self._url,
            name=self.settings.name,
            user_credentials=self.settings.credentials,
            connect_timeout=CONNECT_S,
            max_reconnect_attempts=-1,
            reconnect_time_wait=RECONNECT_S,  # type: ignore[arg-type]  # it is slept for, whole or not
            error_cb=_unheard,
            disconnected_cb=self._lost,
            reconnected_cb=self._back,
        )
        self._streams = self._bus.jetstream(timeout=PUBLISH_S)
        for config in self._configs():
            await self._keep(config)

    async def close(self) -> None:
        with bus_trouble("the connection to the bus was not closed in good order"):
            if self._is_begun and not self._bus.is_closed:
                await self._bus.close()

    @property
    def is_connected(self) -> bool:
        return self._bus.is_connected

    # -- what comes in

    async def inbox(self) -> Subscription:
        """What came, in its order. Of several services each gets a part of it."""
        name = self.settings.name
        config = ConsumerConfig(
            ack_policy=AckPolicy.EXPLICIT, ack_wait=ACK_WAIT_S, max_ack_pending=2 * BATCH_MAX,
            deliver_policy=DeliverPolicy.ALL, filter_subjects=list(TAKEN_IN),
        )  # fmt: skip
        with bus_trouble("the inbox cannot be read"):
            return await self._streams.subscribe(
                "", queue=name, durable=name, stream=f"{name}-in", config=config, manual_ack=True
            )  # fmt: skip

    async def hear(self, subject: str, heard: Callable[[bytes], Awaitable[None]]) -> None:
        """News, which nobody keeps."""

        async def said(each: Msg) -> None:
            await heard(each.data)

        with bus_trouble(f"'{subject}' cannot be listened to"):
            await self._bus.subscribe(subject, cb=said)

    # -- what goes out

    async def put(self, subject: str, packet: Packet, once: str) -> None:
        """Into the outbox. What was put there before under the same `once` is not passed on again."""
        data = write(packet, self.keys)
        with bus_trouble(f"nothing can be put on the bus for '{subject}'"):
            await self._streams.publish(f"{self.settings.name}.out.{subject}", data, headers={_ONCE: once})

    async def say(self, subject: str, packet: Packet) -> None:
        """To whoever listens just now."""
        with bus_trouble(f"nothing can be said on '{subject}'"):
            await self._bus.publish(subject, write(packet, self.keys))

    async def is_served(self, topic: str) -> bool:
        """Whether somebody has subscribed to it now: the bus itself says so if nobody has.

        What is sent is a packet without a job, of which workers take no notice.
        """
        name = self.settings.name
        greeting = Packet(topic, name, "handshake", message("Handshake", component_id=name, role=_SCHEDULER))
        with bus_trouble(f"whether anybody serves '{topic}' cannot be asked"):
            inbox = self._bus.new_inbox()
            answers = await self._bus.subscribe(inbox)
            try:
                await self._bus.publish(topic, write(greeting, self.keys), reply=inbox)
                # The bus answers in order: what it says of the greeting comes before this. A flush would not do: the
                # library's ping overtakes what it has not written yet.
                await self._bus.publish(inbox)
                first = await answers.next_msg(CONNECT_S)
                return (first.headers or {}).get(Header.STATUS) != _NOBODY
            finally:
                await answers.unsubscribe()

    # -- the streams

    def _configs(self) -> list[StreamConfig]:
        name, window_s = self.settings.name, self.settings.window_s
        out = [
            StreamConfig(
                name=f"{name}-out-{root.replace('.', '-')}",
                subjects=[f"{name}.out.{root}.>"],
                republish=RePublish(src=f"{name}.out.{root}.>", dest=f"{root}.>"),
                duplicate_window=window_s,
                max_age=window_s,
            )
            for root in (*self.topics.roots, SYSTEM)
        ]
        inbox = StreamConfig(
            name=f"{name}-in", subjects=list(TAKEN_IN), retention=RetentionPolicy.WORK_QUEUE, max_age=KEPT_S
        )
        return [inbox, *out]

    async def _keep(self, config: StreamConfig) -> None:
        try:
            await self._streams.update_stream(config)
        except NotFoundError:
            await self._streams.add_stream(config)

    async def _lost(self) -> None:
        self._said("the connection to the bus is lost; it is tried again")

    async def _back(self) -> None:
        self.connections += 1
        self._said("the connection to the bus is back")


async def _unheard(error: Exception) -> None:
    """What it means for us, whoever asked for something hears."""


def shown_url(url: str) -> str:
    """Without what somebody may have written into it to be let in."""
    scheme, found, rest = url.rpartition("://")
    return f"{scheme}{found}{rest.rpartition('@')[2]}"
