"""What everybody can see of pools: who is there, how busy they are, and for how much they have room."""

import asyncio
from typing import Any

import pytest
from cap.heartbeat import emit_heartbeat, heartbeat_payload
from cap.runtime import Agent, InMemoryBlobStore

from tests.bus.playing import TOPIC, WORKER, connection, ids, job, submit, succeed, until, worker
from tests.bus.site import BusSite

pytestmark = pytest.mark.requirement("DSP-09")
IN_FLIGHT_MAX = 2


NAMES = ids(IN_FLIGHT_MAX + 1)


def listed(site: BusSite) -> list[dict[str, Any]]:
    assert site.service is not None
    return list(site.service.ask("GET", "/v1/workers")[1]["workers"])


def test_worker_that_sends_heartbeats_is_listed_with_its_slots(site: BusSite) -> None:
    async def play() -> list[dict[str, Any]]:
        async with connection(site.nats_url) as bus:

            async def beat() -> None:
                while True:
                    await emit_heartbeat(bus, heartbeat_payload(WORKER, TOPIC, 1, 4, 0.5))
                    await asyncio.sleep(0.1)

            beating = asyncio.create_task(beat())
            found: list[dict[str, Any]] = await until(lambda: listed(site))
            beating.cancel()
            return found

    (found,) = asyncio.run(play())

    assert (found["name"], found["queues"], found["slots"], found["running"]) == (WORKER, [TOPIC], 4, 1)


def test_pool_that_says_nothing_is_listed_as_a_whole_and_explains_who_waits_for_it(start: Any) -> None:
    site: BusSite = start(f"in_flight_max = {IN_FLIGHT_MAX}\n")

    def why(job_id: str) -> str:
        assert site.service is not None
        (reason,) = site.service.ask("GET", f"/v1/jobs/{job_id}/explanation")[1]["reasons"]
        return str(reason["text"])

    async def play() -> tuple[list[dict[str, Any]], str]:
        go_on = asyncio.Event()

        async def work(request: Any) -> Any:
            await go_on.wait()
            return await succeed(request)

        async with connection(site.nats_url) as bus, worker(site.nats_url, work):
            await submit(bus, *map(job, NAMES))
            full = await until(lambda: [each for each in listed(site) if each["running"] == IN_FLIGHT_MAX])
            (waits,) = await until(lambda: [each for each in NAMES if site.in_state(each, "SCHEDULED")])
            told = await asyncio.to_thread(why, waits)
            go_on.set()
            for each in NAMES:
                await until(lambda each=each: site.in_state(each, "SUCCEEDED"))  # type: ignore[misc]
        return full, told

    (pool,), told = asyncio.run(play())

    assert (pool["name"], pool["queues"], pool["slots"]) == (TOPIC, [TOPIC], IN_FLIGHT_MAX)
    assert f"busy, {IN_FLIGHT_MAX} of {IN_FLIGHT_MAX}" in told


def test_topics_of_a_worker_that_greeted_are_known_to_the_next_service_too(site: BusSite) -> None:
    """Its heartbeats name a pool that is no topic: what it serves it has said once."""
    agent = Agent(
        nats_url=site.nats_url, store=InMemoryBlobStore(), sender_id="agent-1", pool="chat", max_parallel=3,
        heartbeat_interval=0.1,
    )  # fmt: skip

    @agent.job(TOPIC)
    async def nothing(context: Any, given: Any) -> Any:
        return {}

    def topics() -> list[Any]:
        return [each["queues"] for each in listed(site) if each["name"] == "agent-1" and each["slots"] == 3]

    def forget() -> None:
        with site.services.site.client() as client:
            client.forget_worker("agent-1")

    async def play() -> list[Any]:
        await agent.start()
        try:
            await until(topics)
            site.kill()
            await asyncio.to_thread(site.start)
            await asyncio.to_thread(site.wait_until_joined)
            await asyncio.to_thread(forget)
            return list(await until(topics))
        finally:
            await agent.close()

    assert asyncio.run(play()) == [[TOPIC]]
