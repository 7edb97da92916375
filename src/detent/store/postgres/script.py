"""Work on the database as a script: it names a statement and is given the rows, and does not know who runs it.

So the same work runs on a thread of the store's own, on a caller's blocking connection and on a caller's event loop.
"""

from collections.abc import Awaitable, Callable, Generator, Mapping
from typing import Any, NamedTuple, TypeVar

from detent.store.postgres.statements import compiled
from detent.store.postgres.values import in_text
from detent.store.rows import Row

Result = TypeVar("Result")


class Ask(NamedTuple):
    """A statement with its values, in text."""

    sql: str
    values: tuple[str | None, ...]


Script = Generator[Ask, list[Row], Result]


def ask(sql: str, values: Mapping[str, Any]) -> Ask:
    """A block with its values by name."""
    statement = compiled(sql)
    given = [values[name] for name in statement.names]
    return Ask(statement.sql, tuple([each if each.__class__ is str else in_text(each) for each in given]))


def run(script: Script[Result], execute: Callable[[Ask], list[Row]]) -> Result:
    """To its end, on a connection that blocks. What fails there, the script hears of first."""
    try:
        asked = next(script)
        while True:
            try:
                rows = execute(asked)
            except BaseException as error:  # a cancelled task has to undo it, too
                asked = script.throw(error)
            else:
                asked = script.send(rows)
    except StopIteration as done:
        result: Result = done.value
        return result


async def arun(script: Script[Result], execute: Callable[[Ask], Awaitable[list[Row]]]) -> Result:
    """To its end, on a connection of an event loop."""
    try:
        asked = next(script)
        while True:
            try:
                rows = await execute(asked)
            except BaseException as error:  # a cancelled task has to undo it, too
                asked = script.throw(error)
            else:
                asked = script.send(rows)
    except StopIteration as done:
        result: Result = done.value
        return result
