"""What a service says when it starts: where it is, who is let in, and how to stop it."""

import os
from collections.abc import Iterator
from datetime import datetime

import click
from msgspec import Struct
from rich.console import Group
from rich.table import Table
from rich.text import Text

from detent.client.addresses import without_secrets
from detent.client.connecting import address_of
from detent.client.tokens import NewToken
from detent.surfaces.cli.chatter import tell
from detent.surfaces.cli.output import clean, rendered, screen
from detent.surfaces.cli.serve.plan import Plan
from detent.surfaces.cli.serve.site import Site
from detent.surfaces.cli.times import span
from detent.version import __version__


class FirstToken(Struct, frozen=True, kw_only=True):
    """`text` is what its holder presents. It is shown now, and never again."""

    id: str
    name: str
    text: str
    expires_at: datetime | None


class ServeShape(Struct, frozen=True, kw_only=True):
    """Printed as soon as requests are answered. `token`: made now, because no admin had one; else null."""

    address: str
    store: str
    pid: int
    version: str
    is_authenticating: bool
    is_read_only: bool
    token: FirstToken | None


def shape_of(plan: Plan, site: Site, made: NewToken | None) -> ServeShape:
    return ServeShape(
        address=site.address, store=without_secrets(address_of(plan.url)), pid=os.getpid(), version=__version__,
        is_authenticating=not plan.no_auth, is_read_only=plan.read_only, token=None if made is None else _first(made),
    )  # fmt: skip


def show_banner(plan: Plan, shape: ServeShape) -> None:
    title = Text.assemble(Text(f"detent {__version__}", style="bold"), " serve")
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column(overflow="fold")
    for name, fact in _facts(plan, shape):
        grid.add_row(f"  {name}", fact if isinstance(fact, Text) else clean(fact))
    tell(Group(title, grid, ""))
    if shape.token is not None:
        _show(shape.token, shape.address)


def _facts(plan: Plan, shape: ServeShape) -> Iterator[tuple[str, str | Text]]:
    yield "address", Text(shape.address, style="cyan")
    yield "store", shape.store
    yield "access", _access(plan, shape)
    if not plan.is_loopback and plan.tls_cert is None:
        yield "", Text("tokens travel as they are: put a proxy with TLS in front, or use --tls-cert", style="yellow")
    if plan.read_only:
        yield "", "to look only; nobody changes anything here"
    if plan.nats is not None:
        from detent.surfaces.bus.addresses import shown_url  # it needs packages that not everybody has

        yield "bus", f"{shown_url(plan.nats)}, for pools of workers"
    if plan.no_reconcile:
        yield "time", "left to others: leases that run out, retries that come due"
    yield "stop", f"Ctrl-C or SIGTERM; requests then have {span(plan.drain_s)} to finish, a second one cuts them off"


def _access(plan: Plan, shape: ServeShape) -> str | Text:
    if plan.no_auth:
        return Text("for every program on this machine: nobody is asked for a token", style="yellow")
    if shape.token is not None:
        return "by token; the first one is below"
    return "by token; to make one: detent token create NAME --scope SCOPE"


def _show(token: FirstToken, address: str) -> None:
    """Never wrapped: whoever copies it would copy the line ends, too."""
    console = screen(stderr=True)
    told = Text.assemble(
        ("  A token for an admin. It is shown now, and never again:\n\n", "bold"),
        (f"    {token.text}\n\n", "green"),
        ("  With it in $TOKEN:\n\n", ""),
        (f'    curl -H "Authorization: Bearer $TOKEN" {address}/v1/session\n', "dim"),
    )
    click.echo(rendered(console, told, is_wrapped=False), err=True, nl=False)


def _first(made: NewToken) -> FirstToken:
    token = made.token
    return FirstToken(id=token.id, name=token.name, text=made.text, expires_at=token.expires_at)
