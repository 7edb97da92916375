"""Access tokens: made, listed and revoked by whoever has the scope admin."""

import re
from datetime import datetime
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from detent.client.arguments import check_text_name
from detent.client.tokens import EXPIRES_S, Token, token_of
from detent.errors import InvalidArgument, NotFound
from detent.store import tokens as kept
from detent.surfaces.http.ask import Ask
from detent.surfaces.http.route import Route
from detent.wire.http.tokens import KeptTokenShape, TokenRecord
from detent.wire.moments import to_moment, to_moment_or_none

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


class TokensQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`records`: also as a store keeps them, with the digests of their secrets."""

    all_tenants: bool = False
    records: bool = False


class TokensShape(Struct, frozen=True, kw_only=True):
    """The newest first, also those that are over. `records` has them as a store keeps them, if that was asked for."""

    tokens: list[Token]
    records: list[TokenRecord] = []


class TokenBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`expires_s` null: for ever; 90 days if nothing is said. `worker` is its own name if none is given."""

    name: str
    scopes: list[str]
    worker: str | None = None
    expires_s: float | UnsetType | None = UNSET
    is_any_tenant: bool = False


class TokenRecordBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A token whose secret its maker has already: `digest` is the SHA-256 of the secret, in hexadecimal."""

    name: str
    scopes: list[str]
    digest: str
    worker: str | None = None
    expires_s: float | None = None
    is_any_tenant: bool = False
    created_by: str | None = None


class RevokeQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`all_tenants`: whosever it is; if nothing is said, as far as the asker's token reaches. `actor`: who does it."""

    all_tenants: bool | None = None
    actor: str | None = None


class NewTokenShape(Struct, frozen=True, kw_only=True):
    """`text` is what its holder presents. It is shown now, and never again."""

    token: Token
    text: str


class SessionShape(Struct, frozen=True, kw_only=True):
    """Who the service takes the asker for. `is_tended`: it does what time demands by itself, and workers need not."""

    name: str
    tenant: str
    scopes: list[str]
    worker: str | None
    is_any_tenant: bool
    is_read_only: bool
    is_tended: bool
    version: str
    expires_at: datetime | None = None


async def tokens(ask: Ask, query: TokensQuery) -> TokensShape:
    """Every token of the tenant."""
    if query.all_tenants:
        ask.grant.check_any_tenant()
    found = await ask.client.store.tokens(None if query.all_tenants else ask.grant.tenant)
    records = [_record(each) for each in found] if query.records else []
    return TokensShape(tokens=[token_of(each) for each in found], records=records)


async def token(ask: Ask, token_id: str) -> KeptTokenShape:
    """One token as the store keeps it, with the digest of its secret, and the store's own time."""
    found = await ask.client.store.token(check_text_name("token_id", token_id))
    if found is None or not _is_seen(ask, found.token):
        raise NotFound(f"there is no token '{token_id}' in tenant '{ask.grant.tenant}'; see: detent token list")
    return KeptTokenShape(token=_record(found.token), now=to_moment(found.now))


async def keep_token(ask: Ask, token_id: str, body: TokenRecordBody) -> TokenRecord:
    """Keep a token that was made elsewhere, so that its secret never travels. The same one again changes nothing."""
    if body.is_any_tenant:
        ask.grant.check_any_tenant()
    if not _DIGEST.fullmatch(body.digest):
        raise InvalidArgument("digest is no SHA-256 in hexadecimal; give that of the secret, and not the secret")
    record = ask.client.token_record(
        body.name, scopes=body.scopes, worker=body.worker, expires_s=body.expires_s, any_tenant=body.is_any_tenant,
        actor=ask.grant.name if body.created_by is None else ask.grant.actor(body.created_by),
        token_id=check_text_name("token_id", token_id), digest=body.digest,
    )  # fmt: skip
    return _record(await ask.client.store.keep_token(record))


async def create_token(ask: Ask, body: TokenBody) -> NewTokenShape:
    """Make a token. Its text is in the answer, and nowhere else."""
    if body.is_any_tenant:
        ask.grant.check_any_tenant()
    made = await ask.client.create_token(
        body.name, scopes=body.scopes, worker=body.worker, any_tenant=body.is_any_tenant, actor=ask.grant.name,
        expires_s=EXPIRES_S if body.expires_s is UNSET else body.expires_s,
    )  # fmt: skip
    return NewTokenShape(token=made.token, text=made.text)


async def revoke_token(ask: Ask, token_id: str, query: RevokeQuery) -> None:
    """Make a token good for nothing, at once and for good."""
    is_all = ask.grant.is_any_tenant if query.all_tenants is None else query.all_tenants
    if is_all:
        ask.grant.check_any_tenant()
    by = ask.grant.name if query.actor is None else ask.grant.actor(check_text_name("actor", query.actor))
    whose = None if is_all else ask.grant.tenant
    if not await ask.client.store.revoke_token(whose, check_text_name("token_id", token_id), by):
        where = "" if whose is None else f" in tenant '{whose}'"
        raise NotFound(f"there is no token '{token_id}'{where}; see: detent token list")


async def session(ask: Ask) -> SessionShape:
    """Who the asker is to the service, and what it may do."""
    return ask.service.session_of(ask.grant)


def _is_seen(ask: Ask, token: kept.Token) -> bool:
    """A token that is for any tenant sees all of them; another one those of its own tenant."""
    return ask.grant.is_any_tenant or token.tenant == ask.grant.tenant


def _record(token: kept.Token) -> TokenRecord:
    return TokenRecord(
        id=token.id, name=token.name, tenant=token.tenant, scopes=token.scopes, worker=token.worker,
        digest=token.digest, created_at=to_moment(token.created_at), created_by=token.created_by,
        expires_at=to_moment_or_none(token.expires_at), revoked_at=to_moment_or_none(token.revoked_at),
        revoked_by=token.revoked_by,
    )  # fmt: skip


_ADMIN: Final = ("admin",)
_ONE: Final = "/v1/tokens/{token_id}"
ROUTES: Final = (
    Route(method="GET", path="/v1/tokens", handler=tokens, scopes=_ADMIN, tag="tokens"),
    Route(method="POST", path="/v1/tokens", handler=create_token, scopes=_ADMIN, tag="tokens", status=201),
    Route(method="GET", path=_ONE, handler=token, scopes=_ADMIN, tag="tokens"),
    Route(method="PUT", path=_ONE, handler=keep_token, scopes=_ADMIN, tag="tokens"),
    Route(method="DELETE", path=_ONE, handler=revoke_token, scopes=_ADMIN, tag="tokens"),
    Route(
        method="GET", path="/v1/session", handler=session, scopes=kept.SCOPES, tag="tokens"
    ),
)  # fmt: skip
