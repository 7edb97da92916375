"""The parts of a bus, in the test's own process and by its clock, on a real server and a real store."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from cap.heartbeat import emit_heartbeat, heartbeat_payload
from nats.aio.client import Client as Connection
from nats.aio.msg import Msg

import detent
from detent import Client, Job
from detent.surfaces.bus.intake import Intake
from detent.surfaces.bus.link import Link
from detent.surfaces.bus.outbox import Outbox
from detent.surfaces.bus.pools import Pools
from detent.surfaces.bus.settings import BusSettings
from tests.bus.playing import TOPIC, connection
from tests.bus.server import NatsServer

STEP_S = 1.0
SLOTS = 2


class Clock:
    """Of a test: it stands still until it is set."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def __call__(self) -> float:
        return self.now_s


class Ground:
    def __init__(self, client: Client, link: Link, bus: Connection) -> None:
        self.now_s = 0.0
        self.client, self.link, self.bus = client, link, bus
        self.pools = Pools(client, link, clock=lambda: self.now_s)
        self.intake = Intake(client, link, self.pools.answered)
        self.outbox = Outbox(client, link)

    async def hand_out(self, count: int = 1) -> list[Job]:
        """To the pool, as far as the record goes."""
        if not count:
            return []
        for _ in range(count):
            job = await self.client.enqueue(TOPIC, queue=TOPIC, lifecycle="dispatch")
            await self.client.schedule(job.id, verdict="allow", rule="default")
        return await self.client.claim(worker=TOPIC, queues=[TOPIC], limit=count)

    async def came(self, count: int) -> list[Msg]:
        inbox = await self.link.inbox()
        return [await inbox.next_msg(5.0) for _ in range(count)]

    async def beat(self, worker: str, running: int) -> None:
        await emit_heartbeat(self.bus, heartbeat_payload(worker, TOPIC, running, SLOTS, 0.0))

    async def wait(self, worker: str, running: int, *, for_s: float) -> None:
        """While that worker alone is heard of, and jobs wait."""
        ends_s = self.now_s + for_s
        while self.now_s < ends_s:
            await self.beat(worker, running)
            await self.bus.flush()
            self.now_s += STEP_S
            await self.pools.room(TOPIC)


@asynccontextmanager
async def ground(folder: Path, server: NatsServer, topics: tuple[str, ...] = ("job.>",)) -> AsyncIterator[Ground]:
    link = Link(server.url, BusSettings(topics=topics))
    async with detent.connect(f"sqlite:///{folder / 'jobs.db'}") as client, connection(server.url) as bus:
        await link.open()
        made = Ground(client, link, bus)
        await made.pools.open()
        try:
            yield made
        finally:
            await link.close()
