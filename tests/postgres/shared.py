"""One database that tests use one after the other, emptied before each: a fresh one takes ten times as long to get."""

from typing import Final

from psycopg import sql

from tests.postgres.server import Server

KEPT: Final = ("detent_migrations", "detent_store")  # the schema, and which store it is
LOCK_MS: Final = 10_000  # who still writes when the next test begins has not been closed
_TABLES: Final = "select tablename from pg_tables where schemaname = 'public' order by tablename"
_FIRST: Final = "select setval(seqrelid::regclass, 1, false) from pg_sequence"


class Shared:
    """As superuser, past the triggers: they let nobody remove what these tests leave behind."""

    def __init__(self, server: Server) -> None:
        self.url = server.new_database()
        self._server = server
        self._admin = server.connected(self.url)
        self._admin.execute("set session_replication_role = replica")
        self._admin.execute(f"set lock_timeout = {LOCK_MS}")

    def emptied(self) -> str:
        """The URL, now of a database as empty as a fresh one, but for the schema, if it has it."""
        names = [name for (name,) in self._admin.execute(_TABLES)]
        with self._admin.transaction():
            for name in names:
                self._clear(name)
            self._admin.execute(_FIRST)
        return self.url

    def close(self) -> None:
        self._admin.close()
        self._server.drop_database(self.url)

    def _clear(self, name: str) -> None:
        """Ours become empty; what a test has made is dropped."""
        if name not in KEPT:
            remove = "delete from {}" if name.startswith("detent_") else "drop table {} cascade"
            self._admin.execute(sql.SQL(remove).format(sql.Identifier(name)))
