"""What the service counts where it asks its store: everything that STD-16 names, and nothing twice."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from detent import Client, Codec, Job
from detent.errors import DetentError, StoreError
from detent.lifecycles import BUILT_IN, STANDARD
from detent.store import Replies, Request, Store
from detent.surfaces.telemetry import families
from detent.surfaces.telemetry.exposition import encoded
from detent.surfaces.telemetry.meter import Meter
from detent.surfaces.telemetry.metered import metered
from detent.testing import MemoryStore
from detent.testing.clock import VirtualClock
from tests.surfaces.telemetry.parsing import Metric, parsed

TRANSIENT = {"type": "TransientError", "message": "no luck"}
TWICE = {"retry": {"max_attempts": 2, "base_s": 0.0}}


class Place:
    def __init__(self, store: MemoryStore | None = None) -> None:
        self.clock, self.meter = VirtualClock(), Meter()
        self.kept = store or MemoryStore(clock=self.clock, random=lambda: 0.5)
        self.client = self.of(self.kept)

    def of(self, store: Store, tenant: str = "default") -> Client:
        known = tuple(BUILT_IN.values())
        return Client(metered(store, self.meter), tenant=tenant, codec=Codec(), lifecycles=known)

    async def running(self, **fields: Any) -> Job:
        job = await self.client.enqueue("scan", **fields)
        (taken,) = await self.client.claim(worker="w", queues=[job.queue], start=True)
        return taken

    def counted(self) -> dict[str, Metric]:
        return parsed(encoded(self.meter.families()).decode())


@asynccontextmanager
async def place() -> AsyncIterator[Place]:
    made = Place()
    await made.client.open()
    yield made
    await made.client.close()


def played(story: Callable[[Place], Awaitable[None]]) -> Place:
    async def play() -> Place:
        async with place() as made:
            await story(made)
            return made

    return asyncio.run(play())


def fence(job: Job) -> dict[str, Any]:
    return {"worker": job.owner, "attempt": job.attempt, "expected_rev": job.rev}


@pytest.mark.requirement("STD-16")
def test_life_of_a_job_is_counted_move_by_move() -> None:
    async def story(at: Place) -> None:
        await at.client.enqueue("scan", job_id="a", queue="ocr")
        at.clock.pass_s(3)
        (job,) = await at.client.claim(worker="w", queues=["ocr"])
        job = await at.client.start("a", **fence(job))
        at.clock.pass_s(7)
        job = await at.client.renew("a", **fence(job))
        at.clock.pass_s(20)
        await at.client.complete("a", **fence(job))

    counted = played(story).counted()

    moves = counted["detent_moves_total"]
    assert moves.sum() == 5
    assert moves.value(verb="enqueue", kind="scan", queue="ocr", state="queued") == 1
    assert moves.value(verb="renew", kind="scan", queue="ocr", state="running") == 1
    assert moves.value(verb="complete", kind="scan", queue="ocr", state="succeeded") == 1
    assert counted["detent_claims_total"].value(queue="ocr", kind="scan") == 1
    assert counted["detent_lease_renewals_total"].value() == 1
    assert counted["detent_jobs_ended_total"].value(kind="scan", outcome="success") == 1
    assert counted["detent_wait_seconds"].value("_sum", kind="scan") == 3
    assert counted["detent_run_seconds"].value("_sum", kind="scan") == 27
    for name in ("failures", "retries", "dead_letters", "refused_moves", "lease_losses", "store_errors"):
        assert counted[f"detent_{name}_total"].sum() == 0


@pytest.mark.requirement("STD-16", "ENG-03")
def test_failures_retries_and_dead_letters_are_counted_with_their_reasons() -> None:
    async def story(at: Place) -> None:
        await at.client.fail("a", error=TRANSIENT, **fence(await at.running(job_id="a", policy=TWICE)))
        at.clock.pass_s(60)
        (again,) = await at.client.claim(worker="w", start=True)
        await at.client.fail("a", error=TRANSIENT, **fence(again))
        await at.client.dead_letter("b", reason_code="policy_violation", **fence(await at.running(job_id="b")))

    counted = played(story).counted()

    assert counted["detent_failures_total"].value(kind="scan", error="TransientError") == 2
    assert counted["detent_retries_total"].value(kind="scan") == 1
    assert counted["detent_dead_letters_total"].value(kind="scan", reason="exhausted_retries") == 1
    assert counted["detent_dead_letters_total"].value(kind="scan", reason="policy_violation") == 1
    assert counted["detent_jobs_ended_total"].value(kind="scan", outcome="failure") == 2
    assert counted["detent_run_seconds"].value("_count", kind="scan") == 2
    assert counted["detent_wait_seconds"].value("_count", kind="scan") == 2  # what a retry has waited is not recorded


@pytest.mark.requirement("STD-16", "ENG-03")
def test_leases_that_ran_out_and_times_that_were_over_are_counted_as_failures() -> None:
    async def story(at: Place) -> None:
        await at.running(job_id="lost")
        at.clock.pass_s(3_600)
        await at.client.reconcile()
        await at.client.cancel("lost")
        await at.running(job_id="slow", policy={"timeout_s": 5.0})
        at.clock.pass_s(6)
        await at.client.reconcile()
        await at.client.cancel("slow")
        await at.running(job_id="engine", lifecycle="engine")
        at.clock.pass_s(3_600)
        await at.client.reconcile()

    at = played(story)
    counted = at.counted()

    assert counted["detent_lease_expiries_total"].value() == at.meter.failures["scan", "LeaseExpired"] >= 1
    assert counted["detent_failures_total"].sum() == 3
    assert counted["detent_retries_total"].value(kind="scan") == 2
    assert counted["detent_moves_total"].value(verb="reconcile", kind="scan", queue="default", state="queued") == 2
    assert counted["detent_jobs_ended_total"].value(kind="scan", outcome="failure") == 1


@pytest.mark.requirement("STD-16")
def test_refused_moves_are_counted_by_verb_and_code_and_lost_leases_apart() -> None:
    async def story(at: Place) -> None:
        job = await at.running(job_id="a")
        at.clock.pass_s(3_600)
        for worker in ("w", "x"):
            with pytest.raises(DetentError):
                await at.client.complete("a", worker=worker, attempt=job.attempt)
        with pytest.raises(DetentError):
            await at.client.approve("a")
        with pytest.raises(DetentError):
            await at.client.cancel("nothing")

    counted = played(story).counted()

    refused = counted["detent_refused_moves_total"]
    assert refused.value(verb="complete", code="lease_expired") == 1
    assert refused.value(verb="complete", code="not_owner") == 1
    assert refused.value(verb="approve", code="illegal_move") == 1
    assert refused.value(verb="cancel", code="not_found") == 1
    assert counted["detent_lease_losses_total"].value(code="not_owner") == 1
    assert counted["detent_lease_losses_total"].value(code="lease_expired") == 1
    assert counted["detent_requests_total"].value(verb="complete", outcome="refused") == 2


def test_repeats_and_duplicates_are_counted_as_such_and_are_no_moves() -> None:
    async def story(at: Place) -> None:
        for _ in range(2):
            await at.client.enqueue("scan", job_id="a", request_id="r", dedupe_key="k")
        await at.client.enqueue("scan", dedupe_key="k")
        for _ in range(2):
            await at.client.claim(worker="w", request_id="c", start=True)
        await at.client.progress("a", 0.5, worker="w", attempt=1)

    counted = played(story).counted()

    asked = counted["detent_requests_total"]
    assert asked.value(verb="enqueue", outcome="applied") == 1
    assert asked.value(verb="enqueue", outcome="repeat") == 1
    assert asked.value(verb="enqueue", outcome="duplicate") == 1
    assert asked.value(verb="claim", outcome="repeat") == 1
    assert asked.value(verb="progress", outcome="noted") == 1
    assert counted["detent_moves_total"].sum() == 2
    assert counted["detent_claims_total"].sum() == 1


def test_request_id_that_was_used_for_another_claim_is_no_conflict_of_claims() -> None:
    async def story(at: Place) -> None:
        await at.client.enqueue("scan")
        await at.client.claim(worker="w", request_id="c")
        with pytest.raises(DetentError):
            await at.client.claim(worker="x", request_id="c")

    counted = played(story).counted()

    assert counted["detent_refused_moves_total"].value(verb="claim", code="request_conflict") == 1
    assert counted["detent_claim_conflicts_total"].value() == 0


def test_job_that_others_had_first_is_a_conflict_of_claims() -> None:
    meter = Meter()
    meter.claimed([DetentError()])

    assert meter.conflicts == 1


def test_store_that_cannot_answer_is_counted_by_its_code() -> None:
    class Down(MemoryStore):
        async def apply(self, requests: Any, tx: Any = None) -> Replies:
            raise StoreError("the disk is full", code="store_full")

    async def story(at: Place) -> None:
        down = at.of(Down())
        await down.open()
        with pytest.raises(StoreError):
            await down.enqueue("scan")

    assert played(story).counted()["detent_store_errors_total"].value(code="store_full") == 1


def test_lifecycle_that_somebody_else_registered_is_learned_when_its_job_is_met() -> None:
    async def story(at: Place) -> None:
        other = Client(at.kept, tenant="default", codec=Codec(), lifecycles=(STANDARD,))
        await other.open()
        await other.enqueue("scan", job_id="a")
        assert not at.meter.knows(at.kept.shelf.jobs["default", "a"])
        counting = metered(at.kept, at.meter)
        request = Request("default", "a", at.client._command("dead_letter", {"role": "operator", "reason": "enough"}))
        await counting.apply([request])

    async def play() -> Place:
        at = Place()
        await story(at)
        return at

    assert asyncio.run(play()).counted()["detent_dead_letters_total"].sum() == 1


@pytest.mark.requirement("STD-16")
def test_hostile_kinds_and_queues_cannot_eat_memory() -> None:
    async def story(at: Place) -> None:
        for number in range(0, 3_000, 500):
            names = range(number, number + 500)
            await at.client.enqueue_many([{"kind": f"k{each}", "queue": f"q{each}"} for each in names])

    at = played(story)

    assert len(at.meter.moves) <= 201
    assert at.meter.moves["enqueue", "other", "other", "queued"] == 2_800
    assert at.counted()["detent_moves_total"].sum() == 3_000


def test_every_family_of_the_service_is_told() -> None:
    told = encoded(Meter().families()).decode()

    assert parsed(told).keys() == {family.full_name for family in families.SERVICE}
