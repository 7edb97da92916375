"""Access tokens in a database."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeVar

from detent.store.postgres.script import Script, ask
from detent.store.postgres.session import Session
from detent.store.postgres.statements import SQL
from detent.store.rows import text
from detent.store.token_rows import token_of
from detent.store.tokens import TOKENS_LISTED_MAX, KeptToken, Token, agreed, check_room

Result = TypeVar("Result")


class TokensInDatabase(ABC):
    """A store has this beside its jobs, and says how it reads and writes."""

    @abstractmethod
    async def _write(self, make: Callable[[Session], Script[Result]]) -> Result: ...

    @abstractmethod
    async def _read(self, make: Callable[[Session], Script[Result]], *, is_one_moment: bool = False) -> Result: ...

    async def keep_token(self, token: Token) -> Token:
        return await self._write(lambda session: _keep(session, token))

    async def token(self, token_id: str) -> KeptToken | None:
        return await self._read(lambda session: _token(session, token_id))

    async def tokens(self, tenant: str | None) -> list[Token]:
        return await self._read(lambda session: _listed(tenant))

    async def revoke_token(self, tenant: str | None, token_id: str, by: str) -> bool:
        return await self._write(lambda session: _revoke(session, tenant, token_id, by))


def _keep(session: Session, token: Token) -> Script[Token]:
    values = {
        "id": token.id, "tenant": token.tenant, "name": token.name, "scopes": text(token.scopes),
        "worker": token.worker, "digest": token.digest, "by": token.created_by, "lifetime": token.lifetime,
    }  # fmt: skip
    yield ask(SQL["keep_token"], {**values, "now": session.clock})
    kept = yield from _token(session, token.id)
    assert kept is not None, "it was there, or is now"
    ((live,),) = yield ask(SQL["count_tokens"], {"tenant": token.tenant, "now": kept.now})
    check_room(live, token.tenant)
    return agreed(kept.token, token)


def _token(session: Session, token_id: str) -> Script[KeptToken | None]:
    for *row, now in (yield ask(SQL["token"], {"id": token_id, "now": session.clock})):
        return KeptToken(token_of(tuple(row)), now)
    return None


def _listed(tenant: str | None) -> Script[list[Token]]:
    asked = {"tenant": tenant, "limit": TOKENS_LISTED_MAX}
    return [token_of(row) for row in (yield ask(SQL["tokens"], asked))]


def _revoke(session: Session, tenant: str | None, token_id: str, by: str) -> Script[bool]:
    values = {"tenant": tenant, "id": token_id, "by": by, "now": session.clock}
    return bool((yield ask(SQL["revoke_token"], values)))
