"""Access tokens: how one is made, listed and revoked, and whether the text that somebody presents is a good one.

The text is `dt_ID_SECRET`. The store has the id and a digest of the secret; the text itself is shown once, to whoever
made the token.
"""

import re
import secrets
from collections.abc import Sequence
from datetime import datetime
from hashlib import sha256
from hmac import compare_digest
from typing import Any, Final, Literal

from msgspec import Struct

from detent.client.arguments import check_actor, check_choices, check_text_name
from detent.client.moments import to_moment, to_moment_or_none
from detent.client.scope import DEFAULT_TENANT, Scoped
from detent.errors import InvalidArgument, NotFound, Unauthorized
from detent.kernel.clock import micros
from detent.lifecycle.bounds import check_kind, check_more_than_zero
from detent.store import Store, tokens
from detent.store.query import DAY_S
from detent.store.tokens import SCOPES

EXPIRES_S: Final = 90 * DAY_S
_ID_BYTES: Final = 8
_SECRET_BYTES: Final = 32
_TEXT: Final = re.compile(r"dt_(?P<id>[0-9a-f]{16})_(?P<secret>[A-Za-z0-9_-]{43})")
_NOBODYS: Final = "0" * 64  # no secret is known to have this digest
_NEW: Final = "Make a new one: detent token create NAME --scope SCOPE"


class Token(Struct, frozen=True, kw_only=True):
    """Who may do what, without the secret. `tenant` None: in any tenant; `expires_at` None: for ever.

    `worker` is the only name under which it claims jobs and speaks for them; None, if it has no scope for that.
    """

    id: str
    name: str
    tenant: str | None
    scopes: tuple[str, ...]
    worker: str | None
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    revoked_at: datetime | None
    revoked_by: str | None

    def state_at(self, now: datetime) -> Literal["live", "expired", "revoked"]:
        """What became of it by then."""
        if self.revoked_at is not None:
            return "revoked"
        return "expired" if self.expires_at is not None and self.expires_at <= now else "live"


class NewToken(Struct, frozen=True, kw_only=True):
    """A token that was just made. `text` is what its holder presents, and can be had at no other time."""

    token: Token
    text: str

    def __repr__(self) -> str:
        """Without the text: this may go to a log."""
        return f"<NewToken {self.token.id} '{self.token.name}'>"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("token", self.token)]


class Tokens(Scoped):
    async def create_token(
        self,
        name: str,
        *,
        scopes: Sequence[str],
        worker: str | None = None,
        expires_s: float | None = EXPIRES_S,
        any_tenant: bool = False,
        actor: str | None = None,
    ) -> NewToken:
        """Make a token, with some of the scopes submit, work, read, operate and admin, for 90 days if nothing is said.

        `expires_s` None: for ever. One with the scope work has a worker's name, which is its own if none is given.
        `any_tenant` is for admins, and given out by the tenant `default` alone. The text is in the answer, and nowhere
        else.
        """
        secret = secrets.token_urlsafe(_SECRET_BYTES)
        brought = self.token_record(
            name, scopes=scopes, worker=worker, expires_s=expires_s, any_tenant=any_tenant, actor=actor,
            token_id=secrets.token_hex(_ID_BYTES), digest=digest_of(secret),
        )  # fmt: skip
        kept = await self.store.keep_token(brought)
        return NewToken(token=token_of(kept), text=f"dt_{kept.id}_{secret}")

    def token_record(
        self,
        name: str,
        *,
        scopes: Sequence[str],
        worker: str | None,
        expires_s: float | None,
        any_tenant: bool,
        actor: str | None,
        token_id: str,
        digest: str,
    ) -> tokens.Token:
        """What `create_token` asks of the store, checked."""
        allowed = _checked(scopes)
        self._check_reach(allowed, any_tenant=any_tenant)
        return tokens.Token(
            id=token_id,
            name=check_text_name("name", name),
            tenant=None if any_tenant else self.tenant,
            scopes=allowed,
            worker=_worker(worker, name, allowed),
            digest=digest,
            created_by=check_actor(actor),
            expires_at=_lifetime(expires_s),
        )

    async def tokens(self, *, all_tenants: bool = False) -> list[Token]:
        """Every token of the tenant, the newest first, also those that are over; they are kept for 30 days after that.

        `all_tenants` is for the tenant `default`: all there are, with those that are for any tenant.
        """
        return [token_of(each) for each in await self.store.tokens(self._whose(all_tenants=all_tenants))]

    async def revoke_token(self, token_id: str, *, all_tenants: bool = False, actor: str | None = None) -> None:
        """Make a token good for nothing, at once and for good. One that was revoked before stays as it is.

        `token_id` is its id, or its whole text, which is what one has of a token that was found somewhere.
        """
        by, whose = check_actor(actor), self._whose(all_tenants=all_tenants)
        meant = id_of(check_text_name("token_id", token_id))
        if not await self.store.revoke_token(whose, meant, by):
            where = "" if whose is None else f" in tenant '{whose}'"
            raise NotFound(f"there is no token '{meant}'{where}; see: detent token list")

    def _check_reach(self, scopes: tuple[str, ...], *, any_tenant: bool) -> None:
        check_kind("any_tenant", any_tenant, bool)
        if any_tenant and "admin" not in scopes:
            raise InvalidArgument("any_tenant wants the scope 'admin'; leave it out, or make a token for each tenant")
        if any_tenant:
            self._check_default("a token for any tenant is made")

    def _whose(self, *, all_tenants: bool) -> str | None:
        check_kind("all_tenants", all_tenants, bool)
        if all_tenants:
            self._check_default("tokens of all tenants are looked after")
        return None if all_tenants else self.tenant

    def _check_default(self, what: str) -> None:
        if self.tenant != DEFAULT_TENANT:
            message = f"{what} by the tenant '{DEFAULT_TENANT}'; this client is tenant '{self.tenant}''s"
            raise InvalidArgument(f"{message}. Connect without tenant= for that")


