"""`detent token create`: make a token, and print its text, which can be had at no other time."""

from math import inf
from typing import Any, Final

import click
from msgspec.structs import asdict

from detent.client.tokens import NewToken, Token
from detent.store.tokens import SCOPES
from detent.surfaces.cli.chatter import remark
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.job.steering import ACTOR, login_name
from detent.surfaces.cli.opening import opened
from detent.surfaces.cli.options import JSON, Seconds, store_options
from detent.surfaces.cli.output import write, write_json
from detent.surfaces.cli.times import day, seconds_of

NEVER: Final = "never"
_TENANT_FLAG: Final = "In any tenant, which only admins may, and only the tenant 'default' gives out."


class NewTokenShape(Token, frozen=True, kw_only=True):
    """A token that was just made. `text` is what its holder presents; it is nowhere else."""

    text: str


class Lifetime(Seconds):
    """A length of time, or no end."""

    name = "duration"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        if value == NEVER:
            return inf
        if isinstance(value, str) and seconds_of(value) is None:
            self.fail(f"'{value}' is no length of time; write 12h, 90d, or {NEVER}.", param, ctx)
        return super().convert(value, param, ctx)


@click.command(
    cls=Command,
    example="""detent token create ci --scope submit
TOKEN=$(detent token create box-1 --scope work --expires 30d)""",
    shape=NewTokenShape,
)
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    required=True,
    type=click.Choice(SCOPES),
    help="What it may do; may be repeated.",
)
@click.option("--worker", help="The worker it speaks as, with the scope work; else its own name.")
@click.option(
    "--expires",
    "expires_s",
    type=Lifetime(),
    default="90d",
    show_default=True,
    help="How long it holds: 12h, 90d, never.",
)
@click.option("--any-tenant", is_flag=True, help=_TENANT_FLAG)
@ACTOR
@store_options
@JSON
def create(
    name: str, expires_s: float, actor: str | None, url: str | None, tenant: str, as_json: bool, **given: Any
) -> None:
    """Make a token and print its text: this once, and alone on stdout.

    The scopes are submit (make jobs, cancel and rerun them), work (claim jobs and finish them), read (look at jobs and
    their logs), operate (cancel, rerun, approve, pause and the like) and admin (all of it, tokens and the store too).
    """
    lasting_s = None if expires_s == inf else expires_s
    with opened(url, tenant) as client:
        new = client.create_token(name, expires_s=lasting_s, actor=actor or login_name(), **given)
    if as_json:
        write_json(NewTokenShape(**asdict(new.token), text=new.text))
        return
    write(f"{new.text}\n")
    remark(_told(new))


def _told(new: NewToken) -> str:
    token = new.token
    where = "any tenant" if token.tenant is None else f"tenant '{token.tenant}'"
    until = "for ever" if token.expires_at is None else f"until {day(token.expires_at)}"
    who = "" if token.worker is None else f" as '{token.worker}'"
    may = f"Token {token.id} may {', '.join(token.scopes)} in {where}{who}, {until}."
    return f"{may} Keep its text now: it is not shown again."
