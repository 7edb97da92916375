"""A transaction for a caller who has none of its own: on a new connection, which ends with it.

It is psycopg's connection, with the settings of the address and none of the store's: what a caller asks of its own
tables is not to be planned, or cut short, as the store's statements are.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Final, Literal, Self

import psycopg

from detent.errors import StoreError
from detent.store.postgres.address import Address
from detent.store.postgres.failing import is_lost, store_error
from detent.store.postgres.refusing import refused
from detent.store.waiting import is_blocking

PREPARED_AFTER: Final = 5  # psycopg's own default
Stage = Literal["beginning", "caller's", "ending"]


@asynccontextmanager
async def own_transaction(address: Address) -> AsyncIterator["psycopg.Connection[Any] | psycopg.AsyncConnection[Any]"]:
    """Blocking where no event loop runs. Leaving the block commits, an exception rolls back."""
    settings = address.plain()
    settings |= {"autocommit": True, "prepare_threshold": PREPARED_AFTER if address.prepare else None}
    with _Meaning(address) as meaning:
        if is_blocking():
            with psycopg.Connection.connect(**settings) as connection, connection.transaction():
                meaning.stage = "caller's"
                yield connection
                meaning.stage = "ending"
        else:
            async with await psycopg.AsyncConnection.connect(**settings) as suspending, suspending.transaction():
                meaning.stage = "caller's"
                yield suspending
                meaning.stage = "ending"


class _Meaning:
    """How it begins and ends is the store's to say; what is raised in between is the caller's own."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self.stage: Stage = "beginning"

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.stage == "caller's" or not isinstance(error, psycopg.Error | OSError):
            return
        if self.stage == "beginning":
            raise refused(self._address.shown, error) from error
        meant = store_error(self._address.shown, error)
        if is_lost(error):
            message = f"{meant}; whether the transaction took effect is not known: look when the server is back"
            raise StoreError(message, code="outcome_unknown") from error
        raise meant from error
