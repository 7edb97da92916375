"""Transactions that are none, that are over, or that somebody forgot about."""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import apsw
import pytest

from detent import DetentError, SyncClient
from tests.store.sqlite.files import ids, is_sound, opened, raises

BUSY_S: Final = 0.4
WRONG: Final[dict[str, Callable[[], Any]]] = {
    "a connection of sqlite3": lambda: sqlite3.connect(":memory:"),
    "a connection of apsw": lambda: apsw.Connection(":memory:"),
    "a string": lambda: "tx",
    "an empty string": lambda: "",
    "zero": lambda: 0,
    "False": lambda: False,
    "an empty list": list,
    "any object": object,
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_no_transaction_is_refused_and_nothing_is_written(path: Path, what: str) -> None:
    wrong = WRONG[what]()
    with opened(path) as client:
        with raises("bad_transaction") as refused:
            client.enqueue("scan", tx=wrong)
        with client.transaction(), raises("bad_transaction"):  # another one that is open is not what was meant
            client.enqueue("scan", tx=wrong)
        with raises("bad_transaction"):
            client.claim(worker="w", tx=wrong)

        assert type(wrong).__name__ in str(refused.value)
        assert ids(client) == []
    if hasattr(wrong, "close"):
        wrong.close()


def test_transaction_of_another_store_is_refused(path: Path) -> None:
    with opened(path) as client, opened(path.with_name("other.db")) as other, other.transaction() as tx:
        with raises("bad_transaction"):
            client.enqueue("scan", tx=tx)
        with raises("bad_transaction"):
            client.enqueue("scan", tx=tx.connection)


def test_transaction_of_another_client_of_the_same_file_is_refused(path: Path) -> None:
    with opened(path) as client, opened(path) as other, other.transaction() as tx, raises("bad_transaction"):
        client.enqueue("scan", tx=tx)


@pytest.mark.parametrize("end", ["committed", "rolled back"])
def test_transaction_that_is_over_is_refused(path: Path, end: str) -> None:
    with opened(path) as client:
        opening = client.transaction()
        tx = opening.__enter__()
        connection = tx.connection
        if end == "committed":
            opening.__exit__(None, None, None)
        else:
            assert not opening.__exit__(ValueError, ValueError(), None)

        for given in (tx, connection):
            with raises("bad_transaction"):
                client.enqueue("scan", tx=given)
        with raises("bad_transaction"):
            tx.execute("select 1")
        assert ids(client) == []


def test_verb_without_tx_inside_a_transaction_waits_and_says_what_was_forgotten(path: Path) -> None:
    with opened(path, busy_s=BUSY_S) as client:
        with client.transaction() as tx:
            began_s = time.monotonic()
            with raises("store_locked") as refused:
                client.enqueue("scan", job_id="forgotten")
            waited_s = time.monotonic() - began_s
            client.enqueue("scan", job_id="given", tx=tx)

        assert "tx=" in str(refused.value)
        assert BUSY_S <= waited_s <= BUSY_S + 2
        assert ids(client) == ["given"]


def test_transaction_inside_a_transaction_waits_and_is_refused(path: Path) -> None:
    with opened(path, busy_s=BUSY_S) as client, client.transaction() as tx:
        with raises("store_locked"), client.transaction():
            pass
        client.enqueue("scan", job_id="outer", tx=tx)


def test_statement_of_the_callers_that_fails_leaves_the_transaction_usable(path: Path) -> None:
    with opened(path) as client:
        with client.transaction() as tx:
            with raises("store_io"):
                tx.execute("insert into nowhere values (1)")
            client.enqueue("scan", job_id="job", tx=tx)

        assert ids(client) == ["job"]


def test_verb_that_breaks_halfway_leaves_no_trace_in_the_transaction(path: Path) -> None:
    """Here by a trigger of the caller's own: the spec and the event are written before the record is refused."""
    with opened(path) as client:
        with client.transaction() as tx:
            tx.execute("create trigger picky before insert on detent_records when new.kind = 'bad' "
                       "begin select raise(abort, 'not that'); end")  # fmt: skip
        with client.transaction() as tx:
            with raises("guard_refused"):
                client.enqueue("bad", job_id="bad", tx=tx)
            client.enqueue("scan", job_id="good", tx=tx)

        assert ids(client) == ["good"]
        assert is_sound(client)


def test_waiting_for_a_transaction_that_is_given_up_leaves_the_store_usable(path: Path) -> None:
    """The wait goes on in a thread; the turn it gets there must not be kept for ever."""

    async def scenario() -> str:
        async with opened(path, busy_s=2) as client:
            async with client.transaction():
                waiting = client.transaction()
                with pytest.raises(TimeoutError):
                    await asyncio.wait_for(waiting.__aenter__(), 0.1)
            return (await client.enqueue("scan")).state

    assert asyncio.run(scenario()) == "queued"


def test_savepoint_of_the_callers_that_is_rolled_back_takes_the_verb_with_it(path: Path) -> None:
    with opened(path) as client:
        with client.transaction() as tx:
            tx.execute("savepoint attempt")
            client.enqueue("scan", job_id="job", payload=1, tx=tx)
            tx.execute("rollback to attempt")
            again = client.enqueue("scan", job_id="job", payload=2, tx=tx)

        assert again.answer == "applied"
        assert client.get("job").payload == 2
        assert is_sound(client)


def test_claim_in_a_savepoint_that_is_rolled_back_leaves_the_job_to_others(path: Path) -> None:
    with opened(path) as client:
        client.enqueue("scan", job_id="job")
        with client.transaction() as tx:
            tx.execute("savepoint attempt")
            client.claim(worker="first", tx=tx)
            tx.execute("rollback to attempt")
            claimed = client.claim(worker="second", tx=tx)

        assert [job.owner for job in claimed] == ["second"]
        assert is_sound(client)


def test_client_that_is_closed_inside_its_transaction_undoes_it_and_frees_the_file(path: Path) -> None:
    opening = opened(path)
    client: SyncClient = opening.__enter__()
    transaction = client.transaction()
    tx = transaction.__enter__()
    client.enqueue("scan", tx=tx)
    opening.__exit__(None, None, None)
    with pytest.raises(DetentError):
        transaction.__exit__(None, None, None)

    with opened(path, busy_s=BUSY_S) as later:
        assert ids(later) == []
        assert later.enqueue("scan").state == "queued"
