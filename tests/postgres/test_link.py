"""Statements on libpq itself: what a cursor would have seen to is seen to here."""

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest

from detent.store.postgres import link as links
from detent.store.postgres.link import Link
from detent.store.postgres.script import Ask


@pytest.fixture(params=[True, False], ids=["prepared", "not prepared"])
def link(request: pytest.FixtureRequest, pg_emptied: str) -> Iterator[Link]:
    with opened(pg_emptied, prepares=request.param) as link:
        yield link


@contextmanager
def opened(url: str, *, prepares: bool = True) -> Iterator[Link]:
    raw: psycopg.Connection[Any] = psycopg.connect(url, autocommit=True)
    with raw:
        yield Link(raw, prepares=prepares)


def test_statement_that_failed_at_first_is_read_rightly_later(link: Link) -> None:
    """Nothing is known of its rows before the first of them has come."""
    with pytest.raises(psycopg.errors.DivisionByZero):
        link.ask(Ask("select 1 / $1::bigint, 'a'", ("0",)))

    assert link.ask(Ask("select 1 / $1::bigint, 'a'", ("1",))) == [(1, "a")]
    assert link.ask(Ask("select 1 / $1::bigint, 'a'", ("1",))) == [(1, "a")]


def test_rows_may_be_none_one_or_many(link: Link) -> None:
    counted = [link.ask(Ask("select n from generate_series(1, $1::bigint) n", (str(n),))) for n in (0, 1, 1_000)]

    assert [len(rows) for rows in counted] == [0, 1, 1_000]
    assert counted[2][-1] == (1_000,)


def test_what_is_larger_than_the_socket_goes_both_ways(link: Link) -> None:
    large = "x" * 20_000_000

    assert link.ask(Ask("select $1::text, $2::bytea", (large, "\\x00ff"))) == [(large, b"\x00\xff")]


def test_of_several_statements_the_first_that_fails_is_told_of(link: Link) -> None:
    with pytest.raises(psycopg.errors.DivisionByZero):
        link.say("select 1; select 1 / 0; select nonsense")

    assert link.ask(Ask("select 2", ())) == [(2,)]


def test_connection_that_the_server_ends_is_lost_and_says_so(link: Link, pg_emptied: str) -> None:
    ((pid,),) = link.ask(Ask("select pg_backend_pid()", ()))
    with psycopg.connect(pg_emptied, autocommit=True) as other:
        other.execute("select pg_terminate_backend(%s, 5000)", (pid,))

    with pytest.raises(psycopg.OperationalError):
        link.ask(Ask("select 1", ()))

    assert not link.is_open


def test_interrupted_wait_leaves_the_connection_closed(link: Link) -> None:
    """The answer may still come, and must not pass for that to another question."""
    interrupting = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    interrupting.start()
    with pytest.raises(KeyboardInterrupt):
        link.ask(Ask("select pg_sleep(60)", ()))
    interrupting.join()

    assert not link.is_open


def test_statements_beyond_the_bound_are_prepared_anew(pg_emptied: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(links, "PREPARED_MAX", 3)
    with opened(pg_emptied) as link:
        answers = [link.ask(Ask(f"select {n}", ())) for n in (*range(8), *range(8))]
        ((prepared,),) = link.ask(Ask("select count(*) from pg_prepared_statements", ()))

    assert answers == [[(n,)] for n in (*range(8), *range(8))]
    assert prepared <= 3


def test_other_threads_run_while_one_waits(link: Link) -> None:
    """Also while the end of an answer is on its way: libpq itself would keep them all from running."""
    ran = threading.Event()

    def run() -> None:
        ran.set()

    threading.Timer(0.05, run).start()
    link.ask(Ask("select pg_sleep(0.3)", ()))

    assert ran.is_set()
