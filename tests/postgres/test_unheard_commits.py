"""Transactions of whose end a client does not hear: one that stays open on the server, one that a crash undid."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import pytest

from tests.postgres.clients import opened
from tests.postgres.cutting import Cutter, Passing, Verdict, pass_all
from tests.postgres.moments import Once
from tests.postgres.server import Server, database_of
from tests.postgres.sweeping import MOMENTS_MAX, VERBS, Committing, Two, answers, is_as_answered, statement_begins

GHOSTS: Final = """
select pg_terminate_backend(pid) from pg_stat_activity
where datname = %s and state like 'idle in transaction%%' and state_change < clock_timestamp() - interval '0.2 s'
"""


@pytest.mark.parametrize("verb", ["enqueue_named", "claim", "complete_named", "renew"])
def test_server_that_has_not_noticed_the_loss_may_delay_a_verb_but_not_double_it(
    pg_server: Server, pg_emptied: str, verb: str
) -> None:
    with (
        Cutter(pg_emptied) as cutter,
        opened(cutter.url) as lossy,
        opened(pg_emptied) as beside,
        ghosts_ending(pg_server, cutter.url),
    ):
        two = Two(lossy, beside)
        for nth in range(1, MOMENTS_MAX):
            asked = VERBS[verb](two, f"name{nth}")
            cutter.decide = lost = Once("orphan", statement_begins, nth=nth)

            answer = asked.call()

            cutter.decide = pass_all
            # A claim and a renewal pass over a job that somebody has locked, if only their own ghost.
            assert (nth, asked.effects()) == (nth, "applied" in answers(answer))
            if not lost.happened.is_set():
                break
        assert 1 < nth < MOMENTS_MAX - 1
        assert two.beside.verify().is_clean


@pytest.mark.parametrize("others", [0, 3])
def test_commit_that_a_crash_undid_is_not_taken_for_that_of_another(others: int) -> None:
    """The numbers of transactions that a crash made the server forget go to the next ones."""
    with Server(in_memory=True) as server:
        url = server.new_database()
        server.psql("create table mine (n int)", url)

        def crash_once(message: Passing) -> Verdict:
            if crashed.is_set() or not committing(message):
                return "pass"
            crashed.set()
            server.restart("immediate")
            for _ in range(others):
                server.psql("insert into mine values (1)", url)
            return "cut"

        with Cutter(url) as cutter, opened(cutter.url) as lossy, opened(url) as beside:
            two, crashed, committing = Two(lossy, beside), threading.Event(), Committing()
            asked = VERBS["claim_named"](two, "name")
            cutter.decide = crash_once

            answer = asked.call()

            assert crashed.is_set()
            assert asked.effects() == 1
            assert is_as_answered(two, answer)


@contextmanager
def ghosts_ending(server: Server, url: str) -> Iterator[None]:
    """Meanwhile the server ends transactions that lie open, as it does by itself in more time."""
    over = threading.Event()

    def look() -> None:
        while not over.wait(0.05):
            server.psql(GHOSTS, given=(database_of(url),))

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield
    finally:
        over.set()
        looking.join()
