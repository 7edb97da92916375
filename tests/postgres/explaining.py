"""How much a statement has to touch: pages of 8 KB, in memory or not."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from detent.store.postgres.script import Script

Touched = Callable[[Script[Any]], int]


@contextmanager
def touching(url: str) -> Iterator[Touched]:
    """Of the first statement that a script asks for."""
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = psycopg.RawCursor(connection)

        def touched(script: Script[Any]) -> int:
            asked = next(script)
            cursor.execute(f"explain (analyze, buffers, format json) {asked.sql}", asked.values)
            (((answer,),),) = cursor.fetchall()
            pages: int = answer["Plan"]["Shared Hit Blocks"] + answer["Plan"]["Shared Read Blocks"]
            return pages

        yield touched
