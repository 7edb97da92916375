"""What a service is asked to do on the command line, and what cannot be asked of it."""

import socket
from typing import Any

import click
from msgspec import Struct

from detent.surfaces.cli.failure import Misused
from detent.surfaces.http.listening import is_loopback
from detent.surfaces.telemetry.logs import LogFormat


class Plan(Struct, frozen=True, kw_only=True):
    host: str
    port: int
    url: str | None
    read_only: bool
    no_auth: bool
    no_reconcile: bool
    drain_s: float
    tls_cert: str | None
    tls_key: str | None
    log_format: LogFormat
    is_quiet: bool
    redact: tuple[str, ...]
    legacy_events: bool
    nats: str | None
    bus: str | None
    kinds: str | None

    def check(self) -> None:
        """What goes wrong here is told before anything is opened."""
        if self.tls_key is not None and self.tls_cert is None:
            raise Misused("there is a --tls-key and no --tls-cert; give both, or neither")
        if self.bus is not None and self.nats is None:
            raise Misused("there are settings of a --bus and no --nats; say where the bus is, such as nats://127.0.0.1")
        if self.read_only and self.nats is not None:
            raise Misused("a service that is --read-only changes nothing for a bus either; leave out one of the two")
        if self.no_auth and not self.is_loopback:
            message = f"--no-auth at {self.host} would let anybody who reaches it do anything"
            raise Misused(f"{message}; leave --no-auth out, or listen at 127.0.0.1")

    @property
    def is_loopback(self) -> bool:
        try:
            return is_loopback(self.host)
        except (socket.gaierror, UnicodeError) as error:
            raise Misused(f"--host {self.host} is no address of this machine: {_reason(error)}") from None


class Names(click.ParamType[tuple[str, ...]]):
    """Names with commas between them."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        given = value.split(",") if isinstance(value, str) else value
        return tuple(name for each in given if (name := each.strip()))


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or "it is not understood"
