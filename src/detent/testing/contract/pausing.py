"""A queue that is paused: nothing is claimed from it, and nothing else changes."""

from typing import Any, Final

from detent.client.moments import to_moment
from detent.client.queues import Queue
from detent.testing.contract.bench import Bench, Contract, fence, refused, scenario
from detent.testing.contract.claims import made, taken

BOTH: Final = ("ocr", "mail")
# What a claim may name beside the queue.
WAYS: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"kinds": ["scan"]},
    {"adapters": ["gpu"]},
    {"kinds": ["scan"], "adapters": ["gpu"], "limit": 1},
)


class Pausing(Contract):
    @scenario("STD-14")
    async def test_paused_queue_is_passed_over_until_it_is_resumed(self, bench: Bench) -> None:
        for name, queue in (("o1", "ocr"), ("m1", "mail"), ("o2", "ocr"), ("m2", "mail")):
            await made(bench, name, queue=queue)
        await bench.client.pause_queue("ocr")

        assert await taken(bench, queues=["ocr"]) == []
        assert await taken(bench, queues=BOTH, limit=1) == ["m1"]
        assert await taken(bench, queues=BOTH) == ["m2"]
        await bench.client.resume_queue("ocr")
        assert await taken(bench, queues=BOTH) == ["o1", "o2"]

    @scenario("STD-14")
    async def test_no_way_of_asking_gets_a_job_from_a_paused_queue(self, bench: Bench) -> None:
        await made(bench, "any", queue="ocr")
        await made(bench, "gpu", queue="ocr", adapter_id="gpu")
        await made(bench, "least", queue="ocr", priority=-1_000)
        await bench.client.pause_queue("ocr")

        for how in WAYS:
            assert await taken(bench, queues=["ocr"], **how) == [], how
        assert await bench.client.claim(worker="w1", queues=["ocr"], start=True, request_id="r") == []
        await bench.client.resume_queue("ocr")
        assert await taken(bench, queues=["ocr"]) == ["any", "gpu", "least"]

    @scenario("STD-14", "ALL-01")
    async def test_pause_leaves_alone_what_was_claimed_before(self, bench: Bench) -> None:
        await bench.ready(job_id="a")
        (job,) = await bench.client.claim(worker="w1", request_id="r")
        await bench.client.pause_queue("default")
        (again,) = await bench.client.claim(worker="w1", request_id="r")
        started = await bench.client.start("a", **fence(job))
        done = await bench.client.complete("a", **fence(started))

        assert (again.id, again.answer) == ("a", "repeat")
        assert done.state == "succeeded"

    @scenario("STD-14")
    async def test_jobs_still_come_into_a_paused_queue_and_back_to_it(self, bench: Bench) -> None:
        running = await bench.running(job_id="running")
        await bench.client.pause_queue("default")
        await bench.client.release("running", **fence(running))
        await bench.ready(job_id="new")
        await bench.client.reconcile()

        assert await taken(bench) == []
        assert await bench.client.count(phase="ready") == {(): 2}
        await bench.client.resume_queue("default")
        assert await taken(bench) == ["running", "new"]

    @scenario("ALL-18")
    async def test_pause_keeps_to_its_tenant(self, bench: Bench) -> None:
        other = await bench.tenant("other")
        await bench.ready(job_id="a")
        await other.pause_queue("default")

        assert await taken(bench) == ["a"]
        assert (await bench.client.queue("default")).paused_at is None
        await bench.client.resume_queue("default")
        assert (await other.queue("default")).paused_at is not None

    @scenario("ALL-13")
    async def test_pause_says_since_when_by_whom_and_why_and_the_first_stands(self, bench: Bench) -> None:
        since = to_moment(bench.clock())
        await bench.client.pause_queue("ocr", actor="ann", reason="the scanner is away")
        bench.clock.pass_s(60)
        await bench.client.pause_queue("ocr", actor="bob")
        queue = await bench.client.queue("ocr")

        assert (queue.paused_at, queue.paused_by, queue.paused_reason) == (since, "ann", "the scanner is away")
        await bench.client.resume_queue("ocr")
        await bench.client.resume_queue("ocr")
        assert await bench.client.queue("ocr") == Queue(name="ocr")

    @scenario()
    async def test_queues_are_listed_with_what_is_set_and_what_is_in_them(self, bench: Bench) -> None:
        paused_at = to_moment(bench.clock())
        await bench.client.limit_queue("b", depth_max=5)
        await bench.client.limit_queue("none", depth_max=5)
        await bench.client.limit_queue("none", depth_max=None)
        await bench.client.pause_queue("a", actor="ann")
        await bench.ready(queue="b")
        await bench.claimed(queue="c")
        await bench.running(queue="c")
        await bench.succeeded(queue="ended")

        listed = await bench.client.queues()

        assert listed == [
            Queue(name="a", paused_at=paused_at, paused_by="ann"),
            Queue(name="b", ready=1, oldest_ready_at=paused_at, depth_max=5),
            Queue(name="c", held=1, active=1),
        ]
        assert [await bench.client.queue(each.name) for each in listed] == listed

    @scenario("ALL-02")
    async def test_what_is_no_queue_cannot_be_paused(self, bench: Bench) -> None:
        for queue in ("", "a\0b", None):
            await refused(bench.client.pause_queue(queue), "invalid_argument")  # type: ignore[arg-type]
        await refused(bench.client.pause_queue("a", reason="\0"), "invalid_argument")
        assert await bench.client.queues() == []
