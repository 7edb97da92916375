"""Event loops and blocking code: which transactions go with which client, and several verbs at once on one of them."""

import asyncio
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from typing import Final

import psycopg
import pytest

from detent import Client, Job
from tests.postgres.clients import opened
from tests.postgres.mine import Mine
from tests.postgres.staging import Stage, ids, is_sound
from tests.postgres.transactors import BLOCKING, SUSPENDING, begun
from tests.store.sqlite.files import raises

TOGETHER: Final = 20
A_MOMENT_S: Final = 0.1
of_a_loop = pytest.mark.parametrize("transactor", SUSPENDING)
# Django's own part of it refuses to run on an event loop.
on_a_loop = pytest.mark.parametrize("transactor", [*(name for name in BLOCKING if name != "Django"), *SUSPENDING])


@of_a_loop
def test_blocking_call_with_a_transaction_of_an_event_loop_is_refused(stage: Stage, transactor: str) -> None:
    async def scene() -> None:
        async with begun(transactor, stage.url) as mine:
            with raises("bad_transaction") as refused:
                await asyncio.to_thread(client.enqueue, "scan", tx=mine.tx)
            assert "await the client's own verbs" in str(refused.value)

    with opened(stage.url) as client:
        asyncio.run(scene())

        assert not client.find().items


@on_a_loop
def test_event_loop_goes_on_while_a_verb_waits_in_a_transaction(stage: Stage, transactor: str) -> None:
    async def scene() -> list[str]:
        async with opened(stage.url) as client, begun(transactor, stage.url) as mine:
            async with held_up(client, mine, stage.url) as waiting:
                assert not waiting.done()
            await waiting
            await mine.commit()
            return await ids(client)

    assert asyncio.run(scene()) == ["mine"]


@on_a_loop
def test_verb_that_is_cancelled_leaves_no_trace_and_a_usable_transaction(stage: Stage, transactor: str) -> None:
    async def scene() -> list[str]:
        async with opened(stage.url) as client, begun(transactor, stage.url) as mine:
            async with held_up(client, mine, stage.url) as waiting:
                waiting.cancel()
                await asyncio.wait([waiting], timeout=A_MOMENT_S)
                # A thread cannot be stopped: until it is done with the connection, the caller does not get it back.
                assert waiting.done() == (transactor in SUSPENDING)
            with pytest.raises(asyncio.CancelledError):
                await waiting
            await mine.say("insert into orders values (1)")
            if transactor in SUSPENDING:
                await client.enqueue("scan", job_id="later", tx=mine.tx)
                await mine.commit()
            else:
                await mine.rollback()
            assert await is_sound(client)
            return await ids(client)

    assert asyncio.run(scene()) == (["later"] if transactor in SUSPENDING else [])


@on_a_loop
def test_verbs_that_are_asked_at_once_all_take_part(stage: Stage, transactor: str) -> None:
    async def scene() -> list[str]:
        async with opened(stage.url) as client, opened(stage.url) as other, begun(transactor, stage.url) as mine:
            await client.enqueue("scan", job_id="taken", payload="another")
            asked = [
                each.enqueue("scan", job_id=f"{name}{n}" if n else "taken", tx=mine.tx)
                for n in range(TOGETHER)
                for name, each in (("a", client), ("b", other))
            ]
            answers = await asyncio.gather(*asked, return_exceptions=True)
            await mine.commit()
            assert await is_sound(client)
            assert [getattr(each, "code", None) for each in answers[:4]] == ["job_exists", "job_exists", None, None]
            return await ids(client)

    assert len(asyncio.run(scene())) == 1 + 2 * (TOGETHER - 1)


def test_threads_that_share_a_connection_all_take_part(stage: Stage) -> None:
    with opened(stage.url) as client, psycopg.connect(stage.url) as connection:

        def enqueue(number: int) -> Job:
            return client.enqueue("scan", job_id=f"job-{number}", tx=connection)

        with ThreadPoolExecutor(4) as pool:
            jobs = list(pool.map(enqueue, range(TOGETHER)))
        connection.commit()

        assert {job.id for job in client.find().items} == {job.id for job in jobs}
        assert client.verify().is_clean


@asynccontextmanager
async def held_up(client: Client, mine: Mine, url: str) -> AsyncIterator["asyncio.Task[Job]"]:
    """A verb that waits, until the block ends, for somebody else who brings the same dedupe key."""
    async with begun("async psycopg", url) as theirs:
        await client.enqueue("scan", dedupe_key="same", tx=theirs.tx)
        waiting = asyncio.ensure_future(client.enqueue("scan", job_id="mine", dedupe_key="same", tx=mine.tx))
        await asyncio.wait([waiting], timeout=A_MOMENT_S)
        yield waiting
        await theirs.rollback()
