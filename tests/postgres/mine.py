"""A program's own transaction, as the tests use it, whatever the program holds it by."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

Rows = list[tuple[Any, ...]]
End = Callable[[], Awaitable[object]]


class Mine(NamedTuple):
    """`tx` is what is given to Detent. Everything else is awaited, whether it can block or not."""

    tx: Any
    say: Callable[[str], Awaitable[Rows]]
    commit: End
    rollback: End


def blocking(tx: Any, say: Callable[[str], Any], commit: Callable[[], object], rollback: Callable[[], object]) -> Mine:
    """`say` returns a cursor, as `commit` and `rollback` return, without an event loop."""

    async def said(sql: str) -> Rows:
        return rows_of(say(sql))

    return Mine(tx, said, _awaited(commit), _awaited(rollback))


def suspending(tx: Any, say: Callable[[str], Awaitable[Any]], commit: End, rollback: End) -> Mine:
    """`say` returns something like a cursor that has its rows already."""

    async def said(sql: str) -> Rows:
        return rows_of(await say(sql))

    return Mine(tx, said, commit, rollback)


def rows_of(result: Any) -> Rows:
    """Those of a list, of a cursor, or of a result of SQLAlchemy's; none, if the statement has none."""
    if isinstance(result, list):
        return [tuple(row) for row in result]
    has_rows = getattr(result, "returns_rows", None) or getattr(result, "description", None)
    return [tuple(row) for row in result.fetchall()] if has_rows else []


def _awaited(end: Callable[[], object]) -> End:
    async def ended() -> object:
        return end()

    return ended
