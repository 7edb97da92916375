"""How much a statement has to touch: pages of 8 KB, in memory or not."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from detent.store.postgres.address import Address
from detent.store.postgres.script import Script

Touched = Callable[[Script[Any]], int]


@contextmanager
def touching(url: str) -> Iterator[Touched]:
    """Of the first statement that a script asks for, planned as the store has it planned."""
    settings = Address(url=url).keywords(is_writing=False)
    with psycopg.Connection[Any].connect(**settings, autocommit=True) as connection:
        cursor = psycopg.RawCursor(connection)

        def touched(script: Script[Any]) -> int:
            asked = next(script)
            cursor.execute(f"explain (analyze, buffers, format json) {asked.sql}", asked.values)
            (((answer,),),) = cursor.fetchall()
            pages: int = answer["Plan"]["Shared Hit Blocks"] + answer["Plan"]["Shared Read Blocks"]
            return pages

        yield touched
