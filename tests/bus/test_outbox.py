"""What ought to be on the bus comes there once, whatever came between."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cap.pb.cordum.agent.v1 import job_pb2
from cap.progress import emit_progress, progress_payload

from detent.errors import ServiceError
from tests.bus.ground import ground
from tests.bus.playing import TOPIC, WORKER, connection, ids, job, listening, submit, succeed, until, worker
from tests.bus.server import NatsServer
from tests.bus.site import BusSite

pytestmark = pytest.mark.requirement("DSP-09")
OTHER = "job.other.one"
FAR = 2**62  # a moment that has not come


def test_backlog_of_a_pool_keeps_no_other_pool_waiting(site: BusSite) -> None:
    names = list(ids(600))

    def ready() -> int:
        with site.services.site.client() as client:
            return sum(client.count(queue=TOPIC, phase="ready").values())

    async def play() -> int:
        async with connection(site.nats_url) as bus:
            await submit(bus, *map(job, names))
            await until(lambda: site.in_state(names[-1], "SCHEDULED"))
            async with worker(site.nats_url, succeed), worker(site.nats_url, succeed, OTHER, sender_id="other"):
                await until(lambda: site.in_state(names[0], "SUCCEEDED"))
                await submit(bus, job("b1", topic=OTHER))
                await until(lambda: site.in_state("b1", "SUCCEEDED"))
                return await asyncio.to_thread(ready)

    assert asyncio.run(play()) > 0


def test_running_job_is_not_handed_out_again_by_a_bus_that_has_forgotten_it(
    site: BusSite, nats_server: NatsServer
) -> None:
    """The service has forgotten it, too: it was killed."""
    ran: list[str] = []

    def cancel_last() -> None:
        with site.services.site.client() as client:
            client.cancel("last")

    async def work(request: Any) -> Any:
        ran.append(request.job_id)
        await asyncio.sleep(3.0 if request.job_id == "j1" else 0.0)
        return await succeed(request)

    async def play() -> None:
        async with worker(nats_server.url, work), worker(nats_server.url, work, sender_id="another"):
            async with connection(nats_server.url) as bus:
                await submit(bus, job("j1"))
                await until(lambda: ran)
            nats_server.stop()
            nats_server.forget()
            site.kill()
            nats_server.start()
            await asyncio.to_thread(site.start)
            await asyncio.to_thread(site.wait_until_joined)
            async with connection(nats_server.url) as bus:
                results = await listening(bus, "sys.job.result")
                await submit(bus, job("last", topic="job.nobody.here"))
                await until(lambda: site.in_state("last", "SCHEDULED"))
                await asyncio.to_thread(cancel_last)
                # It is told of by whoever follows the record, and has looked before that at what there was.
                await until(lambda: [each for each in results.packets if each.job_result.job_id == "last"])
                await until(lambda: site.in_state("j1", "SUCCEEDED"))

    asyncio.run(play())

    assert ran == ["j1"]


def test_id_of_a_job_that_was_purged_can_be_used_again(site: BusSite) -> None:
    def purge() -> None:
        with site.services.site.client() as client:
            client.purge(["j1"])

    async def play() -> None:
        async with connection(site.nats_url) as bus, worker(site.nats_url, succeed):
            for _ in range(2):
                await submit(bus, job("j1"))
                await until(lambda: site.in_state("j1", "SUCCEEDED"))
                await asyncio.to_thread(purge)

    asyncio.run(play())


@pytest.mark.parametrize("code", ["not_publishable", "bad_result"])
def test_failure_that_its_pool_knows_nothing_of_is_announced(site: BusSite, code: str) -> None:
    async def too_long(request: Any) -> Any:
        return job_pb2.JobResult(status=job_pb2.JOB_STATUS_SUCCEEDED, result_ptr="s3://" + "x" * 9_000)

    def enqueue() -> str:
        assert site.service is not None
        odd = {"step_index": 2**31} if code == "not_publishable" else {}
        return site.service.enqueue(TOPIC, queue=TOPIC, lifecycle="dispatch", **odd)

    async def play() -> list[Any]:
        async with connection(site.nats_url) as bus, worker(site.nats_url, too_long):
            results = await listening(bus, "sys.job.result")
            odd = await asyncio.to_thread(enqueue)
            await until(lambda: site.in_state(odd, "FAILED"))
            await until(lambda: [each for each in results.packets if each.sender_id == "detent"])
            return [each.job_result for each in results.packets if each.sender_id == "detent"]

    (told,) = asyncio.run(play())

    assert (told.status, told.error_code) == (job_pb2.JOB_STATUS_FAILED, code)


def test_cancel_while_no_service_was_there_is_told_to_the_pool_by_the_next_one(site: BusSite) -> None:
    def cancel() -> None:
        with site.services.site.client() as client:
            client.cancel("j1", mode="hard", reason="no more", actor="ann")

    async def play() -> Any:
        taken = asyncio.Event()

        async def work(request: Any) -> Any:
            taken.set()
            await asyncio.Event().wait()

        async with connection(site.nats_url) as bus, worker(site.nats_url, work):
            cancels = await listening(bus, "sys.job.cancel")
            await submit(bus, job("j1"))
            await asyncio.wait_for(taken.wait(), 15)
            site.kill()
            await asyncio.to_thread(cancel)
            await asyncio.to_thread(site.start)
            await until(lambda: cancels.packets)
            return cancels.packets[0].job_cancel

    assert asyncio.run(play()).job_id == "j1"


def test_soft_cancel_is_carried_out_however_long_the_pool_has_had_the_job(
    nats_server: NatsServer, tmp_path: Path
) -> None:
    async def play() -> str:
        async with ground(tmp_path, nats_server) as here:
            (held,) = await here.hand_out()
            await here.client.cancel(held.id, mode="soft")
            await here.outbox.sweep(FAR)
            return (await here.client.get(held.id)).state

    assert asyncio.run(play()) == "CANCELLED"


def test_what_could_not_be_brought_is_brought_later_though_it_was_claimed_long_ago(
    nats_server: NatsServer, tmp_path: Path
) -> None:
    async def play() -> list[str]:
        async with ground(tmp_path, nats_server) as here:
            handed = await listening(here.bus, TOPIC)
            held = [each.record for each in await here.hand_out(3)]
            await here.link.close()
            with pytest.raises(ServiceError, match="nothing can be put on the bus"):
                await here.outbox.bring(held)
            await here.link.open()
            await here.outbox.sweep(FAR)
            await until(lambda: len(handed.packets) == 3)
            return [each.job_request.job_id for each in handed.packets]

    assert len(set(asyncio.run(play()))) == 3


def test_what_is_owed_is_owed_until_it_was_brought(nats_server: NatsServer, tmp_path: Path) -> None:
    async def play() -> int:
        async with ground(tmp_path, nats_server) as here:
            handed = await listening(here.bus, TOPIC)
            held = [each.record for each in await here.hand_out(3)]
            for _ in range(2):  # the second time by the sweep itself
                await here.link.close()
                with pytest.raises(ServiceError):
                    await here.outbox.bring(held)
                with pytest.raises(ServiceError):
                    await here.outbox.sweep(FAR)
            await here.link.open()
            await here.outbox.sweep(FAR)
            await until(lambda: len(handed.packets) == 3)
            return len(handed.packets)

    assert asyncio.run(play()) == 3


def test_new_topics_make_the_service_forget_nothing_of_the_others(nats_server: NatsServer, tmp_path: Path) -> None:
    """A job that was claimed, and not published yet, when the service was stopped to give it another topic."""

    async def play() -> list[str]:
        async with ground(tmp_path, nats_server) as here:
            (held,) = await here.hand_out()
        async with ground(tmp_path, nats_server, topics=("job.>", "new.>")) as here:
            handed = await listening(here.bus, TOPIC)
            await here.outbox.sweep(0)
            await until(lambda: handed.packets)
            assert [each.job_request.job_id for each in handed.packets] == [held.id]
        return [held.id]

    assert asyncio.run(play())


def test_progress_that_comes_again_changes_nothing(nats_server: NatsServer, tmp_path: Path) -> None:
    """As after a kill between the commit and the acknowledgement."""

    async def play() -> tuple[float, int]:
        async with ground(tmp_path, nats_server) as here:
            (held,) = await here.hand_out()
            for percent in (10, 50):
                await emit_progress(here.bus, progress_payload(WORKER, held.id, "step", percent, "on"))
            came = await here.came(2)
            for messages in (came, came[:1]):
                assert await here.intake.deal_with(messages) == set()
            found = await here.client.get(held.id)
            assert found.progress is not None
            return found.progress.fraction, len(await here.client.notes(held.id))

    assert asyncio.run(play()) == (0.5, 2)


def test_results_may_name_what_they_point_at_in_full(site: BusSite) -> None:
    async def work(request: Any) -> Any:
        if request.job_id == "failed":
            return job_pb2.JobResult(status=job_pb2.JOB_STATUS_FAILED, error_code_enum=203)
        made = [job_pb2.ResourceRef(uri="s3://made/one"), job_pb2.ResourceRef(uri="s3://made/two")]
        result = job_pb2.ResourceRef(uri="s3://results/1")
        return job_pb2.JobResult(status=job_pb2.JOB_STATUS_SUCCEEDED, result_ref=result, artifact_refs=made)

    async def play() -> tuple[Any, Any]:
        async with connection(site.nats_url) as bus, worker(site.nats_url, work):
            await submit(bus, job("done"), job("failed"))
            done = await until(lambda: site.in_state("done", "SUCCEEDED"))
            return done, await until(lambda: site.in_state("failed", "FAILED"))

    done, failed = asyncio.run(play())

    assert done["result_ptr"] == "s3://results/1"
    assert [each["kind"] for each in site.notes("done")] == ["artifact", "artifact"]
    assert failed["error"]["code"] == "CAP_203"


def test_progress_of_a_job_that_has_ended_alarms_nobody(start: Callable[..., BusSite]) -> None:
    site = start()

    async def play() -> list[str]:
        async with connection(site.nats_url) as bus, worker(site.nats_url, succeed):
            alerts = await listening(bus, "sys.alert")
            await submit(bus, job("j1"))
            await until(lambda: site.in_state("j1", "SUCCEEDED"))
            for _ in range(5):
                await emit_progress(bus, progress_payload(WORKER, "j1", "step", 50, "still here"))
            await emit_progress(bus, progress_payload(WORKER, "nobody", "step", 50, "who is that"))
            await until(lambda: alerts.packets)
            return [each.alert.details["job_id"] for each in alerts.packets]

    assert asyncio.run(play()) == ["nobody"]
