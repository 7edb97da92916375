"""Finding jobs and events: every filter, pages without loss or doubles, trees."""

from typing import Any

from detent.client.moments import to_moment
from detent.testing.contract.bench import PERMANENT, Bench, Contract, fence, refused, scenario


async def found(bench: Bench, **filters: Any) -> set[str]:
    return {job.id for job in (await bench.client.find(**filters)).items}


class Listings(Contract):
    @scenario("DSP-11")
    async def test_jobs_are_found_by_what_they_are(self, bench: Bench) -> None:
        client = bench.client
        await bench.ready(
            job_id="a", queue="q1", kind="scan", topic="t", dedupe_key="k", limit_key="l", correlation_id="c"
        )
        await bench.ready(job_id="b", queue="q2", kind="print", workflow_id="w", parent_job_id="a", correlation_id="a")
        await client.enqueue("scan", lifecycle="document", job_id="c", workflow_id="w", step_index=2)
        for filters, expected in (
            ({}, {"a", "b", "c"}),
            ({"queue": "q1"}, {"a"}),
            ({"kind": "scan"}, {"a", "c"}),
            ({"topic": "t"}, {"a"}),
            ({"dedupe_key": "k"}, {"a"}),
            ({"limit_key": "l"}, {"a"}),
            ({"limit_key": "l", "queue": "q2"}, set()),
            ({"correlation_id": "c"}, {"a", "c"}),  # its own id is a job's correlation id if it was given none
            ({"correlation_id": "a"}, {"b"}),
            ({"parent_job_id": "a"}, {"b"}),
            ({"workflow_id": "w"}, {"b", "c"}),
            ({"lifecycle": "document"}, {"c"}),
            ({"workflow_id": "w", "kind": "print"}, {"b"}),
            ({"workflow_id": "w", "queue": "q1"}, set()),
            ({"correlation_id": "nothing"}, set()),
        ):
            assert await found(bench, **filters) == expected, filters

    @scenario("DSP-11")
    async def test_jobs_are_found_by_where_they_are(self, bench: Bench) -> None:
        client = bench.client
        await bench.ready(job_id="queued", queue="q")
        await bench.running(job_id="running", queue="r", worker="w7")
        done = await bench.succeeded(job_id="done", queue="s")
        bench.clock.pass_s(10)
        running = await bench.running(job_id="failed", queue="t")
        failed = await client.fail(running.id, error=PERMANENT, **fence(running))
        await client.cancel((await bench.ready(job_id="cancelled", queue="u")).id)
        assert done.ended_at is not None
        for filters, expected in (
            ({"state": "queued"}, {"queued"}),
            ({"state": "succeeded"}, {"done"}),
            ({"state": "no such state"}, set()),
            ({"phase": "active"}, {"running"}),
            ({"phase": "ended"}, {"done", "failed", "cancelled"}),
            ({"owner": "w7"}, {"running"}),
            ({"outcome": "success"}, {"done"}),
            ({"outcome": "failure"}, {"failed"}),
            ({"outcome": "cancelled"}, {"cancelled"}),
            ({"created_from": running.created_at}, {"failed", "cancelled"}),
            ({"created_until": done.created_at}, {"queued", "running", "done"}),
            ({"ended_from": failed.ended_at}, {"failed", "cancelled"}),
            ({"ended_until": done.ended_at}, {"done"}),
            ({"ended_from": done.ended_at, "ended_until": done.ended_at, "outcome": "failure"}, set()),
        ):
            assert await found(bench, **filters) == expected, filters

    @scenario("DSP-11")
    async def test_pages_go_newest_first_without_loss_or_double(self, bench: Bench) -> None:
        for number in range(7):
            await bench.ready(job_id=f"job-{number}", workflow_id="w", correlation_id="c")
            bench.clock.pass_s(1)
        for filters in ({}, {"workflow_id": "w"}, {"correlation_id": "c"}, {"state": "queued"}):
            seen: list[str] = []
            cursor: str | None = None
            for _ in range(10):
                page = await bench.client.find(limit=3, cursor=cursor, **filters)  # type: ignore[arg-type]
                seen += [job.id for job in page.items]
                cursor = page.cursor
                if cursor is None:
                    break
                await bench.ready(job_id=f"new-{len(await bench.told())}", queue="other")

            assert [job_id for job_id in seen if job_id.startswith("job")] == [f"job-{n}" for n in range(6, -1, -1)]
            assert len(seen) == len(set(seen))

    @scenario("STD-13", "ALL-11")
    async def test_events_are_found_by_job_type_correlation_queue_kind_and_time(self, bench: Bench) -> None:
        client = bench.client
        first = await bench.running(job_id="a", correlation_id="c", queue="q1", kind="print")
        bench.clock.pass_s(10)
        middle = to_moment(bench.clock())
        await bench.running(job_id="b", queue="q2")
        bench.clock.pass_s(10)
        await client.complete("a", **fence(first))
        for filters, expected in (
            ({}, "a1 a2 a3 b1 b2 b3 a4"),
            ({"job_id": "a"}, "a1 a2 a3 a4"),
            ({"type": "job_started"}, "a3 b3"),
            ({"type": "job_started", "job_id": "b"}, "b3"),
            ({"correlation_id": "c"}, "a1 a2 a3 a4"),
            ({"correlation_id": "b"}, "b1 b2 b3"),
            ({"correlation_id": "c", "type": "job_claimed"}, "a2"),
            ({"queue": "q2"}, "b1 b2 b3"),
            ({"kind": "print"}, "a1 a2 a3 a4"),
            ({"at_from": middle}, "b1 b2 b3 a4"),
            ({"at_until": middle}, "a1 a2 a3 b1 b2 b3"),
            ({"at_from": middle, "at_until": middle, "type": "job_started"}, "b3"),
            ({"job_id": "nobody"}, ""),
        ):
            events = (await client.events(**filters)).items
            assert " ".join(f"{event.job_id}{event.rev}" for event in events) == expected, filters

    @scenario("STD-13")
    async def test_pages_of_events_go_on_from_their_cursor_without_loss_or_double(self, bench: Bench) -> None:
        jobs = [await bench.running(queue=f"q{number}", correlation_id="c") for number in range(4)]
        for filters in ({}, {"correlation_id": "c"}, {"type": "job_claimed"}, {"job_id": jobs[0].id}):
            whole = [event.id for event in (await bench.client.events(**filters)).items]  # type: ignore[arg-type]
            seen: list[str] = []
            cursor: str | None = None
            while True:
                page = await bench.client.events(limit=2, cursor=cursor, **filters)  # type: ignore[arg-type]
                cursor = page.cursor
                if not page.items:
                    break
                seen += [event.id for event in page.items]

            assert seen == whole
            assert cursor is not None

    @scenario("DSP-11")
    async def test_tree_holds_all_descendants_in_the_order_of_their_steps(self, bench: Bench) -> None:
        await bench.ready(job_id="root")
        for name, parent, step in (("c2", "root", 2), ("c1", "root", 1), ("c0", "root", None), ("g1", "c1", None)):
            await bench.ready(job_id=name, parent_job_id=parent, step_index=step, workflow_id="w")
            bench.clock.pass_s(1)
        tree = await bench.client.tree("g1")

        assert tree.job.id == "root"
        assert [child.job.id for child in tree.children] == ["c1", "c2", "c0"]
        assert [child.job.id for child in tree.children[0].children] == ["g1"]
        assert tree.size() == 5

    @scenario("ALL-02")
    async def test_get_answers_in_the_order_asked_with_none_for_what_is_not_there(self, bench: Bench) -> None:
        for name in ("a", "b"):
            await bench.ready(job_id=name)

        kept = await bench.store.get("default", ["b", "nobody", "a", "b"])
        assert [None if job is None else job.id for job in kept] == ["b", None, "a", "b"]
        await refused(bench.client.get("nobody"), "not_found")

    @scenario("ALL-02")
    async def test_cursor_that_no_listing_gave_is_refused(self, bench: Bench) -> None:
        await refused(bench.client.find(cursor="no cursor"), "bad_cursor")
        await refused(bench.client.events(cursor="no cursor"), "bad_cursor")

    @scenario("ALL-15")
    async def test_stories_are_walked_page_by_page_in_a_fixed_order(self, bench: Bench) -> None:
        for number in range(5):
            await bench.ready(job_id=f"job-{number}")
        seen: list[str] = []
        cursor: str | None = None
        while cursor is not None or not seen:
            page = await bench.store.stories("default", 2, cursor)
            seen += [story.job.id for story in page.items]
            cursor = page.cursor

        assert seen == [f"job-{number}" for number in range(5)]
