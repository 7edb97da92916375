"""A handler's effect and the end of its job, in one transaction of the handler's own: both or neither."""

import asyncio
from contextlib import suppress
from typing import Any

import apsw
import psycopg
import pytest

import detent
from detent import Policy, Retry
from detent.runtime import Context, Isolation
from tests.runtime import deeds
from tests.runtime.working import handler, on_loop, working

ONCE = Policy(retry=Retry.never())
TWICE = Policy(retry=Retry(max_attempts=2, base_s=0.0))


class Undone(Exception):
    """What a handler raises to have its own transaction rolled back."""


def effects(url: str) -> int:
    if url.startswith("sqlite"):
        with apsw.Connection(url.removeprefix("sqlite:///").partition("?")[0]) as connection:
            return int(next(connection.execute("select count(*) from effects"))[0])
    with psycopg.connect(url) as connection_:
        row = connection_.execute("select count(*) from effects").fetchone()
        assert row is not None
        return int(row[0])


async def make_table(url: str) -> None:
    async with detent.connect(url) as client, client.transaction() as tx:
        await _say(tx, "drop table if exists effects")
        await _say(tx, "create table effects (n integer)")


async def _say(tx: Any, sql: str) -> None:
    done = tx.execute(sql)
    if asyncio.iscoroutine(done):
        await done


async def effect(ctx: Context, url: str, outcome: str) -> str:
    with suppress(Undone):
        async with ctx.atransaction() as tx:
            await _say(tx, "insert into effects values (1)")
            await ctx.acomplete({"done": True}, tx=tx)
            if outcome == "undone" and ctx.attempt == 1:
                raise Undone
    if outcome == "fails after":
        raise RuntimeError("after the commit")
    return "not looked at"


def test_effect_and_completion_commit_together(url: str) -> None:
    async def scene() -> None:
        await make_table(url)
        async with working(url, handler("effect", effect, context=True)) as at:
            job = await at.done("effect", {"url": url, "outcome": "done"})

            assert (job.state, job.result, job.attempt) == ("succeeded", {"done": True}, 1)
            assert effects(url) == 1

    on_loop(scene)


def test_handler_that_returns_after_its_transaction_rolled_back_has_failed(url: str) -> None:
    async def scene() -> None:
        await make_table(url)
        async with working(url, handler("effect", effect, context=True)) as at:
            failed = await at.done("effect", {"url": url, "outcome": "undone"}, policy=ONCE)
            again = await at.done("effect", {"url": url, "outcome": "undone"}, policy=TWICE)

            assert failed.error is not None
            assert (failed.error.type, failed.error.code, failed.error.stage) == (
                "CompletionRolledBack", "completion_rolled_back", "commit",
            )  # fmt: skip
            assert (again.state, again.attempt, again.failures) == ("succeeded", 2, 1)
            assert effects(url) == 1

    on_loop(scene)


def test_handler_that_raises_after_its_commit_changes_nothing_any_more(url: str) -> None:
    async def scene() -> None:
        await make_table(url)
        async with working(url, handler("effect", effect, context=True)) as at:
            job = await at.done("effect", {"url": url, "outcome": "fails after"})
            await at.drained()

            assert (job.state, job.failures) == ("succeeded", 0)
            (note,) = await at.client.notes(job.id)
            assert (note.kind, note.payload["error"]["type"]) == ("late_result", "RuntimeError")

    on_loop(scene)


@pytest.mark.parametrize("isolation", ["thread", "process"])
def test_threads_and_children_complete_in_transactions_of_their_own(url: str, isolation: Isolation) -> None:
    async def scene() -> None:
        await make_table(url)
        async with working(url, handler("effect", deeds.effect, isolation, context=True)) as at:
            done = await at.done("effect", {"commits": True}, policy=ONCE)
            undone = await at.done("effect", {"commits": False}, policy=ONCE)

            assert (done.state, done.result) == ("succeeded", {"by": "its own transaction"})
            assert undone.error is not None
            assert (undone.state, undone.error.code) == ("dead_lettered", "completion_rolled_back")
            assert effects(url) == 1

    on_loop(scene)


def test_child_completes_in_a_transaction_on_a_connection_it_made_itself(pg_emptied: str) -> None:
    async def scene() -> None:
        deed = handler("complete", deeds.complete_on_own_connection, "process", context=True)
        async with working(pg_emptied, deed) as at:
            job = await at.done("complete", {"database": pg_emptied})

            assert (job.state, job.result) == ("succeeded", {"by": "its own connection"})

    on_loop(scene)
