"""What everybody can see of pools: who is there, how busy they are, and for how much they have room."""

import asyncio
from datetime import UTC, datetime
from typing import Any

import pytest
from cap.heartbeat import emit_heartbeat, heartbeat_payload
from cap.runtime import Agent, InMemoryBlobStore

from detent.store.fleet import SEEN_S, WORKER_KEPT_S
from detent.surfaces.bus.members import Member, Members
from detent.surfaces.bus.packets import Packet, message
from detent.surfaces.bus.subjects import Topics
from tests.bus.ground import Clock
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


def heartbeat(worker: str, topic: str, *, running: int = 0, slots: int = 2) -> Packet:
    told = message("Heartbeat", worker_id=worker, pool=topic, active_jobs=running, max_parallel_jobs=slots)
    return Packet("t", worker, "heartbeat", told)


def greeting(worker: str, *topics: str) -> Packet:
    return Packet("t", worker, "handshake", message("Handshake", component_id=worker, ready_topics=topics))


def known(clock: Clock) -> Members:
    return Members(Topics(["job.>"]), clock)


def test_greeting_names_all_that_a_worker_serves() -> None:
    members = known(Clock())
    members.hear(greeting("w1", "job.old", "job.both"))
    members.hear(greeting("w1", "job.new", "job.both"))

    assert (members.of("job.old"), len(members.of("job.new")), len(members.of("job.both"))) == ([], 1, 1)


def test_worker_that_serves_another_topic_now_is_not_recalled_for_the_old_one() -> None:
    clock = Clock()
    members = known(clock)
    members.recall(Member("w1", datetime.now(UTC), ("job.old",), seen_s=clock.now_s))
    members.hear(heartbeat("w1", "job.new"))

    assert (members.of("job.old"), len(members.of("job.new"))) == ([], 1)


def test_worker_that_names_no_topic_is_recalled_for_those_it_had() -> None:
    clock = Clock()
    members = known(clock)
    members.recall(Member("w1", datetime.now(UTC), ("job.old",), seen_s=clock.now_s - SEEN_S))
    assert members.of("job.old") == []

    members.hear(heartbeat("w1", "", slots=3))

    assert [each.slots for each in members.of("job.old")] == [3]


def test_no_more_jobs_count_as_lost_than_workers_can_have_lost() -> None:
    clock = Clock()
    members = known(clock)
    members.hear(heartbeat("w1", TOPIC, slots=2))
    here = members.lost_most(TOPIC)
    clock.now_s += SEEN_S
    members.hear(heartbeat("w2", TOPIC, slots=4))

    assert (here, members.lost_most(TOPIC)) == (3, 3 + 5)
    clock.now_s += WORKER_KEPT_S
    assert members.lost_most(TOPIC) == 0
