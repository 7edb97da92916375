"""Transactions of a program's own, on whichever store: its table of effects, and verbs with `tx=`, commit together."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import psycopg

import detent
from detent.client import Client

_TABLE: Final = "create table if not exists effects (job_id text primary key, attempt bigint not null)"
_EFFECT: Final = "insert into effects values ($1, $2)"  # both stores understand this
_EFFECTS: Final = "select job_id, attempt from effects"


def is_on_postgres(url: str) -> bool:
    return url.startswith("postgresql:")


@asynccontextmanager
async def transaction(client: Client, url: str) -> AsyncIterator[Any]:
    """What `tx=` takes. If its end is not heard of, that is an `outcome_unknown`, as of a verb."""
    if not is_on_postgres(url):
        async with client.transaction() as tx:
            yield tx
        return
    without_settings, _, _ = url.partition("?")
    try:
        factory = psycopg.AsyncRawCursor
        async with await psycopg.AsyncConnection.connect(without_settings, cursor_factory=factory) as tx:
            yield tx
    except psycopg.OperationalError as error:
        raise detent.StoreError(str(error), code="outcome_unknown") from error


async def note_effect(tx: Any, job_id: str, attempt: int) -> None:
    await _execute(tx, _EFFECT, (job_id, attempt))


def make_effects(url: str) -> None:
    asyncio.run(_on(url, _TABLE))


def effects(url: str) -> list[tuple[str, int]]:
    return asyncio.run(_on(url, _EFFECTS))


async def _on(url: str, sql: str) -> list[Any]:
    async with detent.connect(url) as client, transaction(client, url) as tx:
        return await _execute(tx, sql)


async def _execute(tx: Any, sql: str, values: tuple[object, ...] = ()) -> list[Any]:
    if isinstance(tx, psycopg.AsyncConnection):
        cursor = await tx.execute(sql, values or None)
        return await cursor.fetchall() if cursor.description else []
    return list(tx.execute(sql, values))
