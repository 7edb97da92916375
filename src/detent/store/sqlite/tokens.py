"""Access tokens in a file."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

from detent.store.clock import Clock
from detent.store.sqlite.session import Session
from detent.store.sqlite.statements import SQL
from detent.store.sqlite.transaction import Transaction
from detent.store.token_rows import token_of, token_row
from detent.store.tokens import TOKENS_LISTED_MAX, KeptToken, Token, agreed, check_room, dated

Result = TypeVar("Result")


class TokensInFile(ABC):
    """A store has this beside its jobs, and says how it reads and writes."""

    _clock: Clock

    @abstractmethod
    async def _write(
        self, work: Callable[[Session], Result], tx: Transaction | None = None, size: int = 1
    ) -> Result: ...

    @abstractmethod
    async def _read(self, work: Callable[[Session], Result]) -> Result: ...

    async def keep_token(self, token: Token) -> Token:
        return await self._write(lambda session: _keep(session, token))

    async def token(self, token_id: str) -> KeptToken | None:
        rows = await self._read(lambda session: session.connection.execute(SQL["token"], (token_id,)))
        return KeptToken(token_of(rows[0]), self._clock()) if rows else None

    async def tokens(self, tenant: str | None) -> list[Token]:
        asked = tenant, TOKENS_LISTED_MAX
        rows = await self._read(lambda session: session.connection.execute(SQL["tokens"], asked))
        return [token_of(row) for row in rows]

    async def revoke_token(self, tenant: str | None, token_id: str, by: str) -> bool:
        return await self._write(
            lambda session: bool(session.connection.execute(SQL["revoke_token"], (tenant, token_id, session.now, by)))
        )


def _keep(session: Session, token: Token) -> Token:
    session.connection.execute(SQL["keep_token"], token_row(dated(token, session.now)))
    (kept,) = session.connection.execute(SQL["token"], (token.id,))
    ((live,),) = session.connection.execute(SQL["count_tokens"], (token.tenant, session.now))
    check_room(live, token.tenant)
    return agreed(token_of(kept), token)
