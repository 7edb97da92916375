"""Who writes rings, for all that was written meanwhile, after the commit, and never for nothing."""

import statistics
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import psycopg
import pytest

from detent import Limit, Policy
from detent.store.postgres.bell import CHANNEL, RING_MIN_S, RING_S, Ringer
from tests.postgres.clients import opened
from tests.postgres.cutting import Cutter
from tests.postgres.moments import holding
from tests.store.sqlite.files import undone

HEARD_S: Final = 0.1
SOON_S: Final = 1.0
SOON_MAX: Final = 8  # rings until they are as far apart as they come to be


def test_many_commits_ring_few_times(store_url: str) -> None:
    with heard(store_url) as rings, opened(store_url) as client:
        began_s = time.monotonic()
        for _ in range(200):
            client.enqueue("scan")
        took_s = time.monotonic() - began_s
        client.close()
        count = len(rings())

    assert 1 <= count <= took_s / RING_S + SOON_MAX
    assert count < 100


def test_who_writes_now_and_then_rings_at_once_each_time() -> None:
    rang = threading.Event()
    ringer = Ringer(lambda is_work: rang.set())
    waits_s = []
    for _ in range(10):
        began_s = time.monotonic()
        ringer.written()
        assert rang.wait(SOON_S)
        waits_s.append(time.monotonic() - began_s)
        rang.clear()
        time.sleep(3 * RING_MIN_S)  # the time between two writes is what this is about
    ringer.close()

    assert statistics.median(waits_s) < RING_S / 2


def test_what_is_written_while_it_rings_is_rung_for_before_it_closes() -> None:
    rings: list[int] = []
    begun, released = threading.Event(), threading.Event()

    def ring(is_work: bool) -> None:
        rings.append(1)
        begun.set()
        released.wait()

    ringer = Ringer(ring)
    ringer.written()
    begun.wait()
    ringer.written()
    released.set()
    ringer.close()

    assert len(rings) == 2


def test_program_that_writes_and_is_gone_has_rung(store_url: str) -> None:
    with heard(store_url) as rings:
        for _ in range(5):
            with opened(store_url) as client:
                client.enqueue("scan")

        assert len(rings()) == 5


@pytest.mark.alone
def test_client_closes_at_once_though_it_cannot_ring(store_url: str) -> None:
    with Cutter(store_url, lambda message: "cut" if holding(b"notify")(message) else "pass") as cutter:
        with opened(cutter.url) as client:
            client.enqueue_many([{"kind": "scan"}] * 3)
            client.enqueue("scan")
            began_s = time.monotonic()
        took_s = time.monotonic() - began_s

    assert took_s < SOON_S


def test_own_transaction_rings_when_it_has_committed(store_url: str) -> None:
    with heard(store_url) as rings, opened(store_url) as client:
        with client.transaction() as tx:
            client.enqueue("scan", tx=tx)
            before = rings()
        client.close()

        assert (before, len(rings())) == ([], 1)


def test_nobody_rings_for_nothing(store_url: str) -> None:
    with heard(store_url) as rings, opened(store_url) as client:
        with undone(client) as tx:
            client.enqueue("scan", tx=tx)
        client.claim(worker="w")
        client.reconcile()
        client.find()
        client.close()

        assert rings() == []


def test_word_on_a_job_that_shares_a_limit_is_no_news_of_work(store_url: str) -> None:
    limited = Policy(limit=Limit(concurrency_max=1))
    with opened(store_url) as client:
        client.enqueue("scan", limit_key="k", policy=limited)
        (job,) = client.claim(worker="w", start=True)
    with heard(store_url) as rings, opened(store_url) as client:
        client.progress(job.id, worker="w", attempt=1, fraction=0.5)
        client.close()

        assert rings() == []


@contextmanager
def heard(url: str) -> Iterator[Callable[[], list[object]]]:
    """Somebody who listens; called, it says what came since."""
    with psycopg.connect(url, autocommit=True) as listener:
        listener.execute(f"listen {CHANNEL}")
        yield lambda: list(listener.notifies(timeout=HEARD_S))
