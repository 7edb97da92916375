"""`detent reconcile`: do what time demands of jobs, again and again."""

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from select import select
from typing import Final

import click
from msgspec import Struct

from detent.client import SyncClient
from detent.client.addresses import without_secrets
from detent.client.connecting import DEFAULT_URL
from detent.client.scope import DEFAULT_TENANT
from detent.client.upkeep import RECONCILE_MAX
from detent.errors import StoreError
from detent.surfaces.cli.chatter import remark
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.numbers import counted
from detent.surfaces.cli.opening import opened
from detent.surfaces.cli.options import JSON, URL, Seconds
from detent.surfaces.cli.output import say, write_line
from detent.surfaces.cli.times import clock, span

EVERY_S: Final = 1.0
EVERY_S_MIN: Final = 0.01  # more often would keep the others from writing
EVERY_S_MAX: Final = 86_400.0
LIMIT: Final = 1_000

Stopped = Callable[[float], bool]


class PassShape(Struct, frozen=True, kw_only=True):
    """A pass that moved jobs, and when it was over; with --once all passes together, also if they moved none."""

    at: datetime
    moved: int


@click.command(
    cls=Command,
    example="detent reconcile --url sqlite:///jobs.db\ndetent reconcile --once",
    shape=PassShape,
    stream=True,
)
@URL
@click.option("--once", is_flag=True, help="Do what is due now, and end.")
@click.option("--every", default=f"{EVERY_S:g}s", show_default=True, type=Seconds(), help="Between passes: 500ms, 1s.")
@click.option(
    "--limit",
    default=LIMIT,
    show_default=True,
    type=click.IntRange(1, RECONCILE_MAX),
    metavar="N",
    help="Jobs in one pass.",
)
@JSON
def reconcile(url: str | None, once: bool, every: float, limit: int, as_json: bool) -> None:
    """Take jobs from dead workers, and do what else is due.

    Leases that ran out, time limits, retries and delays that are over, of all tenants. Without --once it goes on until
    it is interrupted, and makes the store if there is none. Several may run at once.
    """
    _check_every(every)
    if once:
        with opened(url, DEFAULT_TENANT) as client:
            _tell(_drain(client, limit), as_json=as_json)
        return
    with _stopping() as stopped, opened(url, DEFAULT_TENANT, create=True) as client:
        remark(
            f"Looking after {without_secrets(url or DEFAULT_URL)} every {span(every)}, all tenants, until interrupted."
        )
        _go_on(client, every, limit, stopped, as_json=as_json)


def _check_every(every: float) -> None:
    if not EVERY_S_MIN <= every <= EVERY_S_MAX:
        raise click.UsageError(f"--every is {every:g} s; give {span(EVERY_S_MIN)} to {span(EVERY_S_MAX)}.")


def _drain(client: SyncClient, limit: int) -> int:
    """A move may make another due at once, so it ends with a pass that finds nothing."""
    total = 0
    while moved := client.reconcile(limit=limit):
        total += moved
    return total


def _go_on(client: SyncClient, every: float, limit: int, stopped: Stopped, *, as_json: bool) -> None:
    while True:
        moved = _pass(client, limit)
        if moved:
            _tell(moved, as_json=as_json)
        if stopped(0 if moved == limit else every):  # a full pass may have left some
            return


def _pass(client: SyncClient, limit: int) -> int:
    """Whoever keeps the store locked will let go of it; there is a next pass."""
    try:
        return client.reconcile(limit=limit)
    except StoreError as error:
        if error.code != "store_locked":
            raise
        remark(f"{clock(datetime.now(UTC))} nothing done, trying again: {error}")
        return 0


def _tell(moved: int, *, as_json: bool) -> None:
    at = datetime.now(UTC)
    if as_json:
        write_line(PassShape(at=at, moved=moved))
    else:
        say(f"{clock(at)} UTC  {counted(moved, 'job')} moved")


@contextmanager
def _stopping() -> Iterator[Stopped]:
    """`stopped` waits for so long, or until SIGINT or SIGTERM has come. A pass that is under way is not disturbed.

    A signal leaves a byte in a socket, so that none can slip in between a question and the wait.
    """
    heard, told = socket.socketpair()
    told.setblocking(False)
    signals = (signal.SIGINT, signal.SIGTERM)
    with heard, told:
        wakeup = signal.set_wakeup_fd(told.fileno())
        handlers = [signal.signal(each, lambda *_: None) for each in signals]
        try:
            yield lambda seconds: bool(select([heard], [], [], seconds)[0])
        finally:
            for each, handler in zip(signals, handlers, strict=True):
                signal.signal(each, handler)
            signal.set_wakeup_fd(wakeup)
