"""`detent token list`: the tokens, what each may do, and whether it still holds."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

import click
from msgspec.structs import asdict
from rich.text import Text

from detent.client.tokens import Token
from detent.surfaces.cli.chatter import remark
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.opening import opened
from detent.surfaces.cli.options import JSON, store_options
from detent.surfaces.cli.output import write_json, write_listing
from detent.surfaces.cli.tables import Column
from detent.surfaces.cli.times import relative

ALL_TENANTS: Final = click.option(
    "--all-tenants", is_flag=True, help="Whosever it is, and also those for any tenant; for the tenant 'default'."
)
STYLES: Final = {"live": "green", "expired": "yellow", "revoked": "red"}
Cell = Callable[[Token, datetime], object]
# What each column shows, and how important it is: who may do what, and whether it still holds.
COLUMNS: Final[tuple[tuple[Column, Cell], ...]] = (
    (Column("token"), lambda token, now: token.id),
    (Column("name", enough=16), lambda token, now: token.name),
    (Column("state"), lambda token, now: state_of(token, now)),
    (Column("scopes", enough=12), lambda token, now: ", ".join(token.scopes)),
    (Column("tenant", rank=2, enough=12), lambda token, now: "any" if token.tenant is None else token.tenant),
    (Column("worker", rank=3, enough=12), lambda token, now: token.worker),
    (Column("expires", rank=1), lambda token, now: relative(token.expires_at, now) or "never"),
    (Column("revoked", rank=4, enough=16), lambda token, now: _revoked(token, now)),
    (Column("made", rank=5, enough=16), lambda token, now: f"{relative(token.created_at, now)} by {token.created_by}"),
)


class TokenShape(Token, frozen=True, kw_only=True):
    """A token, without its text. `state`: live, expired or revoked. `tenant` null: any tenant. `expires_at` null:
    never."""

    state: str


@click.command(
    "list", cls=Command, example="detent token list\ndetent token list --all-tenants", shape=list[TokenShape]
)
@ALL_TENANTS
@store_options
@JSON
def list_(all_tenants: bool, url: str | None, tenant: str, as_json: bool) -> None:
    """List tokens, the newest first: what each may do, and whether it has expired or was revoked.

    Those that are over are listed for 30 days more, as long as somebody prunes.
    """
    with opened(url, tenant) as client:
        found = client.tokens(all_tenants=all_tenants)
    now = datetime.now(UTC)
    if as_json:
        write_json([token_shape(each, now) for each in found])
    elif found:
        rows = [[show(each, now) for _, show in COLUMNS] for each in found]
        write_listing([column for column, _ in COLUMNS], [rows])
    else:
        remark("There are no tokens.")


def token_shape(token: Token, now: datetime) -> TokenShape:
    return TokenShape(**asdict(token), state=token.state_at(now))


def state_of(token: Token, now: datetime) -> Text:
    state = token.state_at(now)
    return Text(state, style=STYLES[state])


def _revoked(token: Token, now: datetime) -> str:
    return "" if token.revoked_at is None else f"{relative(token.revoked_at, now)} by {token.revoked_by}"
