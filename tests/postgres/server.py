"""A real PostgreSQL server of the tests' own, and its databases. How it starts and ends is in process.py.

It listens on the loopback, asks for no password and begins with one role, the superuser `postgres`. A process that
is to use a database needs only its URL.
"""

import time
from collections.abc import Mapping
from itertools import count
from types import MappingProxyType
from typing import Any, Final
from urllib.parse import urlsplit

import psycopg
from psycopg import sql

from tests.postgres.process import Process

SETTINGS: Final = {
    "listen_addresses": "127.0.0.1",
    "unix_socket_directories": "",
    "max_connections": "300",
    "shared_buffers": "128MB",
}
NOT_DURABLE: Final = {"fsync": "off", "full_page_writes": "off", "synchronous_commit": "off"}
NO_MORE: Final[Mapping[str, str]] = MappingProxyType({})
LOOK_AGAIN_S: Final = 0.001
LOOKS_MAX: Final = 100
STRATEGIES_SINCE: Final = 15_00_00

Connection = psycopg.Connection[tuple[Any, ...]]


class Server(Process):
    """One server. `settings` go before those that all servers here have; `durable=False` are the three that are unsafe.

    In memory, fresh databases cost a fraction, and a crash of the server is as real as on disk. Figures are for a disk.
    """

    def __init__(self, *, in_memory: bool = False, durable: bool = True, settings: Mapping[str, str] = NO_MORE) -> None:
        super().__init__({**SETTINGS, **({} if durable else NOT_DURABLE), **settings}, in_memory=in_memory)
        self._numbers = count(1)

    def new_database(self, like: str = "template0") -> str:
        """The URL of a fresh database: a copy of `like`, a name or a URL, to which nobody may be connected."""
        name = f"test_{next(self._numbers)}"
        with self.connected() as admin:
            # Copied through the log: file by file would take two checkpoints. Before 15 there is no choice.
            strategy = "strategy wal_log" if admin.info.server_version >= STRATEGIES_SINCE else ""
            admin.execute(_filled(f"create database {{}} template {{}} {strategy}", name, database_of(like)))
        return self.url(name)

    def drop_database(self, database: str) -> None:
        """Remove it, whoever is still connected to it."""
        name = database_of(database)
        with self.connected() as admin:
            _disconnect(admin, name)
            admin.execute(_filled("drop database {} with (force)", name))

    def terminate_backends(self, count_max: int, database: str) -> int:
        """Break so many connections to a database, or all if there are fewer, at random. Returns how many it were."""
        found = self.psql(
            "select count(*) filter (where pg_terminate_backend(pid)) from (select pid from pg_stat_activity"
            " where datname = %s and backend_type = 'client backend' and pid <> pg_backend_pid()"
            " order by random() limit %s) chosen",
            given=(database_of(database), count_max),
        )
        return int(found[0][0])

    def psql(self, statement: str, database: str = "postgres", given: tuple[object, ...] = ()) -> list[tuple[Any, ...]]:
        """The rows of a statement that commits by itself. Without `given`, it may be several statements."""
        with self.connected(database) as connection:
            cursor = connection.execute(statement, given or None)
            return cursor.fetchall() if cursor.description else []

    def connected(self, database: str = "postgres") -> Connection:
        """As superuser, committing each statement; to be closed by the caller."""
        # Says more than a URL does, so that no PG… variable of a developer's has a say.
        return psycopg.connect(
            host="127.0.0.1",
            port=self.port,
            user="postgres",
            dbname=database_of(database),
            options="",
            sslmode="disable",
            gssencmode="disable",
            autocommit=True,
        )


def database_of(name: str) -> str:
    """The name of a database, given as such or as a URL."""
    return urlsplit(name).path.removeprefix("/")


def _disconnect(admin: Connection, database: str) -> None:
    # Dropping would do it, but then looks only ten times a second whether they are gone.
    for _ in range(LOOKS_MAX):
        ended = "select pg_terminate_backend(pid) from pg_stat_activity where datname = %s"
        if not admin.execute(ended, (database,)).fetchall():
            return
        time.sleep(LOOK_AGAIN_S)


def _filled(statement: str, *names: str) -> sql.Composed:
    return sql.SQL(statement).format(*map(sql.Identifier, names))