async def authenticated(store: Store, text: str | None) -> tokens.Token:
    """The token that somebody presents, if it is one that holds now; else `Unauthorized` is raised.

    It takes the same steps whether there is such an id or not. What became of a token is told to those only who know
    its secret.
    """
    if not text:
        raise Unauthorized(f"no token was presented; send 'Authorization: Bearer TOKEN'. {_NEW}", code="token_missing")
    match = _TEXT.fullmatch(text)
    if match is None:
        message = "what was presented is no token; send it whole, as it was printed: dt_ID_SECRET"
        raise Unauthorized(message, code="token_malformed")
    found = await store.token(match["id"])
    expected = _NOBODYS if found is None else found.token.digest
    is_right = compare_digest(digest_of(match["secret"]), expected)
    if found is None or not is_right:
        raise Unauthorized(f"no such token is known here. {_NEW}", code="token_unknown")
    return _holding(*found)


def id_of(text: str) -> str:
    """The id in the text of a token. Whatever else it is, an id already for one, stays as it is."""
    match = _TEXT.fullmatch(text)
    return text if match is None else match["id"]


def digest_of(secret: str) -> str:
    """Quick is good enough: nobody guesses 256 random bits, however many can be tried."""
    return sha256(secret.encode()).hexdigest()


def token_of(kept: tokens.Token) -> Token:
    return Token(
        id=kept.id, name=kept.name, tenant=kept.tenant, scopes=kept.scopes, worker=kept.worker,
        created_at=to_moment(kept.created_at), created_by=kept.created_by,
        expires_at=to_moment_or_none(kept.expires_at), revoked_at=to_moment_or_none(kept.revoked_at),
        revoked_by=kept.revoked_by,
    )  # fmt: skip


def _holding(token: tokens.Token, now: int) -> tokens.Token:
    named = f"token {token.id} ('{token.name}')"
    if token.revoked_at is not None:
        raise Unauthorized(f"{named} was revoked by {token.revoked_by}. {_NEW}", code="token_revoked")
    if token.is_over(now):
        raise Unauthorized(f"{named} has expired. {_NEW}", code="token_expired")
    return token


def _checked(scopes: Sequence[str]) -> tuple[str, ...]:
    """In the order of `SCOPES`, however they are given."""
    given = check_choices("scopes", scopes, SCOPES)
    if not given:
        raise InvalidArgument(f"scopes is empty; give at least one of {', '.join(SCOPES)}")
    return tuple(scope for scope in SCOPES if scope in given)


def _worker(worker: str | None, name: str, scopes: tuple[str, ...]) -> str | None:
    if "work" in scopes:
        return check_text_name("worker", name if worker is None else worker)
    if worker is not None:
        raise InvalidArgument("worker is given without the scope 'work'; add the scope, or leave it out")
    return None


def _lifetime(expires_s: float | None) -> int | None:
    """From the moment at which the store has it: its clock decides when it is over."""
    if expires_s is None:
        return None
    check_more_than_zero("expires_s", expires_s)
    return max(micros(expires_s), 1)
