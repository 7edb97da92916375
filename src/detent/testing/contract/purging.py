"""Removal by name: ended jobs go at once and whole, and nobody else's job is touched."""

from detent.client.arguments import PURGED_MAX
from detent.testing.contract.bench import PERMANENT, Bench, Contract, fence, refused, scenario


class Purging(Contract):
    @scenario("STD-13")
    async def test_ended_jobs_are_removed_by_name_whatever_their_age(self, bench: Bench) -> None:
        client = bench.client
        done = await bench.succeeded(queue="a")
        running = await bench.running(queue="b")
        failed = await client.fail(running.id, error=PERMANENT, **fence(running))
        cancelled = await client.cancel((await bench.ready(queue="c")).id)
        kept = await bench.succeeded(queue="d")
        removed = await client.purge([done.id, failed.id, cancelled.id])

        assert (removed.jobs, removed.events, removed.is_done) == (3, done.rev + failed.rev + cancelled.rev, True)
        assert [story.job for story in await bench.told()] == [kept.record]

    @scenario("STD-13")
    async def test_jobs_not_ended_and_ids_of_none_stay_out_of_it(self, bench: Bench) -> None:
        live = [
            await bench.ready(queue="a"),
            await bench.running(queue="b"),
            await bench.client.enqueue("scan", lifecycle="document"),
        ]
        before = await bench.told()
        nothing = await bench.client.purge([*(job.id for job in live), "nobody"])
        done = await bench.succeeded(queue="c")
        removed = await bench.client.purge(["nobody", done.id, live[0].id, done.id])

        assert (nothing.jobs, nothing.events) == (0, 0)
        assert (removed.jobs, removed.events) == (1, done.rev)
        assert await bench.told() == before

    @scenario("STD-13")
    async def test_purged_job_leaves_nothing_behind(self, bench: Bench) -> None:
        client = bench.client
        job = await bench.running(job_id="old", correlation_id="c", dedupe_key="k")
        renewed = await client.renew(job.id, progress=0.5, **fence(job))
        await client.complete(job.id, **fence(renewed))
        await refused(client.complete(job.id, worker="w1", attempt=1), "illegal_move")
        removed = await client.purge(["old"])

        assert (removed.jobs, removed.events) == (1, 5)
        for read in (client.get, client.history, client.notes, client.rerun):
            await refused(read("old"), "not_found")
        assert (await client.events()).items == (await client.recent()).items == []
        assert (await client.recent(job_id="old")).items == (await client.events(correlation_id="c")).items == []
        assert (await client.find()).items == await bench.told() == []
        assert await client.count() == {(): 0}
        assert (await client.purge(["old"])).jobs == 0

    @scenario("STD-13", "ALL-05")
    async def test_id_of_a_purged_job_is_free_again_with_its_request_ids(self, bench: Bench) -> None:
        for payload in ("old", "new"):
            fresh = await bench.client.enqueue("scan", payload=payload, job_id="mine", dedupe_key="k")
            (job,) = await bench.client.claim(worker="w1", start=True)
            done = await bench.client.complete("mine", request_id="done-1", **fence(job))
            removed = await bench.client.purge(["mine"])

            assert (fresh.answer, fresh.payload, fresh.rev) == ("applied", payload, 1)
            assert (done.answer, done.state, removed.jobs) == ("applied", "succeeded", 1)

    @scenario("ALL-18")
    async def test_another_tenants_job_of_the_same_id_is_untouched(self, bench: Bench) -> None:
        other = await bench.tenant("other")
        await bench.succeeded(job_id="job")
        await other.enqueue("scan", job_id="job")
        theirs = await other.cancel("job")
        absent = await other.purge(["nobody"])
        removed = await bench.client.purge(["job"])

        assert (absent.jobs, removed.jobs) == (0, 1)
        assert await other.get("job") == theirs
        assert len(await other.history("job")) == 2

    @scenario("STD-13", "ALL-03")
    async def test_reader_of_the_log_is_not_led_astray_by_a_purge(self, bench: Bench) -> None:
        done = await bench.succeeded()
        cursor = (await bench.client.events(limit=2)).cursor
        end = await bench.store.wait(None, 0)
        await bench.client.purge([done.id])
        job = await bench.ready()

        for place in (cursor, end):
            assert [event.job_id for event in (await bench.client.events(cursor=place)).items] == [job.id]

    @scenario("ALL-02")
    async def test_purge_of_too_many_at_once_is_refused_and_removes_nothing(self, bench: Bench) -> None:
        done = await bench.succeeded()
        await refused(bench.client.purge([done.id] * (PURGED_MAX + 1)), "invalid_argument")
        await refused(bench.client.purge(done.id), "invalid_argument")

        assert (await bench.client.get(done.id)).state == "succeeded"
        assert (await bench.client.purge([done.id] * PURGED_MAX)).jobs == 1
