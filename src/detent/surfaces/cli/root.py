"""`detent` itself: the commands it has, and what becomes of their errors."""

import os
import sys
from io import TextIOWrapper
from pathlib import Path
from typing import Any, Final

import click

from detent.errors import DetentError
from detent.surfaces.cli.bench import bench
from detent.surfaces.cli.command import EXIT_CODES, Group
from detent.surfaces.cli.completion import completion
from detent.surfaces.cli.demo import demo
from detent.surfaces.cli.dlq import dlq
from detent.surfaces.cli.enqueue import enqueue
from detent.surfaces.cli.event import event
from detent.surfaces.cli.failure import InJson, Interrupted, failure_of
from detent.surfaces.cli.interruption import interruptible
from detent.surfaces.cli.job import job
from detent.surfaces.cli.lifecycle import lifecycle
from detent.surfaces.cli.migrate import migrate
from detent.surfaces.cli.options import JSON_ASKED
from detent.surfaces.cli.policy import policy
from detent.surfaces.cli.prune import prune
from detent.surfaces.cli.queue import queue
from detent.surfaces.cli.reconcile import reconcile
from detent.surfaces.cli.replay import replay
from detent.surfaces.cli.schedule import schedule
from detent.surfaces.cli.serve import serve
from detent.surfaces.cli.token import token
from detent.surfaces.cli.verify import verify
from detent.surfaces.cli.width import forget_nonsense
from detent.surfaces.cli.worker import worker
from detent.surfaces.cli.workers import workers
from detent.version import __version__

STDERR: Final = 2  # the last of the three standard streams
# In the order in which `detent --help` lists them.
COMMANDS: Final[tuple[click.Command, ...]] = (
    demo,
    worker,
    serve,
    enqueue,
    job,
    dlq,
    queue,
    workers,
    schedule,
    token,
    event,
    lifecycle,
    policy,
    verify,
    replay,
    reconcile,
    migrate,
    prune,
    bench,
    completion,
)


class Root(Group):
    """Errors of Detent end a command with a message and an exit code, never with a traceback."""

    def main(self, *args: Any, **extra: Any) -> Any:
        fill_standard_streams()
        forget_nonsense()
        return super().main(*args, **extra)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # Until a command has read its options: an error in them is to be JSON already.
        ctx.meta[JSON_ASKED] = "--json" in args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return self._invoke(ctx)
        except click.ClickException as error:
            raise InJson(error) if ctx.meta.get(JSON_ASKED) else error from error

    def _invoke(self, ctx: click.Context) -> Any:
        try:
            with interruptible():
                return super().invoke(ctx)
        except DetentError as error:
            raise failure_of(error) from error
        except (KeyboardInterrupt, click.Abort) as error:  # the second: at a question
            raise Interrupted from error


def fill_standard_streams() -> None:
    """A stream that was closed beforehand would leave its number to the next file that is opened: the store's."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= STDERR:
        pass
    os.close(number)
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115  # for good
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # a terminal without a character is no reason to end


@click.group(
    cls=Root,
    commands=COMMANDS,
    epilog="Exit codes: " + ", ".join(f"{code} {meaning}" for code, meaning in EXIT_CODES.items()) + ".",
)
@click.version_option(__version__, prog_name="detent", message="%(prog)s %(version)s")
def main() -> None:
    """Durable jobs, each on a declared and enforced lifecycle, with every move on the record."""
