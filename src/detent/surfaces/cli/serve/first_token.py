"""The token with which everything begins: made when nobody has one yet who could make others."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from detent.client import Client
from detent.client.tokens import NewToken, Token

if TYPE_CHECKING:
    from detent.surfaces.http.service import Service

NAME: Final = "first-admin"


async def first_token(service: "Service") -> NewToken | None:
    """None, if it would be good for nothing, or somebody has one. A service that changes nothing makes none either."""
    if service.settings.is_read_only or not service.settings.is_authenticating:
        return None
    client: Client = service.client_of("default")
    now = datetime.now(UTC)
    if any(_is_admins(each, now) for each in await client.tokens(all_tenants=True)):
        return None
    return await client.create_token(NAME, scopes=["admin"], any_tenant=True, actor="detent serve")


def _is_admins(token: Token, now: datetime) -> bool:
    return "admin" in token.scopes and token.tenant in (None, "default") and token.state_at(now) == "live"
