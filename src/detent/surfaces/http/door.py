"""Who asks: from the token that a request presents to what it grants; at the door, and again while somebody stays."""

from collections import OrderedDict
from typing import Final
from urllib.parse import unquote

from starlette.requests import Request

from detent.client.tokens import authenticated, digest_of
from detent.errors import InvalidArgument, Unauthorized
from detent.store import Store
from detent.store.tokens import Token
from detent.surfaces.http.grants import Grant, everything, grant_of
from detent.surfaces.http.rating import Rates
from detent.surfaces.http.reading import header_of
from detent.surfaces.http.settings import Settings

TENANT: Final = "detent-tenant"
KNOWN_MAX: Final = 10_000  # tokens that were good when they were last seen; who was not seen for longest goes first
_NOT_LOOKED_UP: Final = ("token_missing", "token_malformed")  # they cost the store nothing


class Door:
    def __init__(self, store: Store, settings: Settings) -> None:
        self._store = store
        self._is_authenticating = settings.is_authenticating
        self._rates = Rates(rate_max=settings.rate_max, burst_max=settings.burst_max)
        self._known: OrderedDict[str, str] = OrderedDict()  # by their digests, with their ids

    async def let_in(self, request: Request) -> Grant:
        """What the token in the request gives, in the tenant that it asks for."""
        address = request.client.host if request.client else ""
        return await self.let_in_with(_presented(request), _named(header_of(request, TENANT)), address)

    async def let_in_with(self, text: str | None, tenant: str | None, address: str) -> Grant:
        """What a token gives, however it was presented."""
        if not self._is_authenticating:
            return everything(tenant)
        token = await self._token(text, f"@{address}")
        self._rates.take(token.id)
        return grant_of(token, tenant)

    def take_turn(self, text: str | None) -> None:
        """A message of somebody who was let in counts like a request."""
        if text is not None:
            seen = digest_of(text)
            self._rates.take(self._known.get(seen, seen))

    async def look_again(self, request: Request) -> None:
        """`Unauthorized`, if the token of somebody who was let in is good no more. What others do from the same
        address, or how often it has asked, has nothing to do with that.
        """
        await self.look_again_at(_presented(request))

    async def look_again_at(self, text: str | None) -> None:
        if self._is_authenticating:
            await authenticated(self._store, text)

    async def _token(self, text: str | None, address: str) -> Token:
        """Each look is a read of the store: whoever tries tokens that are none may do so now and then only.

        Behind a proxy all have one address. So nobody is held up by it whose token was good before: it is looked up
        whatever strangers do, and only tokens that nobody has seen here yet share what is left of the address's rate.
        """
        seen = "" if text is None else digest_of(text)
        if seen not in self._known:
            self._rates.check(address)
        try:
            token = await authenticated(self._store, text)
        except Unauthorized as error:
            self._known.pop(seen, None)
            if error.code not in _NOT_LOOKED_UP:
                self._rates.take(address)
            raise
        self._remember(seen, token.id)
        return token

    def _remember(self, seen: str, token_id: str) -> None:
        self._known[seen] = token_id
        self._known.move_to_end(seen)
        if len(self._known) > KNOWN_MAX:
            self._known.popitem(last=False)


def _presented(request: Request) -> str | None:
    scheme, _, text = request.headers.get("authorization", "").partition(" ")
    return text.strip() if scheme.lower() == "bearer" else None


def _named(tenant: str | None) -> str | None:
    """A header has no letters but ASCII: the others, and the percent sign, are written as in a path."""
    try:
        return None if tenant is None else unquote(tenant, errors="strict")
    except UnicodeDecodeError:
        raise InvalidArgument("Detent-Tenant holds bytes that are no text; write its UTF-8 as %C3%A9") from None
