"""Who waits for events is woken by a ring, and would do without."""

import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import pytest

from detent import SyncClient
from detent.client.sync import run
from detent.store.postgres.store import CALM_POLL_S
from tests.postgres.clients import opened
from tests.postgres.cutting import Cutter, Passing, Verdict
from tests.postgres.pooler import Pooler
from tests.postgres.server import Server, database_of
from tests.postgres.waiting import until

WAITS: Final = 20
NOTIFICATION: Final = b"A"
SLACK_S: Final = 1.0
_LISTENING: Final = "select pid from pg_stat_activity where datname = %s and query = 'listen detent'"


def unheard(message: Passing) -> Verdict:
    return "drop" if message.direction == "to client" and message.type == NOTIFICATION else "pass"


def woken_s(waiter: SyncClient, writer: SyncClient) -> float:
    """How long after a commit somebody hears of it who waits."""
    end = waiter.end()
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(lambda: run(waiter.client.store.wait(end, 30)))
        time.sleep(0.01)  # so that it waits when the commit comes
        writer.enqueue("scan")
        began_s = time.monotonic()
        waiting.result()
        return time.monotonic() - began_s


@pytest.mark.alone
def test_whoever_waits_is_woken_long_before_it_would_look(pg_server: Server, store_url: str) -> None:
    with opened(store_url) as waiter, opened(store_url) as writer:
        run(waiter.client.store.wait(waiter.end(), 0))
        assert until(lambda: pg_server.psql(_LISTENING, given=(database_of(store_url),)) != [])
        took_s = [woken_s(waiter, writer) for _ in range(WAITS)]

    assert statistics.median(took_s) < CALM_POLL_S / 2


@pytest.mark.alone
def test_wait_ends_though_every_ring_is_lost(store_url: str) -> None:
    with Cutter(store_url, unheard) as cutter, opened(cutter.url) as waiter, opened(store_url) as writer:
        took_s = [woken_s(waiter, writer) for _ in range(3)]

    assert max(took_s) < CALM_POLL_S + SLACK_S


@pytest.mark.alone
def test_wait_through_a_pooler_ends_by_looking(store_url: str) -> None:
    with Pooler(store_url) as pooler, opened(pooler.url, prepare=False) as waiter, opened(store_url) as writer:
        took_s = [woken_s(waiter, writer) for _ in range(3)]

    assert max(took_s) < SLACK_S


def test_listener_that_lost_its_connection_comes_back(pg_server: Server, store_url: str) -> None:
    with opened(store_url) as waiter, opened(store_url) as writer:
        woken_s(waiter, writer)
        assert until(lambda: pg_server.psql(_LISTENING, given=(database_of(store_url),)) != [])
        before = pg_server.psql(_LISTENING, given=(database_of(store_url),))
        pg_server.psql("select pg_terminate_backend(%s)", given=before[0])
        lost_s = woken_s(waiter, writer)

        assert lost_s < CALM_POLL_S + SLACK_S
        assert until(lambda: pg_server.psql(_LISTENING, given=(database_of(store_url),)) not in ([], before))
