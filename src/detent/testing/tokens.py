"""The access tokens that a `MemoryStore` keeps."""

from threading import Lock

from msgspec.structs import replace

from detent.store.clock import Clock
from detent.store.tokens import TOKENS_LISTED_MAX, KeptToken, Token, agreed, check_room, dated
from detent.testing.shelf import Shelf


class TokensInMemory:
    """A store has this beside its jobs, on the same shelf."""

    shelf: Shelf
    _lock: Lock
    _clock: Clock

    async def keep_token(self, token: Token) -> Token:
        with self._lock:
            now, tokens = self._clock(), self.shelf.tokens
            kept = agreed(tokens.get(token.id) or dated(token, now), token)
            own = [each for each in ({**tokens, token.id: kept}).values() if each.tenant == token.tenant]
            check_room(sum(not each.is_over(now) for each in own), token.tenant)
            tokens[token.id] = kept
            return kept

    async def token(self, token_id: str) -> KeptToken | None:
        with self._lock:
            token = self.shelf.tokens.get(token_id)
            return None if token is None else KeptToken(token, self._clock())

    async def tokens(self, tenant: str | None) -> list[Token]:
        with self._lock:
            own = [each for each in self.shelf.tokens.values() if tenant in (None, each.tenant)]
            return sorted(own, key=lambda each: (each.created_at, each.id), reverse=True)[:TOKENS_LISTED_MAX]

    async def revoke_token(self, tenant: str | None, token_id: str, by: str) -> bool:
        with self._lock:
            token = self.shelf.tokens.get(token_id)
            if token is None or tenant not in (None, token.tenant):
                return False
            if token.revoked_at is None:
                self.shelf.tokens[token_id] = replace(token, revoked_at=self._clock(), revoked_by=by)
            return True
