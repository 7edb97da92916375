"""Stores that keep jobs rightly, and are wrong about access tokens, with one mistake each."""

from msgspec.structs import replace

from detent.store import Pruned, Retention
from detent.store.tokens import KeptToken, Token, dated
from detent.testing import MemoryStore


class BelievesTheMakersClock(MemoryStore):
    async def keep_token(self, token: Token) -> Token:
        kept = await super().keep_token(token)
        self.shelf.tokens[token.id] = replace(kept, created_at=token.created_at, expires_at=token.expires_at)
        return self.shelf.tokens[token.id]


class TakesTheEndForALifetime(MemoryStore):
    """Right only for those that are made at the beginning of time."""

    async def keep_token(self, token: Token) -> Token:
        return await super().keep_token(replace(token, created_at=0))


class ReplacesTokens(MemoryStore):
    async def keep_token(self, token: Token) -> Token:
        self.shelf.tokens[token.id] = dated(token, self._clock())
        return self.shelf.tokens[token.id]


class KnowsATokenOnce(MemoryStore):
    async def keep_token(self, token: Token) -> Token:
        brought = replace(token, digest="0" * 64) if token.id in self.shelf.tokens else token
        return await super().keep_token(brought)


class JudgesByTheTimeOfMaking(MemoryStore):
    async def token(self, token_id: str) -> KeptToken | None:
        found = await super().token(token_id)
        return found and KeptToken(found.token, found.token.created_at)


class RevokesAnew(MemoryStore):
    async def revoke_token(self, tenant: str | None, token_id: str, by: str) -> bool:
        token = self.shelf.tokens.get(token_id)
        if token is not None and tenant in (None, token.tenant):
            self.shelf.tokens[token_id] = replace(token, revoked_at=None, revoked_by=None)
        return await super().revoke_token(tenant, token_id, by)


class RevokesAllOfAName(MemoryStore):
    async def revoke_token(self, tenant: str | None, token_id: str, by: str) -> bool:
        token = self.shelf.tokens.get(token_id)
        alike = [each.id for each in self.shelf.tokens.values() if token is not None and each.name == token.name]
        return any([await super(RevokesAllOfAName, self).revoke_token(tenant, each, by) for each in alike])


class RevokesForAnybody(MemoryStore):
    async def revoke_token(self, tenant: str | None, token_id: str, by: str) -> bool:
        return await super().revoke_token(None, token_id, by)


class TakesAnyTenantsForEverybodys(MemoryStore):
    """What reaches everywhere is not everybody's to take away."""

    async def revoke_token(self, tenant: str | None, token_id: str, by: str) -> bool:
        token = self.shelf.tokens.get(token_id)
        is_wide = token is not None and token.tenant is None
        return await super().revoke_token(None if is_wide else tenant, token_id, by)


class ListsTheOldestFirst(MemoryStore):
    async def tokens(self, tenant: str | None) -> list[Token]:
        return (await super().tokens(tenant))[::-1]


class ListsTokensOfAllTenants(MemoryStore):
    async def tokens(self, tenant: str | None) -> list[Token]:
        return await super().tokens(None)


class KeepsAnyNumberOfTokens(MemoryStore):
    async def keep_token(self, token: Token) -> Token:
        others, self.shelf.tokens = self.shelf.tokens, {}
        kept = await super().keep_token(token)
        self.shelf.tokens = {**others, **self.shelf.tokens}
        return kept


class CountsTokensThatAreOver(MemoryStore):
    async def keep_token(self, token: Token) -> Token:
        tokens = self.shelf.tokens
        self.shelf.tokens = {name: replace(each, revoked_at=None, expires_at=None) for name, each in tokens.items()}
        try:
            kept = await super().keep_token(token)
        finally:
            self.shelf.tokens = tokens
        tokens[token.id] = kept
        return kept


class KeepsTokensForEver(MemoryStore):
    async def prune(self, tenant: str, retention: Retention, limit: int) -> Pruned:
        tokens = self.shelf.tokens
        pruned = await super().prune(tenant, retention, limit)
        self.shelf.tokens = tokens
        return pruned


class ForgetsWhatIsOverAtOnce(MemoryStore):
    async def prune(self, tenant: str, retention: Retention, limit: int) -> Pruned:
        now = self._clock()
        self.shelf.tokens = {name: each for name, each in self.shelf.tokens.items() if not each.is_over(now)}
        return await super().prune(tenant, retention, limit)
