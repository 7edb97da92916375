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
from nats.errors import ConnectionClosedError, NoServersError
from nats.js import JetStreamContext
from nats.js.api import AckPolicy, ConsumerConfig, DeliverPolicy, Header
from nats.js.errors import NoStreamResponseError

from detent.errors import InvalidArgument
from detent.surfaces.bus.addresses import checked_url, shown_url
from detent.surfaces.bus.counts import Counts
from detent.surfaces.bus.packets import Packet, message, write
from detent.surfaces.bus.settings import BusSettings
from detent.surfaces.bus.signing import Keys
from detent.surfaces.bus.streams import inbox, keep, outboxes
from detent.surfaces.bus.subjects import TAKEN_IN, Topics
from detent.surfaces.bus.trouble import bus_trouble

BATCH_MAX: Final = 200
PENDING_MAX: Final = 1_000  # taken along, by all services together, and not yet dealt with
ACK_WAIT_S: Final = 5.0  # after which what a service took along when it was killed comes again
CONNECT_S: Final = 5
OPEN_S: Final = 10.0
CONNECT_AGAIN_S: Final = 1
PING_S: Final = 5  # two of these unanswered, and the connection counts as lost
PUBLISH_S: Final = 5.0
_SCHEDULER: Final = 2  # its role, in a handshake
_ONCE: Final = "Nats-Msg-Id"
_NOBODY: Final = "503"
_HEADERS_BYTES_MAX: Final = 4_096  # what a name takes beside the packet


class Link:
    """There is one way onto the bus, `open`, however often it was lost: whoever holds on to `lost` opens it again. So
    streams that are not there any more are made anew, too.
    """

    def __init__(self, url: str, settings: BusSettings) -> None:
        """What is wrong with the address or the keys is told here."""
        self.settings = settings
        self.topics = Topics(settings.topics)
        settings.check_files()
        self.keys: Keys = settings.loaded_keys()
        self.shown = shown_url(url)
        self.lost = asyncio.Event()
        self._remembered: dict[str, int] = {}  # since when each part of the outbox is there
        self.counts = Counts()
        self._servers = [checked_url(each.strip()) for each in url.split(",")]
        self._bus: Client = Client()
        self._is_begun = False
        self._streams: JetStreamContext = self._bus.jetstream()

    # -- from beginning to end

    async def open(self) -> None:
        await self.close()
        self._bus, self.lost = Client(), asyncio.Event()
        with bus_trouble(f"the bus at {self.shown} cannot be used"):
            async with asyncio.timeout(OPEN_S):
                await self._open()

    async def _open(self) -> None:
        self._is_begun = True
        await self._connect()
        self._streams = self._bus.jetstream(timeout=PUBLISH_S)
        await keep(self._streams, inbox(self.settings.name))
        for root, config in outboxes(self.settings, self.topics.roots).items():
            self._remembered[root] = await keep(self._streams, config)

    async def _connect(self) -> None:
        """Each server once or twice: then it is told why none will do, and `open` is asked again."""
        lost, heard = self.lost, list[Exception]()

        async def closed() -> None:
            lost.set()

        async def troubled(error: Exception) -> None:
            heard[:] = [error]  # once connected, whoever asked for something hears of it as well

        try:
            await self._bus.connect(
                self._servers,
                name=self.settings.name,
                user_credentials=self.settings.credentials,
                connect_timeout=CONNECT_S,
                max_reconnect_attempts=1,
                reconnect_time_wait=CONNECT_AGAIN_S,
                allow_reconnect=False,
                ping_interval=PING_S,
                error_cb=troubled,
                closed_cb=closed,
            )
        except NoServersError as nobody:
            raise heard[0] if heard else nobody from nobody

    async def close(self) -> None:
        with bus_trouble("the connection to the bus was not closed in good order"):
            if self._is_begun and not self._bus.is_closed:
                await self._bus.close()

    @property
    def is_connected(self) -> bool:
        return self._bus.is_connected

    def remembered_from(self, root: str) -> int:
        """Of what was put on the bus before, nothing is known there."""
        return self._remembered[root]

    # -- what comes in

    async def inbox(self) -> Subscription:
        """What came, in its order. Of several services each gets a part of it."""
        name = self.settings.name
        config = ConsumerConfig(
            ack_policy=AckPolicy.EXPLICIT, ack_wait=ACK_WAIT_S, max_ack_pending=PENDING_MAX,
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

    async def settled(self) -> int:
        """Up to which place in the stream of all that came everything is dealt with."""
        name = self.settings.name
        with bus_trouble("how much of the inbox is dealt with cannot be asked"):
            found = (await self._streams.consumer_info(f"{name}-in", name)).ack_floor
        return 0 if found is None else found.stream_seq

    # -- what goes out

    async def put(self, subject: str, packet: Packet, once: str) -> None:
        """Into the outbox. What was put there before under the same `once` is not passed on again."""
        data, whole = write(packet, self.keys), f"{self.settings.name}.out.{subject}"
        most = self._bus.max_payload - _HEADERS_BYTES_MAX
        if len(data) > most:
            message = f"a packet for '{subject}' has {len(data)} bytes, and the bus takes {most}"
            raise InvalidArgument(message, code="value_too_large")
        with bus_trouble(f"nothing can be put on the bus for '{subject}'"):
            if not self.is_connected:
                raise ConnectionClosedError
            try:
                await self._streams.publish(whole, data, headers={_ONCE: once})
            except NoStreamResponseError:
                self.lost.set()  # somebody has removed the stream: it is made anew
                raise
        self.counts.sent.add(packet.kind)

    async def say(self, subject: str, packet: Packet) -> None:
        """To whoever listens just now."""
        with bus_trouble(f"nothing can be said on '{subject}'"):
            await self._bus.publish(subject, write(packet, self.keys))
        self.counts.sent.add(packet.kind)

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

    async def look(self) -> None:
        """Whether what keeps the messages is still there: a consumer that was removed says nothing any more, and
        neither does a connection that is broken without a word.
        """
        name = self.settings.name
        with bus_trouble("what is kept on the bus cannot be looked at"):
            try:
                await self._streams.consumer_info(f"{name}-in", name)
            except Exception:
                self.lost.set()
                raise
