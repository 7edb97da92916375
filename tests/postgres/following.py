"""Programs that write the log in transactions of their own, and programs that follow it meanwhile."""

import threading
from collections.abc import Callable
from random import Random
from typing import Any

import psycopg

from detent.client import Event, SyncClient
from detent.errors import DetentError

Connection = psycopg.Connection[Any]


class Writer(threading.Thread):
    """A program that takes its time: transactions stay open while those of others begin and end."""

    def __init__(self, client: SyncClient, url: str, name: str, jobs: int, barrier: threading.Barrier) -> None:
        super().__init__(name=name)
        self._client, self._url, self._jobs, self._barrier = client, url, jobs, barrier
        self._random = Random(name)
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            with psycopg.connect(self._url) as connection:
                self._barrier.wait()
                for _ in range(self._jobs):
                    self._live(connection)
        except BaseException as error:
            self.failure = error
            raise

    def _live(self, connection: Connection) -> None:
        """A job from its making to its end, in three transactions, some of them in vain at first."""
        client, queue = self._client, self.name
        self._held(connection, lambda: client.enqueue("scan", queue=queue, tx=connection))
        (job,) = self._held(connection, lambda: client.claim(worker="w", queues=[queue], start=True, tx=connection))
        done = {"job_id": job.id, "worker": "w", "attempt": job.attempt, "expected_rev": job.rev}
        (answer,) = self._held(connection, lambda: client.complete_many([done], tx=connection))
        assert not isinstance(answer, DetentError), answer

    def _held(self, connection: Connection, write: Callable[[], Any]) -> Any:
        while self._random.random() < 0.1:
            write()
            connection.rollback()
        if self._random.random() < 0.3:
            connection.execute("select pg_current_xact_id()")
        written = write()
        if self._random.random() < 0.4:
            connection.execute("select pg_sleep(%s)", [self._random.random() * 0.05])
        connection.commit()
        return written


class Reader(threading.Thread):
    """It reads on and on, and now and then drops the rest of a page and goes on from an event in it."""

    def __init__(self, client: SyncClient, name: str, is_over: threading.Event) -> None:
        super().__init__(name=name)
        self._client, self._is_over = client, is_over
        self._random = Random(name)
        self.seen: list[Event] = []
        self.late_pages = 0

    def run(self) -> None:
        cursor: str | None = None
        while True:
            was_over = self._is_over.is_set()
            page = self._client.events(cursor=cursor, limit=self._random.choice((1, 3, 20, 1_000)))
            kept = page.items
            cursor = page.cursor
            if kept and self._random.random() < 0.3:
                kept = kept[: self._random.randint(1, len(kept))]
                cursor = kept[-1].cursor
            self.seen += kept
            self.late_pages += "~" in (cursor or "")
            if was_over and not page.items:
                return
