"""How things stand in the store: told as they are, by tenant and queue, without keeping the store busy."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import pytest

from detent import Client, Codec
from detent.errors import InvalidArgument, StoreError
from detent.lifecycles import BUILT_IN
from detent.store import JobQuery
from detent.store.query import Counts
from detent.surfaces.telemetry import families
from detent.surfaces.telemetry.exposition import encoded
from detent.surfaces.telemetry.gauges import KEPT_S, SPARED, TENANTS_MAX, Gauges
from detent.surfaces.telemetry.meter import Meter
from detent.surfaces.telemetry.service import exposed
from detent.testing import MemoryStore
from detent.testing.clock import VirtualClock
from tests.surfaces.telemetry.parsing import Metric, parsed


class Asked(MemoryStore):
    """Counts how often it is asked, and takes so long for it."""

    looks = 0
    takes_s = 0.0
    is_down = False

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__(clock=clock)
        self.timer_s = 1_000.0

    async def count(self, query: JobQuery, by: Sequence[str]) -> Counts:
        if self.is_down:
            raise StoreError("no server answers there", code="store_unavailable")
        await asyncio.sleep(0)
        self.looks += query.phase == "ready"
        self.timer_s += self.takes_s / 4
        return await super().count(query, by)


class Place:
    def __init__(self, *tenants: str) -> None:
        self.clock = VirtualClock()
        self.store = Asked(self.clock)
        self.meter = Meter()
        self.gauges = Gauges(
            self.store, self.meter, tenants or ("default",), clock=self.clock, timer=lambda: self.store.timer_s
        )

    async def client(self, tenant: str = "default") -> Client:
        client = Client(self.store, tenant=tenant, codec=Codec(), lifecycles=tuple(BUILT_IN.values()))
        await client.open()
        return client

    async def told(self) -> dict[str, Metric]:
        return parsed(encoded(await self.gauges.families()).decode())


def played(story: Callable[[Place], Awaitable[None]], *tenants: str) -> None:
    async def play() -> None:
        await story(Place(*tenants))

    asyncio.run(play())


@pytest.mark.requirement("STD-16")
def test_depths_ages_pauses_and_workers_are_told_by_queue() -> None:
    async def story(at: Place) -> None:
        client = await at.client()
        await client.enqueue_many([{"kind": "scan", "queue": "ocr"} for _ in range(3)])
        at.clock.pass_s(40)
        await client.enqueue("scan", lifecycle="document", queue="mail")
        await client.enqueue("scan", queue="mail")
        await client.claim(worker="w", queues=["mail"], start=True)
        await client.enqueue("scan", queue="lost", job_id="letter")
        await client.dead_letter("letter", actor="operator")
        await client.pause_queue("ocr")
        await client.limit_queue("mail", depth_max=5)
        await client.report_worker("w", host="h", pid=1, started_at=at.clock.now, queues=["ocr"])
        at.clock.pass_s(2)
        told = await at.told()

        assert told.keys() == {family.full_name for family in families.STORE}
        assert told["detent_jobs"].value(tenant="default", queue="ocr", phase="ready") == 3
        assert told["detent_jobs"].value(tenant="default", queue="mail", phase="active") == 1
        assert told["detent_oldest_ready_seconds"].value(tenant="default", queue="ocr") == 42
        assert told["detent_queue_paused"].samples == {("", frozenset({("tenant", "default"), ("queue", "ocr")})): 1}
        assert told["detent_dead_letters_kept"].value(tenant="default", queue="lost") == 1
        assert told["detent_workers"].value(tenant="default") == 1

    played(story)


def test_only_the_tenants_that_were_named_are_told_of() -> None:
    async def story(at: Place) -> None:
        for tenant in ("a", "b", "c"):
            await (await at.client(tenant)).enqueue("scan")
        told = await at.told()

        assert {dict(labels)["tenant"] for _, labels in told["detent_jobs"].samples} == {"a", "b"}
        assert told["detent_workers"].value(tenant="b") == 0

    played(story, "a", "b")


def test_more_tenants_than_a_label_may_have_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="at most 20"):
        Gauges(MemoryStore(), Meter(), [f"t{number}" for number in range(TENANTS_MAX + 1)])


def test_however_many_ask_the_store_is_looked_at_once_in_a_while() -> None:
    async def story(at: Place) -> None:
        client = await at.client()
        await client.enqueue("scan")
        await asyncio.gather(*(at.told() for _ in range(50)))
        await client.enqueue("scan")
        at.clock.pass_s(KEPT_S - 1)
        at.store.timer_s += KEPT_S - 1
        kept = await at.told()
        looks = at.store.looks
        at.store.timer_s += 1
        anew = await at.told()

        assert looks == 1
        assert kept["detent_jobs"].sum() == 1
        assert kept["detent_oldest_ready_seconds"].sum() == KEPT_S - 1  # an age goes on by itself
        assert anew["detent_jobs"].sum() == 2
        assert at.store.looks == 2

    played(story)


def test_store_that_takes_long_to_count_is_asked_less_often() -> None:
    async def story(at: Place) -> None:
        at.store.takes_s = 2.0
        await at.told()
        at.store.timer_s += SPARED * 2.0 - 1
        await at.told()
        before = at.store.looks
        at.store.timer_s += 2
        await at.told()

        assert (before, at.store.looks) == (1, 2)

    played(story)


def test_store_that_is_down_has_no_gauges_and_everything_else_is_told() -> None:
    async def story(at: Place) -> None:
        client = await at.client()
        await client.enqueue("scan")
        at.store.is_down = True
        told = parsed((await exposed(at.meter, at.gauges)).decode())
        at.store.is_down = False
        at.store.timer_s += KEPT_S

        assert told["detent_jobs"].samples == told["detent_workers"].samples == {}
        assert told["detent_store_errors_total"].value(code="store_unavailable") == 1
        assert (await at.told())["detent_jobs"].sum() == 1

    played(story)


def test_queues_beyond_the_bound_are_added_up_and_the_oldest_of_them_stands_for_all() -> None:
    async def story(at: Place) -> None:
        client = await at.client()
        await client.enqueue_many([{"kind": "scan", "queue": f"q{number:03}"} for number in range(300)])
        at.clock.pass_s(10)
        told = await at.told()

        assert told["detent_jobs"].sum() == 300
        assert told["detent_jobs"].value(tenant="default", queue="other", phase="ready") == 100
        assert len(told["detent_oldest_ready_seconds"].samples) == 201
        assert told["detent_oldest_ready_seconds"].value(tenant="default", queue="other") == 10

    played(story)
