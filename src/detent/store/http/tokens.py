"""Access tokens, by the routes of the service. Only the digest of a secret travels, and only an admin is told it."""

from detent.errors import NotFound
from detent.store.http.line import NOTHING
from detent.store.http.sharing import Sharing, named
from detent.store.tokens import KeptToken, Token
from detent.wire.http.tokens import KeptTokenShape, TokenRecord, TokenRecords
from detent.wire.moments import micros_of, micros_of_or_none


class HttpTokens(Sharing):
    async def keep_token(self, token: Token) -> Token:
        lifetime_s = None if token.lifetime is None else token.lifetime / 1e6
        body = {
            "name": token.name, "scopes": token.scopes, "worker": token.worker, "digest": token.digest,
            "created_by": token.created_by, "expires_s": lifetime_s, "is_any_tenant": token.tenant is None,
        }  # fmt: skip
        whose = token.tenant or self.home or ""
        kept = await self._of(whose, TokenRecord, "PUT", f"/v1/tokens{named(token.id)}", body=body, is_safe=True)
        return _token(kept)

    async def token(self, token_id: str) -> KeptToken | None:
        try:
            kept = await self._line.ask(KeptTokenShape, "GET", f"/v1/tokens{named(token_id)}")
        except NotFound:
            return None
        return KeptToken(_token(kept.token), micros_of(kept.now))

    async def tokens(self, tenant: str | None) -> list[Token]:
        query = {"records": "true", "all_tenants": "true" if tenant is None else None}
        found = await self._of(tenant or self.home or "", TokenRecords, "GET", "/v1/tokens", query=query)
        return [_token(each) for each in found.records]

    async def revoke_token(self, tenant: str | None, token_id: str, by: str) -> bool:
        query = {"actor": by, "all_tenants": "true" if tenant is None else "false"}
        path = f"/v1/tokens{named(token_id)}"
        try:
            await self._of(tenant or self.home or "", NOTHING, "DELETE", path, query=query, is_safe=True)
        except NotFound:
            return False
        return True


def _token(record: TokenRecord) -> Token:
    return Token(
        id=record.id, name=record.name, tenant=record.tenant, scopes=record.scopes, worker=record.worker,
        digest=record.digest, created_at=micros_of(record.created_at), created_by=record.created_by,
        expires_at=micros_of_or_none(record.expires_at), revoked_at=micros_of_or_none(record.revoked_at),
        revoked_by=record.revoked_by,
    )  # fmt: skip
