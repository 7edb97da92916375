"""Jobs over the bus while the service, or the bus itself, is killed again and again; and what the record says then."""

import asyncio
import random
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

from cap.client import submit_job
from msgspec import Struct

from tests.bus.playing import SENDER, TOPIC, connection, ids, job, succeed, until, worker
from tests.bus.server import NatsServer
from tests.bus.site import BusSite

WORKERS: Final = 3
IN_FLIGHT_MAX: Final = 40
ENDS: Final = ("SUCCEEDED", "TIMEOUT")
SUBMIT_TRIES_MAX: Final = 200
END_S: Final = 120.0
Kill = Callable[[BusSite, NatsServer], None]


class Outcome(Struct, frozen=True):
    """`ran` is how often each job was handed to a worker; `left` how many had not ended yet, at each of the kills."""

    states: dict[str, int]
    ran: dict[str, int]
    left: list[int]
    unjudged: list[str]
    violations: list[str]


class Kept:
    """A publisher that knows when the bus has kept what it published, and else publishes it again."""

    def __init__(self, bus: Any) -> None:
        self._streams = bus.jetstream(timeout=1.0)

    async def publish(self, subject: str, data: bytes) -> None:
        for _ in range(SUBMIT_TRIES_MAX):
            try:
                await self._streams.publish(subject, data)
                return
            except Exception as error:  # whichever of the library's: the bus is away
                last = error
                await asyncio.sleep(0.1)
        raise last


def run_campaign(
    folder: Path, *, jobs: int, kills: int, kill: Kill, limit_s: float, seed: int, services: int = 1,
    url: str | None = None,
) -> Outcome:  # fmt: skip
    """`limit_s` is also how long it takes to notice that a worker was given a job while it was not there. Several
    services share the bus and the store.
    """
    settings = f'in_flight_max = {IN_FLIGHT_MAX}\n[limits]\n"{TOPIC}" = {limit_s}\n'
    store = f"sqlite:///{folder / 'jobs.db'}" if url is None else url
    with NatsServer(folder) as server, ExitStack() as stack:
        sites = [
            stack.enter_context(BusSite(_made(folder / f"service-{number}"), server.url, settings, url=store))
            for number in range(services)
        ]
        ran, left = asyncio.run(_play(sites, server, jobs=jobs, kills=kills, kill=kill, chance=random.Random(seed)))
        with sites[0].services.site.client() as client:
            found = [client.get(job_id) for job_id in ids(jobs)]
            violations = [str(each) for each in client.verify().violations]
    return Outcome(
        states=dict(Counter(each.state for each in found)),
        ran=dict(ran),
        left=left,
        unjudged=[each.id for each in found if each.attempt and each.verdict != "allow"],
        violations=violations,
    )


async def _play(
    sites: list[BusSite], server: NatsServer, *, jobs: int, kills: int, kill: Kill, chance: random.Random
) -> tuple[Counter[str], list[int]]:
    ran: Counter[str] = Counter()
    left: list[int] = []

    async def count(request: Any) -> Any:
        ran[request.job_id] += 1
        await asyncio.sleep(chance.random() / 20)
        return await succeed(request)

    async def submit_all() -> None:
        for job_id in ids(jobs):
            await submit_job(kept, job(job_id), f"trace-{job_id}", SENDER)

    async with connection(server.url) as bus, asyncio.TaskGroup() as group:
        kept = Kept(bus)
        working = [group.create_task(_work(server.url, count, f"worker-{each}")) for each in range(WORKERS)]
        submitting = group.create_task(submit_all())
        for number in range(kills):
            enough = jobs * (number + chance.random()) / (kills + 1)
            await until(lambda enough=enough: _ended(sites[0]) >= enough, END_S)  # type: ignore[misc]
            left.append(jobs - await asyncio.to_thread(_ended, sites[0]))
            await asyncio.to_thread(kill, chance.choice(sites), server)
        await submitting
        await until(lambda: _ended(sites[0]) == jobs, END_S)
        for each in working:
            each.cancel()
    return ran, left


async def _work(url: str, handler: Any, name: str) -> None:
    async with worker(url, handler, sender_id=name):
        await asyncio.Event().wait()


def _ended(site: BusSite) -> int:
    with site.services.site.client() as client:
        return sum(client.count(phase="ended").values())


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def kill_service(site: BusSite, server: NatsServer) -> None:
    site.kill()
    site.start()


def restart_bus(site: BusSite, server: NatsServer) -> None:
    server.restart()
