"""Access tokens: what a store keeps of each, and what it must do with them. The secret itself is never here.

A store keeps tokens and decides nothing by them. Whether one is good is judged in `detent.client.tokens`, by the clock
of the store that keeps it.
"""

from typing import Final, NamedTuple, Protocol

from msgspec import Struct
from msgspec.structs import replace

from detent.errors import InvalidArgument
from detent.store.query import DAY_S

SCOPES: Final = ("submit", "work", "read", "operate", "admin")
TOKENS_MAX: Final = 1_000  # live ones of a tenant, and of those that are for any
TOKENS_LISTED_MAX: Final = 10_000
TOKEN_KEPT_S: Final = 30 * DAY_S  # after it has expired or was revoked, for whoever asks what became of it
_THE_STORES: Final = ("created_at", "expires_at", "revoked_at", "revoked_by")


class Token(Struct, frozen=True, kw_only=True):
    """Who may do what. `tenant` None: in any tenant; `expires_at` None: for ever.

    `digest` is the SHA-256 of the secret, in hexadecimal. `worker` is the only name under which the token works.
    """

    id: str
    name: str
    tenant: str | None
    scopes: tuple[str, ...]
    worker: str | None = None
    digest: str
    created_at: int = 0
    created_by: str
    expires_at: int | None = None
    revoked_at: int | None = None
    revoked_by: str | None = None

    @property
    def lifetime(self) -> int | None:
        return None if self.expires_at is None else self.expires_at - self.created_at

    def is_over(self, now: int) -> bool:
        """Whether it is good for nothing by then. At the moment at which it expires it has expired."""
        return any(end is not None and end <= now for end in (self.expires_at, self.revoked_at))


class KeptToken(NamedTuple):
    """A token as it is kept, and what time it was by the store's clock when it was looked up."""

    token: Token
    now: int


class Tokens(Protocol):
    """Of every store. Moments are its own clock's, as everywhere."""

    async def keep_token(self, token: Token) -> Token:
        """Keep a new token, from now on and for as long as it lies between its `created_at` and its `expires_at`.

        The same one again is answered with what is kept of it; another one of the same id is refused, and so is one
        more than `TOKENS_MAX` that are not over.
        """

    async def token(self, token_id: str) -> KeptToken | None:
        """Whosever it is, and also one that is over."""

    async def tokens(self, tenant: str | None) -> list[Token]:
        """The newest first, up to `TOKENS_LISTED_MAX`; tenant None: of all tenants, and those that are for any."""

    async def revoke_token(self, tenant: str | None, token_id: str, by: str) -> bool:
        """Make it good for nothing from now on; one that was revoked before stays as it is. False: there is none.

        A tenant has its own tokens alone; tenant None: whosever it is.
        """


def dated(token: Token, now: int) -> Token:
    """As a store keeps it that has it from now on."""
    expires_at = None if token.lifetime is None else now + token.lifetime
    return replace(token, created_at=now, expires_at=expires_at, revoked_at=None, revoked_by=None)


def agreed(kept: Token, brought: Token) -> Token:
    """What is kept under the id, if it is the token that was brought. Raised inside the transaction, as below."""
    if _content(kept) != _content(brought):
        raise InvalidArgument(f"there is another token of the id '{brought.id}'; make a new one")
    return kept


def check_room(live: int, tenant: str | None) -> None:
    if live > TOKENS_MAX:
        whose = "there would be" if tenant is None else f"tenant '{tenant}' would have"
        what = f"{TOKENS_MAX:,} live tokens" if tenant else f"{TOKENS_MAX:,} live tokens for any tenant"
        raise InvalidArgument(f"{whose} more than {what}; revoke those not needed any more: detent token revoke ID")


def _content(token: Token) -> tuple[object, ...]:
    return tuple(getattr(token, name) for name in token.__struct_fields__ if name not in _THE_STORES)
