"""A handler's effect and the end of its job: both or neither, and nothing from a handler that has lost its job."""

import time
from typing import Final

import pytest

from detent import Client, Compensation, Job, Policy, Retry
from detent.testing import VirtualClock
from tests.postgres.clients import opened
from tests.postgres.mine import Mine
from tests.postgres.staging import Stage, ids, is_sound, orders
from tests.postgres.transactors import every_transactor
from tests.store.sqlite.files import raises

SOON_S: Final = 1.0
UNDONE: Final = Policy(retry=Retry.never(), compensate=Compensation(kind="refund"))
BROKEN: Final = {"type": "PermanentError", "message": "no such card"}


async def running(client: Client, worker: str = "w") -> Job:
    await client.enqueue("bill", job_id="bill")
    (job,) = await client.claim(worker=worker, start=True)
    return job


async def complete(client: Client, job: Job, mine: Mine) -> Job:
    await mine.say("insert into orders values (1)")
    return await client.complete(job.id, worker=str(job.owner), attempt=job.attempt, result="paid", tx=mine.tx)


@every_transactor
def test_effect_and_completion_commit_together(stage: Stage, transactor: str) -> None:
    async def scene(client: Client, mine: Mine) -> list[str]:
        ended = await complete(client, await running(client), mine)
        before = await client.get("bill")
        await mine.commit()
        assert await is_sound(client)
        return [job.state for job in (ended, before, await client.get("bill"))]

    assert stage.play(transactor, scene) == ["succeeded", "running", "succeeded"]
    assert stage.play("psycopg", lambda _, mine: orders(mine)) == [1]


@every_transactor
def test_effect_and_completion_roll_back_together(stage: Stage, transactor: str) -> None:
    async def scene(client: Client, mine: Mine) -> tuple[bool, str]:
        job = await running(client)
        await complete(client, job, mine)
        await mine.rollback()
        is_as_before = await client.get("bill") == job
        ended = await client.complete(job.id, worker="w", attempt=job.attempt)
        assert await is_sound(client)
        return is_as_before, ended.state

    assert stage.play(transactor, scene) == (True, "succeeded")
    assert stage.play("psycopg", lambda _, mine: orders(mine)) == []


@pytest.mark.requirement("ALL-07")
@every_transactor
def test_transaction_of_a_worker_whose_job_was_taken_over_meanwhile_is_refused(
    timed_stage: Stage, clock: VirtualClock, transactor: str
) -> None:
    async def scene(client: Client, mine: Mine) -> str:
        job = await running(client, "zombie")
        await mine.say("insert into orders values (7)")  # its transaction is open before it loses the job
        clock.pass_s(3600)
        await client.reconcile()
        clock.pass_s(60)
        await client.claim(worker="other", start=True)
        with raises("not_owner"):
            await complete(client, job, mine)
        await mine.rollback()
        assert await is_sound(client)
        return (await client.get("bill")).state

    assert timed_stage.play(transactor, scene) == "running"
    assert timed_stage.play("psycopg", lambda _, mine: orders(mine)) == []


@pytest.mark.requirement("ALL-07")
@pytest.mark.parametrize("transactor", ["psycopg", "async psycopg", "asyncpg"])
def test_transaction_of_a_worker_whose_lease_ran_out_meanwhile_is_refused(
    timed_stage: Stage, clock: VirtualClock, transactor: str
) -> None:
    async def scene(client: Client, mine: Mine) -> str:
        job = await running(client, "zombie")
        await mine.say("insert into orders values (7)")
        clock.pass_s(3600)
        with raises("lease_expired"):
            await complete(client, job, mine)
        await mine.rollback()
        return (await client.get("bill")).state

    assert timed_stage.play(transactor, scene) == "running"
    assert timed_stage.play("psycopg", lambda _, mine: orders(mine)) == []


@pytest.mark.alone
@every_transactor
def test_renewal_passes_over_a_job_that_its_own_transaction_has_locked(stage: Stage, transactor: str) -> None:
    async def scene(client: Client, mine: Mine) -> tuple[str, float]:
        job = await running(client)
        await complete(client, job, mine)
        began_s = time.monotonic()
        renewed = await client.renew(job.id, worker="w", attempt=job.attempt)
        await client.enqueue("bill", job_id="another")
        took_s = time.monotonic() - began_s
        await mine.commit()
        assert (await client.get("bill")).state == "succeeded"
        assert await is_sound(client)
        return renewed.answer, took_s

    answer, took_s = stage.play(transactor, scene)

    assert answer == "unchanged"
    assert took_s < SOON_S


@every_transactor
def test_jobs_claimed_in_a_transaction_are_left_out_by_others_and_free_after_a_rollback(
    stage: Stage, transactor: str
) -> None:
    async def scene(client: Client, mine: Mine) -> list[list[str]]:
        await client.enqueue_many([{"kind": "bill", "job_id": name} for name in "abc"])
        claimed = await client.claim(worker="w", limit=2, tx=mine.tx)
        elsewhere = await client.claim(worker="other", limit=3)
        await mine.rollback()
        freed = await client.claim(worker="other", limit=3)
        assert await is_sound(client)
        return [[job.id for job in jobs] for jobs in (claimed, elsewhere, freed)]

    assert stage.play(transactor, scene) == [["a", "b"], ["c"], ["a", "b"]]


@every_transactor
def test_whole_life_of_a_job_in_one_transaction(stage: Stage, transactor: str) -> None:
    async def scene(client: Client, mine: Mine) -> tuple[list[str], list[str]]:
        await client.enqueue("bill", job_id="bill", tx=mine.tx)
        (job,) = await client.claim(worker="w", tx=mine.tx)
        job = await client.start(job.id, worker="w", attempt=job.attempt, tx=mine.tx)
        await complete(client, job, mine)
        async with opened(stage.url) as other:
            unseen = await ids(other)
        await mine.commit()
        assert await is_sound(client)
        return unseen, [event.verb for event in await client.history("bill")]

    assert stage.play(transactor, scene) == ([], ["enqueue", "claim", "start", "complete"])


@pytest.mark.requirement("STD-19")
@pytest.mark.parametrize("end", ["commit", "rollback"])
@every_transactor
def test_end_and_what_undoes_the_job_commit_or_roll_back_together(stage: Stage, transactor: str, end: str) -> None:
    """The settings of what undoes it are new to the store, and are made in the caller's transaction too."""

    async def scene(client: Client, mine: Mine) -> tuple[str, int, list[str]]:
        await client.enqueue("bill", job_id="bill", policy=UNDONE)
        await client.claim(worker="w", start=True)
        await client.fail("bill", worker="w", attempt=1, error=BROKEN, tx=mine.tx)
        await (mine.commit if end == "commit" else mine.rollback)()
        state, refunds = (await client.get("bill")).state, await client.find(kind="refund")
        for refund in await client.claim(worker="w", start=True):
            await client.complete(refund.id, worker="w", attempt=1)
        assert await is_sound(client)
        return state, len(refunds), [note.kind for note in await client.notes("bill")]

    expected = ("failed", 1, ["compensated"]) if end == "commit" else ("running", 0, [])
    assert stage.play(transactor, scene) == expected
