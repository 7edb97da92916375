"""Connections that several calls use one after the other: stopping a call ends that call, and no other."""

import threading
from typing import Any

from urllib3 import HTTPConnectionPool

from detent.store.http import Address
from detent.store.http.pool import Call, pool_of, under_way
from tests.store.http.scripted import Answer, json, scripted


def asked(pool: HTTPConnectionPool) -> int:
    return pool.urlopen("GET", "/", retries=False).status


def test_call_that_is_stopped_after_its_answer_leaves_the_connection_to_the_next() -> None:
    held = threading.Event()
    found: list[Any] = []

    def script(number: int, line: bytes) -> Answer:
        if number > 1:
            held.wait(10)
        return json("{}")

    with scripted(script) as server:
        pool = pool_of(Address(url=server.url, connections=1), is_for_waiting=False)
        first = Call()
        with under_way(first):
            asked(pool)  # answered; that the asker has not heard of it yet is why it can still be stopped
            second = threading.Thread(target=lambda: found.append(asked(pool)), daemon=True)
            second.start()
            while len(server.asked) < 2:
                second.join(0.01)
            first.stop()
        held.set()
        second.join(10)
        pool.close()

    assert found == [200]


def test_call_that_is_stopped_before_its_answer_is_cut_off() -> None:
    held = threading.Event()
    call, failed = Call(), threading.Event()

    def script(number: int, line: bytes) -> Answer:
        held.wait(10)
        return json("{}")

    def ask(pool: HTTPConnectionPool) -> None:
        with under_way(call):
            try:
                asked(pool)
            except Exception:
                failed.set()

    with scripted(script) as server:
        pool = pool_of(Address(url=server.url, connections=1), is_for_waiting=False)
        asking = threading.Thread(target=ask, args=(pool,), daemon=True)
        asking.start()
        while not server.asked:
            asking.join(0.01)
        call.stop()
        asking.join(5)
        held.set()
        pool.close()

    assert failed.is_set()
