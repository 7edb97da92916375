"""Ways that a job can go over the bus, with workers and clients of the protocol's own SDK."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from cap.pb.cordum.agent.v1 import job_pb2
from cap.progress import cancel_payload, emit_cancel, emit_progress, progress_payload
from cap.runtime import Agent, InMemoryBlobStore

from detent.surfaces.bus.link import Link
from detent.surfaces.bus.settings import BusSettings
from tests.bus.playing import SENDER, TOPIC, WAIT_S, WORKER, connection, job, listening, submit, succeed, until, worker
from tests.bus.server import NatsServer
from tests.bus.site import BusSite

pytestmark = pytest.mark.requirement("DSP-09")


@pytest.mark.requirement("DSP-08")
def test_job_that_is_submitted_runs_and_its_result_is_on_the_record(site: BusSite) -> None:
    async def play() -> dict[str, Any]:
        async with connection(site.nats_url) as bus, worker(site.nats_url, succeed):
            await submit(bus, job("j1", workflow_id="w", step_index=2, env={"lang": "de"}))
            return dict(await until(lambda: site.in_state("j1", "SUCCEEDED")))

    done = asyncio.run(play())

    assert (done["result_ptr"], done["last_owner"]) == ("redis://res/j1", TOPIC)
    assert (done["verdict"], done["rule"]) == ("allow", "default")
    assert (done["workflow_id"], done["step_index"], done["env"]) == ("w", 2, {"lang": "de"})
    moves = [(each["verb"], each["actor"]) for each in site.events("j1")]
    assert moves == [
        ("enqueue", SENDER), ("schedule", "detent"), ("claim", "detent"), ("start", WORKER), ("complete", WORKER),
    ]  # fmt: skip


def test_worker_gets_the_request_as_it_was_submitted(site: BusSite) -> None:
    given: list[Any] = []

    async def keep(request: Any) -> Any:
        given.append(request)
        return await succeed(request)

    sent = job("j1", priority=3, adapter_id="gpt", env={"a": "b"}, tenant_id="default", labels={"x": "y"})

    async def play() -> None:
        async with connection(site.nats_url) as bus, worker(site.nats_url, keep):
            await submit(bus, sent)
            await until(lambda: site.in_state("j1", "SUCCEEDED"))

    asyncio.run(play())

    (got,) = given
    assert got.dispatch.attempt == 1
    got.ClearField("dispatch")
    assert got == sent


def test_handler_that_raises_fails_its_job(site: BusSite) -> None:
    async def fail(request: Any) -> Any:
        raise RuntimeError("no model is loaded")

    async def play() -> dict[str, Any]:
        async with connection(site.nats_url) as bus, worker(site.nats_url, fail):
            await submit(bus, job("j1"))
            return dict(await until(lambda: site.in_state("j1", "FAILED")))

    done = asyncio.run(play())

    assert done["error"]["message"] == "handler failed"
    assert site.events("j1")[-1]["actor"] == WORKER


def test_first_progress_implies_the_start(site: BusSite) -> None:
    async def play() -> dict[str, Any]:
        go_on = asyncio.Event()

        async def work(request: Any) -> Any:
            await emit_progress(bus, progress_payload(WORKER, request.job_id, "step", 40, "halfway, nearly"))
            await go_on.wait()
            return await succeed(request)

        async with connection(site.nats_url) as bus, worker(site.nats_url, work):
            await submit(bus, job("j1"))
            running: dict[str, Any] = await until(lambda: site.in_state("j1", "RUNNING"))
            go_on.set()
            await until(lambda: site.in_state("j1", "SUCCEEDED"))
            return running

    running = asyncio.run(play())

    assert (running["progress"]["fraction"], running["progress"]["message"]) == (0.4, "halfway, nearly")
    assert [each["verb"] for each in site.events("j1")][3:] == ["start", "complete"]
    assert [(each["kind"], each["actor"]) for each in site.notes("j1")] == [("progress", WORKER)]


@pytest.mark.requirement("DSP-06")
def test_cancel_ends_the_job_is_published_and_late_result_is_noted(site: BusSite) -> None:
    async def play() -> list[Any]:
        taken, go_on = asyncio.Event(), asyncio.Event()

        async def work(request: Any) -> Any:
            taken.set()
            await go_on.wait()
            return await succeed(request)

        async with connection(site.nats_url) as bus, worker(site.nats_url, work):
            cancels = await listening(bus, "sys.job.cancel")
            results = await listening(bus, "sys.job.result")
            await submit(bus, job("j1"))
            await asyncio.wait_for(taken.wait(), 15)
            await emit_cancel(bus, cancel_payload(SENDER, "j1", "not wanted any more", "ann"))
            await until(lambda: site.in_state("j1", "CANCELLED"))
            await until(lambda: [each for each in cancels.packets if each.sender_id == "detent"])
            await until(lambda: [each for each in results.packets if each.sender_id == "detent"])
            go_on.set()
            await until(lambda: site.notes("j1"))
            return cancels.packets + results.packets

    packets = asyncio.run(play())

    ours = [each for each in packets if each.sender_id == "detent"]
    assert ours[0].job_cancel.job_id == "j1"
    assert (ours[1].job_result.job_id, ours[1].job_result.status) == ("j1", job_pb2.JOB_STATUS_CANCELLED)
    cancelled, (late,) = site.events("j1")[-1], site.notes("j1")
    assert (cancelled["verb"], cancelled["actor"]) == ("cancel", "ann")
    assert (late["kind"], late["actor"]) == ("late_result", WORKER)
    found = site.job("j1")
    assert found is not None
    assert (found["state"], found["result_ptr"]) == ("CANCELLED", None)


def test_job_whose_worker_dies_times_out_by_its_topics_limit(start: Callable[..., BusSite]) -> None:
    site = start(f'[limits]\n"{TOPIC}" = 1.0\n')

    async def play() -> tuple[dict[str, Any], list[Any]]:
        taken = asyncio.Event()

        async def die(request: Any) -> Any:
            taken.set()
            await asyncio.Event().wait()

        async with connection(site.nats_url) as bus:
            results = await listening(bus, "sys.job.result")
            async with worker(site.nats_url, die):
                await submit(bus, job("j1"))
                await asyncio.wait_for(taken.wait(), 15)
            ended: dict[str, Any] = await until(lambda: site.in_state("j1", "TIMEOUT"))
            await until(lambda: results.packets)
            return ended, results.packets

    ended, told = asyncio.run(play())

    assert ended["claimed_at"] < ended["ended_at"]
    assert [each.job_result.status for each in told] == [job_pb2.JOB_STATUS_TIMEOUT]


@pytest.mark.requirement("DSP-01")
def test_second_submission_of_a_job_changes_nothing(site: BusSite) -> None:
    ran: list[str] = []

    async def count(request: Any) -> Any:
        ran.append(request.job_id)
        return await succeed(request)

    async def play() -> None:
        async with connection(site.nats_url) as bus, worker(site.nats_url, count):
            await submit(bus, job("j1"), job("j1"))
            await until(lambda: site.in_state("j1", "SUCCEEDED"))
            await submit(bus, job("j1"), job("last"))
            await until(lambda: site.in_state("last", "SUCCEEDED"))

    asyncio.run(play())

    assert ran == ["j1", "last"]
    assert len(site.events("j1")) == 5


def test_job_waits_for_its_pool_and_starts_when_that_comes(site: BusSite) -> None:
    async def play() -> None:
        async with connection(site.nats_url) as bus:
            await submit(bus, job("j1"))
            await until(lambda: site.in_state("j1", "SCHEDULED"))
            async with worker(site.nats_url, succeed):
                await until(lambda: site.in_state("j1", "SUCCEEDED"))

    asyncio.run(play())


def test_job_that_is_cancelled_before_its_pool_came_never_runs(site: BusSite) -> None:
    async def play() -> None:
        async with connection(site.nats_url) as bus:
            await submit(bus, job("j1"))
            await emit_cancel(bus, cancel_payload(SENDER, "j1", "a mistake", "ann"))
            await until(lambda: site.in_state("j1", "CANCELLED"))

    asyncio.run(play())


def test_it_is_never_taken_for_granted_that_somebody_serves_a_topic(nats_server: NatsServer) -> None:
    async def play() -> tuple[set[bool], set[bool]]:
        link = Link(nats_server.url, BusSettings())
        await link.open()
        nobody = {await link.is_served(TOPIC) for _ in range(200)}
        async with worker(nats_server.url, succeed):
            somebody = {await link.is_served(TOPIC) for _ in range(200)}
        await link.close()
        return nobody, somebody

    assert asyncio.run(play()) == ({False}, {True})


@pytest.mark.requirement("DSP-06")
def test_cancel_over_http_reaches_the_pool_with_who_asked_and_why(site: BusSite) -> None:
    """Softly asked: workers of a pool know no grace, so that it is cancelled at once, and the pool told."""

    async def play() -> tuple[list[Any], Any]:
        taken = asyncio.Event()

        async def work(request: Any) -> Any:
            taken.set()
            await asyncio.Event().wait()

        async with connection(site.nats_url) as bus, worker(site.nats_url, work):
            cancels, results = await listening(bus, "sys.job.cancel"), await listening(bus, "sys.job.result")
            await submit(bus, job("j1"))
            await asyncio.wait_for(taken.wait(), WAIT_S)
            assert site.service is not None
            asked = {"mode": "soft", "reason": "wrong customer", "actor": "ann"}
            status, told = await asyncio.to_thread(site.service.ask, "POST", "/v1/jobs/j1/cancel", asked)
            assert status == 200, told
            await until(lambda: site.in_state("j1", "CANCELLED"))
            await until(lambda: cancels.packets and results.packets)
            return cancels.packets, results.packets[0].job_result

    (told,), result = asyncio.run(play())

    assert (told.job_cancel.job_id, told.job_cancel.dispatch.attempt) == ("j1", 1)
    assert (told.job_cancel.requested_by, told.job_cancel.reason) == ("ann", "wrong customer")
    assert (result.error_code, result.error_message) == ("CANCELLED", "wrong customer")
    assert [each["verb"] for each in site.events("j1")][-2:] == ["request_cancel", "cancel"]


def test_job_of_another_lifecycle_in_a_pools_queue_is_left_alone(site: BusSite) -> None:
    assert site.service is not None
    strangers = [site.service.enqueue(TOPIC, queue=TOPIC, lifecycle="standard", priority=9) for _ in range(3)]

    async def play() -> None:
        async with connection(site.nats_url) as bus, worker(site.nats_url, succeed):
            await submit(bus, *(job(f"j{number}") for number in range(50)))
            for number in range(50):
                await until(lambda number=number: site.in_state(f"j{number}", "SUCCEEDED"))  # type: ignore[misc]

    asyncio.run(play())

    assert [site.service.state(each) for each in strangers] == ["queued"] * 3


def test_agent_of_the_sdk_runs_jobs_and_says_what_it_has_room_for(site: BusSite) -> None:
    """The SDK's other worker: it greets, sends heartbeats and keeps what pointers point at."""
    kept = InMemoryBlobStore()
    agent = Agent(
        nats_url=site.nats_url, store=kept, sender_id="agent-1", pool=TOPIC, max_parallel=3, heartbeat_interval=0.1
    )

    @agent.job(TOPIC)
    async def add(context: Any, given: Any) -> Any:
        return {"sum": given["a"] + given["b"]}

    def listed() -> Any:
        assert site.service is not None
        return site.service.ask("GET", "/v1/workers")[1]["workers"]

    async def play() -> tuple[Any, Any, Any]:
        await kept.set("ctx/j1", b'{"a": 2, "b": 3}')
        await kept.set("ctx/j2", b'{"a": 2}')
        await agent.start()
        try:
            async with connection(site.nats_url) as bus:
                await submit(bus, job("j1"), job("j2"))
                await until(lambda: site.in_state("j1", "SUCCEEDED"))
                failed = await until(lambda: site.in_state("j2", "FAILED"))
                return (
                    await kept.get("res:j1"),
                    failed,
                    await until(lambda: [each for each in listed() if each["slots"] == 3]),
                )
        finally:
            await agent.close()

    result, failed, (known,) = asyncio.run(play())

    assert result == b'{"sum": 5}'
    assert failed["error"]["message"] == "handler failed"
    assert (known["name"], known["queues"]) == ("agent-1", [TOPIC])
    done = site.job("j1")
    assert done is not None
    assert done["result_ptr"] == "redis://res:j1"
