"""Whatever comes over the bus, or is to go out on it, is one job's trouble at most: all others go on."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from cap.heartbeat import emit_heartbeat, heartbeat_payload
from cap.pb.cordum.agent.v1 import buspacket_pb2, job_pb2
from cap.progress import cancel_payload, emit_cancel

from tests.bus.playing import SENDER, TOPIC, WORKER, connection, job, listening, submit, succeed, until, worker
from tests.bus.server import NatsServer
from tests.bus.site import BusSite

pytestmark = pytest.mark.requirement("DSP-09")
MEGABYTE = 1_048_576


def _beyond_the_calendar() -> Any:
    request = job("odd")
    request.context_ref.expires_at.seconds = 10**15
    return request


def _packet(trace_id: str = "t", **fields: Any) -> bytes:
    packet = buspacket_pb2.BusPacket(trace_id=trace_id, sender_id=SENDER, protocol_version=1, **fields)
    packet.created_at.GetCurrentTime()
    return bytes(packet.SerializeToString())


POISON: dict[str, tuple[str, Callable[[], bytes], str]] = {
    "moment beyond the calendar": (
        "sys.job.submit", lambda: _packet(job_request=_beyond_the_calendar()), "bad_packet",
    ),
    "NUL in a job's id": (
        "sys.job.cancel", lambda: _packet(job_cancel=job_pb2.JobCancel(job_id="a\0b")), "not_found",
    ),
    "endless trace id": (
        "sys.job.submit", lambda: _packet("t" * (MEGABYTE - 500), job_request=job("odd", topic="none")), "bad_topic",
    ),
    "endless job id": (
        "sys.job.cancel", lambda: _packet(job_cancel=job_pb2.JobCancel(job_id="j" * 1_000_000)), "not_found",
    ),
}  # fmt: skip


@pytest.mark.parametrize("poison", POISON)
def test_message_that_cannot_be_dealt_with_is_told_once_and_gone(site: BusSite, poison: str) -> None:
    subject, made, code = POISON[poison]

    async def play() -> list[str]:
        async with connection(site.nats_url) as bus, worker(site.nats_url, succeed):
            alerts = await listening(bus, "sys.alert")
            await bus.publish(subject, made())
            await submit(bus, job("good"))
            await until(lambda: site.in_state("good", "SUCCEEDED"))
            await until(lambda: alerts.packets)
            inbox = await bus.jetstream().consumer_info("detent-in", "detent")
            assert (inbox.num_pending, inbox.num_ack_pending) == (0, 0)
            return [each.alert.code for each in alerts.packets]

    assert asyncio.run(play()) == [code]
    assert "Traceback" not in site.log()


@pytest.mark.parametrize(
    ("fields", "said"),
    [({"step_index": 2**31}, "range"), ({"payload": {"cap": {"memory_id": "m" * 1_045_000}}}, "bytes")],
)
def test_job_that_cannot_be_published_fails_and_says_why(site: BusSite, fields: dict[str, Any], said: str) -> None:
    async def play() -> dict[str, Any]:
        assert site.service is not None
        async with connection(site.nats_url) as bus, worker(site.nats_url, succeed):
            odd = site.service.enqueue(TOPIC, queue=TOPIC, lifecycle="dispatch", **{"payload": None} | fields)
            await submit(bus, job("good"))
            await until(lambda: site.in_state("good", "SUCCEEDED"))
            return dict(await until(lambda: site.in_state(odd, "FAILED")))

    failed = asyncio.run(play())

    assert failed["error"]["code"] == "not_publishable"
    assert said in failed["error"]["message"]


@pytest.mark.parametrize(
    "fields",
    [{"artifact_ptrs": [f"s3://made/{number}" for number in range(101)]}, {"result_ptr": "s3://" + "x" * 9_000}],
)
def test_result_that_cannot_be_recorded_fails_its_job(site: BusSite, fields: dict[str, Any]) -> None:
    async def odd(request: Any) -> Any:
        return job_pb2.JobResult(status=job_pb2.JOB_STATUS_SUCCEEDED, **fields)

    async def play() -> dict[str, Any]:
        async with connection(site.nats_url) as bus, worker(site.nats_url, odd):
            await submit(bus, job("j1"))
            return dict(await until(lambda: site.in_state("j1", "FAILED")))

    assert asyncio.run(play())["error"]["code"] == "bad_result"


def test_job_outside_the_topics_of_the_bus_is_out_of_its_reach(site: BusSite) -> None:
    async def play() -> str:
        assert site.service is not None
        private = site.service.enqueue("report", queue="private", lifecycle="dispatch")
        async with connection(site.nats_url) as bus:
            alerts = await listening(bus, "sys.alert")
            await emit_cancel(bus, cancel_payload(SENDER, private, "mine now", "mallory"))
            await until(lambda: alerts.packets)
        return site.service.state(private)

    assert asyncio.run(play()) == "PENDING"


def test_heartbeats_of_somebody_who_exaggerates_hide_nobody(site: BusSite) -> None:
    def names() -> list[str]:
        assert site.service is not None
        return [each["name"] for each in site.service.ask("GET", "/v1/workers")[1]["workers"]]

    async def play() -> None:
        async with connection(site.nats_url) as bus:

            async def beat() -> None:
                for number in range(10_000):
                    await emit_heartbeat(
                        bus, heartbeat_payload(f"odd-{number}", "job." + "x" * 90_000, 1, 2**31 - 1, 0)
                    )
                    await emit_heartbeat(bus, heartbeat_payload("odd\0", TOPIC, 1, 2**31 - 1, 0))
                    await emit_heartbeat(bus, heartbeat_payload(WORKER, TOPIC, 1, 4, 0.5))
                    await asyncio.sleep(0.05)

            beating = asyncio.create_task(beat())
            await until(lambda: names() == [WORKER])
            beating.cancel()

    asyncio.run(play())


def test_cancel_right_after_the_submission_is_never_lost_among_several_services(
    start: Callable[..., BusSite], nats_server: NatsServer, tmp_path_factory: pytest.TempPathFactory
) -> None:
    first = start()
    other = BusSite(tmp_path_factory.mktemp("other"), nats_server.url, url=first.services.site.url)
    names = [f"j-{number}" for number in range(40)]

    async def play() -> None:
        async with connection(nats_server.url) as bus:
            for name in names:
                await submit(bus, job(name))
                await emit_cancel(bus, cancel_payload(SENDER, name, "at once", "ann"))
            for name in names:
                await until(lambda name=name: first.in_state(name, "CANCELLED"))  # type: ignore[misc]

    with other:
        asyncio.run(play())


def test_bus_that_comes_back_with_nothing_is_set_up_anew(
    nats_server: NatsServer, start: Callable[..., BusSite]
) -> None:
    site = start()

    async def play() -> None:
        nats_server.stop()
        nats_server.forget()
        nats_server.start()
        await until(lambda: site.log().count("on the bus") == 2)
        async with connection(nats_server.url) as bus, worker(nats_server.url, succeed):
            await submit(bus, job("j1"))
            await until(lambda: site.in_state("j1", "SUCCEEDED"))
            await bus.jetstream().delete_stream("detent-out-job")
            await submit(bus, job("j2"))
            await until(lambda: site.in_state("j2", "SUCCEEDED"))

    asyncio.run(play())
