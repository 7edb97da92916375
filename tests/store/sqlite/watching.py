"""Watching a store's own connections from outside: what apsw tells of each one that is opened while we look."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw


class Watch:
    """Statements that were run, their steps in SQLite's machine, and commits that wrote something."""

    def __init__(self) -> None:
        self.steps = 0
        self.statements: list[str] = []
        self.commits = 0

    def reset(self) -> None:
        self.steps, self.statements, self.commits = 0, [], 0

    def see(self, connection: apsw.Connection) -> None:
        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, self._ran)
        connection.set_commit_hook(self._committed)

    def _ran(self, event: dict[str, Any]) -> None:
        self.steps += event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]
        self.statements.append(event["sql"])

    def _committed(self) -> bool:
        self.commits += 1
        return False  # let it commit


@contextmanager
def watched() -> Iterator[Watch]:
    """Every connection that is opened in the block."""
    watch = Watch()
    apsw.connection_hooks.append(watch.see)
    try:
        yield watch
    finally:
        apsw.connection_hooks.remove(watch.see)
