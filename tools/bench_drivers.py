"""psycopg beside asyncpg, under the very same store: which one should carry its statements?

    .venv/bin/python tools/bench_drivers.py postgresql://postgres@127.0.0.1/postgres

Both run the same scripts on the same kind of thread. asyncpg has no blocking connection, so it gets an event loop of
its own on that thread, as a store must use it that does not depend on its callers' loops. Measured in turn, in scratch
schemas, for batches of 1, 100 and 500: microseconds of a full life (enqueue, claim, start, complete).
"""

import argparse
import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from statistics import median
from typing import Any

import asyncpg
from psycopg import conninfo

from detent.client import SyncClient, connect
from detent.store.postgres import server
from detent.store.postgres.address import Address
from detent.store.postgres.connection import Connection
from detent.store.postgres.script import Ask
from detent.store.postgres.statements import text_first
from detent.store.rows import Row
from detent.testing.bench import live_alone, live_together
from detent.testing.bench_postgres import scratch

PAIRS = 15


class AsyncpgConnection(Connection):
    """The store's own connection, with another driver inside."""

    def __init__(self, address: Address, *, is_writing: bool) -> None:
        super().__init__(address, is_writing=is_writing)
        self._settings = address.keywords(is_writing=is_writing)
        self._loop = asyncio.new_event_loop()
        self._other: Any = None

    @property
    def is_open(self) -> bool:
        return self._other is not None and not self._other.is_closed()

    def execute(self, asked: Ask) -> list[Row]:
        found = self._run(self._driver().fetch(text_first(asked.sql), *asked.values))
        return [tuple(row) for row in found]

    def say(self, sql: str) -> None:
        self._run(self._driver().execute(sql))

    def rollback(self) -> None:
        if self.is_open and self._other.is_in_transaction():
            self.say("rollback")

    def close(self) -> None:
        if self.is_open:
            self._run(self._other.close())
        self._other = None

    def _driver(self) -> Any:
        if not self.is_open:
            given = self._settings
            options = dict(part.split("=", 1) for part in given.get("options", "").replace("-c", " ").split())
            self._other = self._run(
                asyncpg.connect(
                    host=given["host"], port=given.get("port"), user=given.get("user"), database=given["dbname"],
                    server_settings=options, statement_cache_size=500,
                )
            )  # fmt: skip
        return self._other

    def _run(self, awaitable: Any) -> Any:
        return self._loop.run_until_complete(awaitable)


@contextmanager
def clients(url: str) -> Iterator[dict[str, SyncClient]]:
    with ExitStack() as opened:
        psycopg_client = opened.enter_context(connect(opened.enter_context(scratch(url))))
        plain, server.Connection = server.Connection, AsyncpgConnection  # type: ignore[attr-defined]
        try:
            asyncpg_client = opened.enter_context(connect(opened.enter_context(scratch(url))))
            asyncpg_client.enqueue("first")
        finally:
            server.Connection = plain  # type: ignore[attr-defined]
        yield {"psycopg": psycopg_client, "asyncpg": asyncpg_client}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("url")
    url = parser.parse_args().url
    conninfo.conninfo_to_dict(url)
    with clients(url) as both:
        for batch in (1, 100, 500):
            live = live_alone if batch == 1 else live_together
            taken: dict[str, list[tuple[float, float]]] = {name: [] for name in both}
            for _ in range(PAIRS + 1):
                for name, client in both.items():
                    began, worked = time.perf_counter(), time.process_time()
                    live(client, batch, 20 if batch == 1 else 1)
                    taken[name].append((time.perf_counter() - began, time.process_time() - worked))
            for name, times in taken.items():
                lives = batch * (20 if batch == 1 else 1)
                wall, cpu = (median(each[n] for each in times[1:]) / lives * 1e6 for n in (0, 1))
                print(f"batch {batch:>3}  {name:<8} {wall:7.0f} µs a life, of which {cpu:5.0f} µs here")
            pairs = zip(taken["asyncpg"][1:], taken["psycopg"][1:], strict=True)
            print(f"batch {batch:>3}  asyncpg / psycopg {median(a[0] / p[0] for a, p in pairs):.2f}")


if __name__ == "__main__":
    main()
