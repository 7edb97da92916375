"""`detent token`: access tokens; give them out, look at them, revoke them."""

import click

from detent.surfaces.cli.command import Group
from detent.surfaces.cli.token.creating import create
from detent.surfaces.cli.token.listing import list_
from detent.surfaces.cli.token.revoking import revoke


@click.group(cls=Group, commands=(create, list_, revoke))
def token() -> None:
    """Look after access tokens.

    A token says who asks, and what they may do. The store keeps a digest of each: its text is shown once, when it is
    made.
    """
