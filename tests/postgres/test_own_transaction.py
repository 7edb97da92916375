"""`client.transaction()`: a connection for the caller's own tables, on which verbs take part."""

import asyncio
from collections.abc import Callable
from typing import Final

import psycopg
import pytest

from detent.client.sync import run
from tests.postgres.clients import opened
from tests.postgres.cutting import Cutter
from tests.postgres.moments import Once, cut_after, cut_before
from tests.postgres.server import Server
from tests.postgres.staging import Stage
from tests.postgres.watching import come_to, connections
from tests.store.sqlite.files import Trouble, ids, raises, undone

COUNT: Final = "select count(*) from orders"


def test_own_rows_and_a_job_commit_together(stage: Stage) -> None:
    with opened(stage.url) as client:
        with client.transaction() as tx:
            tx.execute("insert into orders values (1)")
            client.enqueue("bill", job_id="bill", tx=tx)
            seen = ids(client)

        assert isinstance(tx, psycopg.Connection)
        assert (seen, ids(client)) == ([], ["bill"])
        with client.transaction() as tx:
            assert tx.execute(COUNT).fetchone() == (1,)


def test_own_rows_and_a_job_roll_back_together(stage: Stage) -> None:
    with opened(stage.url) as client:
        with undone(client) as tx:
            tx.execute("insert into orders values (1)")
            client.enqueue("bill", job_id="bill", tx=tx)

        assert ids(client) == []
        with client.transaction() as tx:
            assert tx.execute(COUNT).fetchone() == (0,)


@pytest.mark.parametrize("end", ["committed", "rolled back"])
def test_on_an_event_loop_it_is_a_connection_of_that(stage: Stage, end: str) -> None:
    async def scene() -> list[str]:
        async with opened(stage.url) as client:
            try:
                async with client.transaction() as tx:
                    await tx.execute("insert into orders values (1)")
                    await client.enqueue("bill", job_id="bill", tx=tx)
                    if end == "rolled back":
                        raise Trouble
            except Trouble:
                pass
            assert isinstance(tx, psycopg.AsyncConnection)
            assert tx.closed
            return [job.id for job in (await client.find()).items]

    assert asyncio.run(scene()) == (["bill"] if end == "committed" else [])


def test_it_cannot_be_ended_before_its_block(stage: Stage) -> None:
    with opened(stage.url) as client, client.transaction() as tx:
        for end in (tx.commit, tx.rollback):
            with pytest.raises(psycopg.ProgrammingError, match="forbidden within a Transaction context"):
                end()


def test_it_is_over_with_its_block_and_its_connection_too(pg_server: Server, stage: Stage) -> None:
    with opened(stage.url) as client:
        before = connections(pg_server, stage.url)
        with client.transaction() as tx:
            within = connections(pg_server, stage.url)
        with raises("bad_transaction") as refused:
            client.enqueue("bill", tx=tx)

        assert "closed" in str(refused.value)
        assert within - before == 1
        assert come_to(pg_server, stage.url, before)


def test_statements_of_the_callers_own_are_planned_and_wait_as_the_server_has_it(stage: Stage) -> None:
    with opened(stage.url) as client, client.transaction() as tx:
        shown = [tx.execute(f"show {name}").fetchone() for name in ("lock_timeout", "enable_seqscan")]

    assert shown == [("0",), ("on",)]


def test_error_of_the_callers_own_statement_is_the_callers(stage: Stage) -> None:
    with opened(stage.url) as client:
        with pytest.raises(psycopg.errors.UndefinedTable), client.transaction() as tx:  # noqa: PT012
            client.enqueue("bill", tx=tx)
            tx.execute("insert into nowhere values (1)")

        assert ids(client) == []


def test_two_at_once_do_not_wait_for_each_other(stage: Stage) -> None:
    with opened(stage.url) as client:
        with client.transaction() as first, client.transaction() as second:
            client.enqueue("bill", job_id="first", tx=first)
            client.enqueue("bill", job_id="second", tx=second)
            client.enqueue("bill", job_id="third")

        assert ids(client) == ["first", "second", "third"]


@pytest.mark.parametrize("moment", [cut_before, cut_after])
@pytest.mark.parametrize("world", ["blocking", "of a loop"])
def test_end_that_nobody_heard_of_is_not_known(stage: Stage, moment: Callable[[bytes], Once], world: str) -> None:
    async def scene() -> None:
        async with opened(cutter.url) as client, client.transaction() as tx:
            await client.enqueue("bill", job_id="bill", tx=tx)
            cutter.decide = moment(b"commit")

    with Cutter(stage.url) as cutter, raises("outcome_unknown") as refused:
        run(scene()) if world == "blocking" else asyncio.run(scene())

    assert "whether the transaction took effect is not known" in str(refused.value)
    with opened(stage.url) as client:
        assert ids(client) == (["bill"] if moment is cut_after else [])


def test_server_that_is_gone_when_it_begins_is_told_of(stage: Stage) -> None:
    with Cutter(stage.url) as cutter, opened(cutter.url) as client:
        cutter.decide = lambda passing: "cut"

        with raises("store_unavailable"), client.transaction():
            pass


def test_client_that_is_closed_gives_none(stage: Stage) -> None:
    with opened(stage.url) as client:
        pass

    with raises("not_connected"), client.transaction():
        pass
