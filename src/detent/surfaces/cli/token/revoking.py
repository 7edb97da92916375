"""`detent token revoke`: make a token good for nothing."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

import click
from rich.text import Text

from detent.client.tokens import Token, id_of
from detent.errors import NotFound
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.failure import failure_of, guess
from detent.surfaces.cli.job.steering import ACTOR, login_name
from detent.surfaces.cli.opening import opened
from detent.surfaces.cli.options import JSON, store_options
from detent.surfaces.cli.output import clean, write_json
from detent.surfaces.cli.output import show as print_
from detent.surfaces.cli.pausing import completing
from detent.surfaces.cli.token.listing import ALL_TENANTS, TokenShape, state_of, token_shape

TOKEN: Final = click.argument(
    "token_id", metavar="ID", shell_complete=completing(lambda client: [each.id for each in client.tokens()])
)


@click.command(cls=Command, example="detent token revoke 3f9c01d2a4b5e677", shape=TokenShape)
@TOKEN
@ALL_TENANTS
@ACTOR
@store_options
@JSON
def revoke(token_id: str, all_tenants: bool, actor: str | None, url: str | None, tenant: str, as_json: bool) -> None:
    """Make a token good for nothing, at once and for good. ID is its id, or its whole text.

    One that was revoked before stays as it is. What its holder has asked for before goes on: jobs stay, and so do
    leases.
    """
    meant = id_of(token_id)
    with opened(url, tenant) as client:
        found = client.tokens(all_tenants=all_tenants)
        try:
            client.revoke_token(meant, all_tenants=all_tenants, actor=actor or login_name())
        except NotFound as error:
            raise failure_of(error, _hint(meant, found)) from error
        (revoked,) = [each for each in client.tokens(all_tenants=all_tenants) if each.id == meant]
    _show(revoked, as_json=as_json)


def _hint(wrong: str, found: Sequence[Token]) -> str:
    """Whoever gives a name hears the ids; a mistyped id, what is spelled like it."""
    named = [token.id for token in found if token.name == wrong]
    return f" Of that name: {', '.join(named)}" if named else guess(wrong, [token.id for token in found])


def _show(token: Token, *, as_json: bool) -> None:
    now = datetime.now(UTC)
    if as_json:
        write_json(token_shape(token, now))
        return
    name = Text(clean(token.name), style="dim")
    print_(Text.assemble(Text(token.id, style="bold"), "  ", state_of(token, now), "  ", name))
