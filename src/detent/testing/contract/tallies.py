"""Counting jobs: by any of their values, with every filter that a listing has, and nothing but this tenant's."""

from itertools import combinations
from typing import Any

from detent.client import Job
from detent.store.query import COUNTED_BY
from detent.testing.contract.bench import PERMANENT, Bench, Contract, fence, refused, scenario
from detent.testing.contract.versions import FIRST, SECOND


async def filled(bench: Bench) -> list[Job]:
    """Jobs that differ in everything they can be counted by; some of them are alike."""
    client = bench.client
    await bench.ready(job_id="a", queue="ocr", topic="t", dedupe_key="k", limit_key="l", correlation_id="c")
    await bench.ready(job_id="b", queue="ocr", kind="print", workflow_id="w", parent_job_id="a", correlation_id="a")
    await client.enqueue("scan", lifecycle="document", job_id="c", workflow_id="w")
    await bench.running(job_id="d", queue="q1", worker="w7")
    await bench.running("contract", job_id="e", queue="q2")
    await bench.succeeded(job_id="f", queue="q3")
    await bench.succeeded(job_id="g", queue="q3", topic="t", limit_key="l")
    running = await bench.running(job_id="h", queue="q4")
    await client.fail(running.id, error=PERMANENT, **fence(running))
    await client.cancel((await bench.ready("dispatch", job_id="i", queue="q5")).id)
    return list((await client.find()).items)


def tallied(jobs: list[Job], by: tuple[str, ...]) -> dict[tuple[Any, ...], int]:
    """The same, counted by hand."""
    keys = [tuple(getattr(job, name) for name in by) for job in jobs]
    return {key: keys.count(key) for key in keys}


class Tallies(Contract):
    @scenario("DSP-11")
    async def test_jobs_are_counted_by_any_of_their_values(self, bench: Bench) -> None:
        jobs = await filled(bench)
        for size in range(1, len(COUNTED_BY) + 1):
            for by in combinations(COUNTED_BY, size):
                assert await bench.client.count(by=by) == tallied(jobs, by), by

        assert await bench.client.count(by=["state", "lifecycle"]) == tallied(jobs, ("state", "lifecycle"))

    @scenario("DSP-11")
    async def test_count_takes_every_filter_that_a_listing_takes(self, bench: Bench) -> None:
        jobs = await filled(bench)
        asked: list[dict[str, Any]] = [
            *({name: value} for name in COUNTED_BY for value in {getattr(job, name) for job in jobs} if value),
            *({name: "nothing"} for name in COUNTED_BY),
            {"owner": "w7"}, {"topic": "t"}, {"dedupe_key": "k"}, {"correlation_id": "c"}, {"correlation_id": "a"},
            {"parent_job_id": "a"}, {"workflow_id": "w"}, {"workflow_id": "w", "kind": "print"},
            {"created_from": jobs[0].created_at}, {"ended_from": jobs[0].ended_at, "outcome": "cancelled"},
            {"topic": "t", "phase": "ready"}, {"limit_key": "l"}, {"limit_key": "l", "state": "succeeded"},
            {"correlation_id": "c", "state": "queued"},
        ]  # fmt: skip
        for filters in asked:
            found = list((await bench.client.find(**filters)).items)

            assert await bench.client.count(by=["queue", "state"], **filters) == tallied(found, ("queue", "state"))
            assert await bench.client.count(**filters) == {(): len(found)}, filters

    @scenario("DSP-11")
    async def test_count_by_nothing_is_one_number_also_where_there_is_nothing(self, bench: Bench) -> None:
        nothing = await bench.client.count()
        await filled(bench)

        assert nothing == {(): 0}
        assert await bench.client.count() == {(): 9}
        assert await bench.client.count(queue="nothing") == {(): 0}
        assert await bench.client.count(by=["state"], queue="nothing") == {}

    @scenario("DSP-11", "ALL-14")
    async def test_versions_of_a_lifecycle_are_counted_together(self, bench: Bench) -> None:
        await bench.store.register(FIRST, SECOND)
        newer = await bench.tenant("default")  # a client that knows both
        for version in (1, 2, 2):
            await newer.enqueue("scan", lifecycle="own", lifecycle_version=version)

        assert await newer.count(by=["lifecycle"]) == {("own",): 3}
        assert await newer.count(lifecycle="own") == {(): 3}

    @scenario("ALL-18")
    async def test_count_keeps_to_its_tenant(self, bench: Bench) -> None:
        other = await bench.tenant("other")
        await filled(bench)
        await other.enqueue("scan", job_id="a", correlation_id="c", topic="t", workflow_id="w")

        for filters in ({}, {"correlation_id": "c"}, {"topic": "t"}, {"workflow_id": "w"}, {"phase": "ready"}):
            assert await other.count(**filters) == {(): 1}  # type: ignore[arg-type]

    @scenario("ALL-02")
    async def test_what_jobs_cannot_be_counted_by_is_refused(self, bench: Bench) -> None:
        for by in (["priority"], ["state", "state"], "state", [None], ["lifecycle", ""]):
            await refused(bench.client.count(by=by), "invalid_argument")  # type: ignore[arg-type]
