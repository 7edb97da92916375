"""Where jobs are kept while stores are compared: a file, memory or a database, and the stores that have it open."""

from collections.abc import Callable
from pathlib import Path

from detent.client.sync import run
from detent.store import Store
from detent.store.clock import Clock, Random
from detent.store.postgres import Address, PostgresStore
from detent.store.sqlite import File, SqliteStore

Make = Callable[[Clock, Random], Store]


def in_file(folder: Path) -> Make:
    path = str(folder / "jobs.db")
    return lambda clock, random: SqliteStore(File(path, synchronous="normal"), clock=clock, random=random)


def in_memory() -> Make:
    return lambda clock, random: SqliteStore(File(":memory:"), clock=clock, random=random)


def on_postgres(url: str) -> Make:
    return lambda clock, random: PostgresStore(Address(url=url), clock=clock, random=random)


class Site:
    """One set of jobs, and the stores that have it open and take turns on it."""

    def __init__(self, open_store: Callable[[], Store], *, stores: int) -> None:
        self._open_store = open_store
        self.stores = [open_store() for _ in range(stores)]

    @property
    def reader(self) -> Store:
        """The one that did not write last."""
        return self.stores[0]

    def next_writer(self) -> Store:
        """The one that did not write last; now it does."""
        self.stores.reverse()
        return self.stores[-1]

    def reopen(self) -> None:
        """A store by itself stays open: it may hold all there is."""
        if len(self.stores) > 1:
            run(self.stores.pop().close())
            self.stores.append(self._open_store())
