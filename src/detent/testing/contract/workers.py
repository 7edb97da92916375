"""The table of workers: what each last said of itself, for as long as it says it."""

from typing import Any, Final

from detent.client.moments import to_moment
from detent.store.fleet import REPORT_S, SEEN_S, WORKER_KEPT_S, Lane
from detent.testing.contract.bench import Bench, Contract, refused, scenario

HOST: Final[dict[str, Any]] = {"host": "box-1", "pid": 42, "queues": ["default"], "started_at": to_moment(1_000_000)}
WHOLE: Final[dict[str, Any]] = HOST | {
    "queues": ["ocr", '"mail"'], "kinds": ["scan", "é"], "adapters": ["gpu"], "slots": 8, "running": 3,
    "version": "1.2", "is_draining": True,
    "lanes": [
        Lane(isolation="async", kinds=("scan",), slots=6, running=3), Lane(isolation="thread", kinds=("é",), slots=2),
    ],
}  # fmt: skip

WRONG: Final[tuple[dict[str, Any], ...]] = (
    {"queues": []}, {"queues": ["x"] * 101}, {"slots": -1}, {"running": -1}, {"host": ""}, {"pid": -1},
    {"lanes": ["async"]}, {"lanes": [Lane(isolation="", kinds=("a",), slots=1)]},
    {"lanes": [Lane(isolation="async", kinds=("a",), slots=0)]},
)  # fmt: skip


async def report(bench: Bench, *names: str, **more: Any) -> None:
    for name in names:
        await bench.client.report_worker(name, **{**HOST, **more})


async def listed(bench: Bench, within_s: float = SEEN_S) -> list[str]:
    return [worker.name for worker in await bench.client.workers(within_s=within_s)]


class Workers(Contract):
    @scenario("DSP-12")
    async def test_worker_is_listed_as_it_last_reported_itself(self, bench: Bench) -> None:
        await report(bench, "w1", slots=2)
        bench.clock.pass_s(REPORT_S)
        await bench.client.report_worker("w1", **WHOLE)

        (worker,) = await bench.client.workers()

        asked = {name: tuple(value) if isinstance(value, list) else value for name, value in WHOLE.items()}
        assert {name: getattr(worker, name) for name in asked} == asked
        assert (worker.name, worker.seen_at) == ("w1", to_moment(bench.clock()))

    @scenario()
    async def test_what_a_worker_does_not_say_is_any(self, bench: Bench) -> None:
        await report(bench, "w1")
        (worker,) = await bench.client.workers()

        assert (worker.kinds, worker.adapters, worker.is_draining) == (None, None, False)
        assert (worker.slots, worker.running, worker.lanes) == (1, 0, ())

    @scenario("ALL-13")
    async def test_worker_that_has_missed_three_reports_is_listed_no_more(self, bench: Bench) -> None:
        await report(bench, "w1")
        bench.clock.pass_s(REPORT_S)
        await report(bench, "w2")

        assert await listed(bench) == ["w2", "w1"]
        bench.clock.pass_s(SEEN_S - REPORT_S)
        assert await listed(bench) == ["w2", "w1"]
        bench.clock.pass_s(0.001)
        assert await listed(bench) == ["w2"]
        assert await listed(bench, within_s=60) == ["w2", "w1"]

    @scenario()
    async def test_worker_not_heard_of_for_a_day_is_forgotten_when_another_reports(self, bench: Bench) -> None:
        other = await bench.tenant("other")
        await report(bench, "old")
        bench.clock.pass_s(1)
        await report(bench, "younger")
        bench.clock.pass_s(WORKER_KEPT_S)
        await other.report_worker("w1", **HOST)

        assert await listed(bench, within_s=10 * WORKER_KEPT_S) == ["younger"]

    @scenario()
    async def test_worker_that_takes_its_leave_is_gone_at_once(self, bench: Bench) -> None:
        await report(bench, "w1", "w2")
        await bench.client.forget_worker("w1")
        await bench.client.forget_worker("nobody")

        assert await listed(bench) == ["w2"]

    @scenario("ALL-18")
    async def test_workers_of_another_tenant_are_not_listed(self, bench: Bench) -> None:
        other = await bench.tenant("other")
        await report(bench, "w1")
        await other.report_worker("w1", **HOST | {"pid": 7})
        await other.forget_worker("w2")

        assert [worker.pid for worker in await bench.client.workers()] == [42]
        await bench.client.forget_worker("w1")
        assert [worker.pid for worker in await other.workers()] == [7]

    @scenario()
    async def test_queue_says_how_many_workers_serve_it(self, bench: Bench) -> None:
        await report(bench, "w1", queues=["a", "b", "a"])
        await report(bench, "w2", queues=["b"])

        assert {queue.name: queue.workers for queue in await bench.client.queues()} == {"a": 1, "b": 2}
        assert (await bench.client.queue("b")).workers == 2
        bench.clock.pass_s(SEEN_S + 1)
        assert await bench.client.queues() == []

    @scenario("ALL-02")
    async def test_report_that_makes_no_sense_is_refused_and_leaves_nothing(self, bench: Bench) -> None:
        for wrong in WRONG:
            await refused(bench.client.report_worker("w1", **{**HOST, **wrong}), "invalid_argument")

        assert await listed(bench) == []
