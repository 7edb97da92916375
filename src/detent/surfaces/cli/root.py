"""`detent` itself: the commands it has, and what becomes of their errors."""

from typing import Any, Final

import click

from detent import __version__
from detent.errors import DetentError
from detent.surfaces.cli.demo import demo
from detent.surfaces.cli.failure import failure_of
from detent.surfaces.cli.lifecycle import lifecycle

COMMANDS: Final[tuple[click.Command, ...]] = (demo, lifecycle)


class Root(click.Group):
    """Errors of Detent end a command with a message and an exit code, never with a traceback."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except DetentError as error:
            raise failure_of(error) from error


@click.group(
    cls=Root,
    commands=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 done, 1 error, 2 wrong usage, 3 not found.",
)
@click.version_option(__version__, prog_name="detent", message="%(prog)s %(version)s")
def main() -> None:
    """Durable jobs, each on a declared and enforced lifecycle, with every move on the record."""
