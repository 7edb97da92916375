"""The end of the log, looked at backwards: the newest events that match, and how far back they were looked for."""

from typing import Any, Final

from detent.client import Event
from detent.client.moments import to_moment
from detent.testing.contract.bench import Bench, Contract, fence, scenario

WHOLE: Final = "a1 a2 a3 b1 b2 b3 a4 b4"


def named(events: list[Event]) -> str:
    """By job and revision: `a1 a2 b1`."""
    return " ".join(f"{event.job_id}{event.rev}" for event in events)


async def told(bench: Bench) -> None:
    """What is `WHOLE`, with a step of the clock after a3."""
    first = await bench.running(job_id="a", correlation_id="c", queue="q1", kind="print")
    bench.clock.pass_s(10)
    second = await bench.running(job_id="b", queue="q2")
    await bench.client.complete("a", **fence(first))
    await bench.client.renew("b", **fence(second))


class LookingBack(Contract):
    @scenario("STD-13", "ALL-03")
    async def test_newest_events_come_in_the_order_of_commit(self, bench: Bench) -> None:
        await told(bench)

        for limit, expected in ((1, "b4"), (3, "b3 a4 b4"), (8, WHOLE), (9, WHOLE)):
            assert named((await bench.client.recent(limit=limit)).items) == expected

    @scenario("STD-13", "ALL-11")
    async def test_newest_events_are_those_that_match(self, bench: Bench) -> None:
        await told(bench)
        now = to_moment(bench.clock())
        asked: list[tuple[dict[str, Any], str]] = [
            ({"verb": "claim"}, "a2 b2"),
            ({"verb": "start", "queue": "q1"}, "a3"),
            ({"type": "job_started"}, "a3 b3"),
            ({"type": "job_started", "verb": "claim"}, ""),
            ({"job_id": "a"}, "a3 a4"),
            ({"job_id": "a", "verb": "enqueue"}, "a1"),
            ({"correlation_id": "c"}, "a3 a4"),
            ({"correlation_id": "b", "verb": "renew"}, "b4"),
            ({"queue": "q2"}, "b3 b4"),
            ({"kind": "print"}, "a3 a4"),
            ({"at_until": to_moment(bench.clock() - 1)}, "a2 a3"),
            ({"at_from": now, "kind": "print"}, "a4"),
            ({"job_id": "nobody"}, ""),
            ({"verb": "nothing"}, ""),
        ]
        for filters, expected in asked:
            assert named((await bench.client.recent(limit=2, **filters)).items) == expected, filters

    @scenario("STD-13")
    async def test_log_is_read_by_verb_onwards_too(self, bench: Bench) -> None:
        await told(bench)

        assert named((await bench.client.events(verb="claim")).items) == "a2 b2"
        assert named((await bench.client.events(verb="claim", job_id="b")).items) == "b2"
        assert named((await bench.client.events(verb="claim", type="job_claimed")).items) == "a2 b2"
        assert (await bench.client.events(verb="claim", type="job_started")).items == []

    @scenario("STD-13")
    async def test_reading_on_from_where_it_stopped_gives_the_same_and_goes_on(self, bench: Bench) -> None:
        await told(bench)
        asked: list[dict[str, Any]] = [{}, {"verb": "start"}, {"job_id": "a"}, {"correlation_id": "c"}, {"queue": "q2"}]
        pages = [await bench.client.recent(limit=2, **filters) for filters in asked]
        await bench.client.cancel("b", mode="soft")
        for filters, page in zip(asked, pages, strict=True):
            onwards = (await bench.client.events(cursor=page.cursor, **filters)).items

            assert [event.id for event in onwards[:2]] == [event.id for event in page.items]
            assert page.cursor is not None
            assert [event.cursor for event in page.items] == [event.cursor for event in onwards[:2]]

    @scenario("STD-13")
    async def test_where_the_beginning_was_reached_there_is_no_cursor(self, bench: Bench) -> None:
        nothing = await bench.client.recent()
        await told(bench)
        asked: list[dict[str, Any]] = [{}, {"verb": "claim"}, {"job_id": "a"}, {"queue": "nothing"}]

        assert (nothing.items, nothing.cursor) == ([], None)
        assert [(await bench.client.recent(limit=100, **filters)).cursor for filters in asked] == [None] * 4

    @scenario("ALL-18")
    async def test_newest_events_are_one_tenants(self, bench: Bench) -> None:
        other = await bench.tenant("other")
        await told(bench)
        await other.enqueue("scan", job_id="a", correlation_id="c", queue="q1")
        await bench.client.cancel("b", mode="soft")
        asked: list[dict[str, Any]] = [{}, {"job_id": "a"}, {"correlation_id": "c"}, {"verb": "enqueue"}]

        for filters in asked:
            assert named((await other.recent(**filters)).items) == "a1"
