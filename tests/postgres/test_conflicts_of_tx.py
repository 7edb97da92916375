"""Transactions that lose against others: whoever gave one is told to run all of it again."""

import asyncio
from typing import Any, Final

import pytest

from detent import Client, DetentError
from tests.postgres.clients import opened
from tests.postgres.mine import Mine
from tests.postgres.staging import Stage, is_sound
from tests.postgres.transactors import begun
from tests.store.sqlite.files import raises

DRIVERS: Final = ("psycopg", "async psycopg", "asyncpg")
of_drivers = pytest.mark.parametrize("transactor", DRIVERS)
isolated = pytest.mark.parametrize("level", ["repeatable read", "serializable"])


async def moved(client: Client, mine: Mine) -> object:
    await client.start("job", worker="w", attempt=1)
    return await client.cancel("job", tx=mine.tx)


async def same_key(client: Client, mine: Mine) -> object:
    await client.enqueue("scan", dedupe_key="same")
    return await client.enqueue("scan", dedupe_key="same", tx=mine.tx)


async def same_id(client: Client, mine: Mine) -> object:
    await client.enqueue("scan", job_id="same")
    return await client.enqueue("scan", job_id="same", tx=mine.tx)


@pytest.mark.parametrize("conflict", [moved, same_key, same_id])
@isolated
@of_drivers
def test_transaction_that_cannot_see_what_others_did_is_to_be_run_again(
    stage: Stage, transactor: str, level: str, conflict: Any
) -> None:
    async def scene(client: Client, mine: Mine) -> str:
        await client.enqueue("scan", job_id="job")
        await client.claim(worker="w")
        await mine.say(f"set transaction isolation level {level}")
        await mine.say("insert into orders values (1)")  # from here on, others commit in vain
        with raises("store_locked") as refused:
            await conflict(client, mine)
        await mine.rollback()
        assert await is_sound(client)
        return str(refused.value)

    assert "roll it back, and run all of it again" in stage.play(transactor, scene)


@isolated
@of_drivers
def test_isolated_transaction_without_a_conflict_takes_part_as_ever(stage: Stage, transactor: str, level: str) -> None:
    async def scene(client: Client, mine: Mine) -> str:
        await mine.say(f"set transaction isolation level {level}")
        await client.enqueue("scan", job_id="job", dedupe_key="key", tx=mine.tx)
        await client.claim(worker="w", tx=mine.tx)
        await mine.commit()
        return (await client.get("job")).state

    assert stage.play(transactor, scene) == "assigned"


def test_two_transactions_in_a_ring_do_not_wait_for_each_other_for_ever(stage: Stage) -> None:
    async def enqueue(client: Client, keys: str, met: "asyncio.Barrier") -> str:
        async with begun("async psycopg", stage.url) as mine:
            await client.enqueue("scan", dedupe_key=keys[0], tx=mine.tx)
            await met.wait()
            try:
                await client.enqueue("scan", dedupe_key=keys[1], tx=mine.tx)
            except DetentError as error:
                await mine.rollback()
                return str(error)
            await mine.commit()
            return "committed"

    async def scene() -> list[str]:
        met = asyncio.Barrier(2)
        async with opened(stage.url) as client:
            return await asyncio.gather(*[enqueue(client, keys, met) for keys in ("ab", "ba")])

    committed, refused = sorted(asyncio.run(scene()))

    assert committed == "committed"
    assert "run all of it again" in refused
