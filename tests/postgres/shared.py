"""One database that tests use one after the other, emptied before each: a fresh one takes ten times as long to get."""

from typing import Final

from psycopg import sql

from detent.client import connect
from detent.lifecycles import BUILT_IN
from tests.postgres.server import Server

KEPT: Final = ("detent_migrations", "detent_store")  # the schema, and which store it is
BUILT_IN_ONLY: Final = ("detent_lifecycles", "detent_moves")  # what every client would bring along again
LOCK_MS: Final = 10_000  # who still writes when the next test begins has not been closed
_TABLES: Final = "select tablename from pg_tables where schemaname = 'public' order by tablename"
_FIRST: Final = "select setval(seqrelid::regclass, 1, false) from pg_sequence"
_NEXT: Final = "select setval(pg_get_serial_sequence('detent_lifecycles', 'lifecycle'), {})"


class Shared:
    """As superuser, past the triggers: they let nobody remove what these tests leave behind."""

    def __init__(self, server: Server) -> None:
        self.url = server.new_database()
        with connect(self.url):
            pass  # migrates it, and brings the built-in lifecycles
        self._server = server
        self._admin = server.connected(self.url)
        self._admin.execute("set session_replication_role = replica")
        self._admin.execute(f"set lock_timeout = {LOCK_MS}")

    def emptied(self) -> str:
        """The URL, now of a database as empty as a fresh one, but for the schema and the built-in lifecycles."""
        names = [name for (name,) in self._admin.execute(_TABLES)]
        statements = [_clearing(name) for name in names if name not in KEPT]
        last = [sql.SQL(_FIRST), sql.SQL(_NEXT).format(len(BUILT_IN))]
        # All at once: one by one, the way to the server and back would take most of the time.
        self._admin.execute(sql.SQL(";").join([*statements, *last]), prepare=False)
        return self.url

    def close(self) -> None:
        self._admin.close()
        self._server.drop_database(self.url)


def _clearing(name: str) -> sql.Composed:
    """Ours become empty; what a test has made is dropped."""
    if name in BUILT_IN_ONLY:
        return sql.SQL("delete from {} where lifecycle > {}").format(sql.Identifier(name), len(BUILT_IN))
    remove = "delete from {}" if name.startswith("detent_") else "drop table {} cascade"
    return sql.SQL(remove).format(sql.Identifier(name))
