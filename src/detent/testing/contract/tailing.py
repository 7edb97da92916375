"""Following the log while others write: nothing is lost, nothing comes twice, and a reader goes on where it was."""

import asyncio
from contextlib import aclosing
from typing import Any

from detent.client import Event
from detent.testing.contract.bench import WAIT_S, Bench, Contract, fence, scenario


async def heard(bench: Bench, count: int, **how: Any) -> list[Event]:
    """The next so many events, or those that came before nothing more did."""
    events: list[Event] = []
    async with aclosing(bench.client.tail(timeout_s=WAIT_S, **how)) as tail:  # type: ignore[type-var]
        async for event in tail:
            events.append(event)
            if len(events) == count:
                break
    return events


async def write(bench: Bench, queue: str, jobs: int) -> None:
    """So many jobs from their making to their end, four events each."""
    for _ in range(jobs):
        job = await bench.running(queue=queue)
        await bench.client.complete(job.id, **fence(job))


class Tailing(Contract):
    @scenario("STD-13", "ALL-03")
    async def test_tail_loses_and_doubles_nothing_while_others_write(self, bench: Bench) -> None:
        start = await bench.store.wait(None, 0)
        tailing = asyncio.create_task(heard(bench, 3 * 8 * 4, after=start))
        await asyncio.gather(*(write(bench, f"q{number}", 8) for number in range(3)))
        tail = await tailing

        log = (await bench.client.events(limit=1_000)).items
        assert [event.id for event in tail] == [event.id for event in log]
        assert len({event.id for event in tail}) == 3 * 8 * 4

    @scenario("STD-13")
    async def test_tail_goes_on_from_any_event_it_gave(self, bench: Bench) -> None:
        start = await bench.store.wait(None, 0)
        await write(bench, "q", 2)
        first = await heard(bench, 3, after=start)
        await write(bench, "q", 1)
        rest = await heard(bench, 9, after=first[-1].cursor)

        log = (await bench.client.events()).items
        assert [event.id for event in first + rest] == [event.id for event in log]

    @scenario("STD-13")
    async def test_tail_hears_only_what_it_asked_for(self, bench: Bench) -> None:
        start = await bench.store.wait(None, 0)
        await write(bench, "a", 2)
        await write(bench, "b", 1)

        ended = await heard(bench, 3, after=start, type="job_succeeded")
        of_queue = await heard(bench, 4, after=start, queue="b")
        assert [event.verb for event in ended] == ["complete"] * 3
        assert [event.verb for event in of_queue] == ["enqueue", "claim", "start", "complete"]

    @scenario("STD-13")
    async def test_tail_goes_on_from_where_a_listing_of_one_type_ended(self, bench: Bench) -> None:
        await write(bench, "q", 1)
        page = await bench.client.events(type="job_succeeded")
        tail, _ = await asyncio.gather(heard(bench, 1, after=page.cursor, type="job_succeeded"), _write_later(bench))

        assert [event.id for event in tail] != [event.id for event in page.items]
        assert [event.type for event in tail] == ["job_succeeded"]

    @scenario("STD-13", "ALL-13")
    async def test_reader_of_one_type_loses_nothing_when_the_clock_steps_back(self, bench: Bench) -> None:
        await write(bench, "q", 1)
        page = await bench.client.events(type="job_succeeded")
        bench.clock.pass_s(-3_600)
        await write(bench, "q", 1)
        more = await bench.client.events(type="job_succeeded", cursor=page.cursor)

        assert len(page.items + more.items) == len(await bench.told()) == 2

    @scenario("STD-13")
    async def test_reader_at_the_end_of_the_log_is_woken_by_a_write(self, bench: Bench) -> None:
        await bench.ready()
        end = await bench.store.wait(None, 0)
        beyond, _ = await asyncio.gather(bench.store.wait(end, WAIT_S), bench.ready())
        page = await bench.client.events(cursor=end)

        assert beyond != end
        assert [event.cursor for event in page.items] == [beyond]

    @scenario("STD-13")
    async def test_wait_ends_when_its_time_is_over(self, bench: Bench) -> None:
        await bench.ready()
        end = await bench.store.wait(None, 0)

        assert await bench.store.wait(end, 0.01) == end
        assert (await bench.client.events(cursor=end)).items == []

    @scenario("STD-14")
    async def test_who_waits_for_work_is_woken_by_a_job_that_comes(self, bench: Bench) -> None:
        await bench.ready()
        seen = await bench.store.news(None, 0)
        news, _ = await asyncio.gather(bench.store.news(seen, WAIT_S), bench.ready())

        assert news != seen

    @scenario("STD-14")
    async def test_work_that_came_before_anybody_waited_for_it_is_news(self, bench: Bench) -> None:
        seen = await bench.store.news(None, 0)
        await bench.ready()

        assert await bench.store.news(seen, WAIT_S) != seen


async def _write_later(bench: Bench) -> None:
    """After the reader has seen the end of the log and waits."""
    await bench.store.wait(await bench.store.wait(None, 0), 0.1)
    await write(bench, "q", 1)
