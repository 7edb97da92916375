"""`detent serve`: the command."""

import asyncio
import logging
import os
import sys
from contextlib import ExitStack
from time import monotonic
from typing import Any, Final

import click

from detent.surfaces.cli.command import Command
from detent.surfaces.cli.numbers import counted
from detent.surfaces.cli.options import JSON, URL, Seconds
from detent.surfaces.cli.output import write_json
from detent.surfaces.cli.serve.banner import ServeShape, shape_of, show_banner
from detent.surfaces.cli.serve.first_token import first_token
from detent.surfaces.cli.serve.plan import Names, Plan
from detent.surfaces.cli.serve.site import site_of
from detent.surfaces.cli.serve.status import watched
from detent.surfaces.cli.times import span
from detent.surfaces.cli.worker.member import SIGNALS
from detent.surfaces.telemetry.logs import LogSettings, set_up_logs
from detent.surfaces.telemetry.tracing import set_up_tracing

NAME: Final = "detent.serve"
ACCESS: Final = "detent.http.access"
SERVICE: Final = "detent-serve"  # what its spans are from, unless OTEL_SERVICE_NAME says otherwise
PORT: Final = 8321
PORT_MAX: Final = 65_535
_FILE: Final = click.Path(dir_okay=False)


@click.command(
    cls=Command,
    shape=ServeShape,
    example="detent serve\ndetent serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem",
)
@click.option(
    "--host",
    envvar="DETENT_HOST",
    default="127.0.0.1",
    show_default=True,
    metavar="HOST",
    help="Listen at this address.",
)
@click.option(
    "--port", envvar="DETENT_PORT", type=click.IntRange(0, PORT_MAX), default=PORT, show_default=True, metavar="N",
    help="And at this port; 0: one that is free.",
)  # fmt: skip
@click.option("--read-only", envvar="DETENT_READ_ONLY", is_flag=True, help="Let nobody change anything.")
@click.option("--no-auth", envvar="DETENT_NO_AUTH", is_flag=True, help="Ask nobody for a token; only on loopback.")
@click.option(
    "--no-reconcile",
    envvar="DETENT_NO_RECONCILE",
    is_flag=True,
    help="Leave what time demands to workers; over HTTP their tokens need the scope operate.",
)
@click.option(
    "--drain", "drain_s", envvar="DETENT_DRAIN", type=Seconds(), default="10s", show_default=True,
    help="For requests to finish when it is to stop.",
)  # fmt: skip
@click.option("--tls-cert", envvar="DETENT_TLS_CERT", type=_FILE, metavar="FILE", help="Speak HTTPS, with this (PEM).")
@click.option("--tls-key", envvar="DETENT_TLS_KEY", type=_FILE, metavar="FILE", help="Its key, if not in there.")
@click.option(
    "--log-format", envvar="DETENT_LOG_FORMAT", type=click.Choice(["text", "json"]), default="text", show_default=True,
    help="How log lines are written, on stderr.",
)  # fmt: skip
@click.option("--quiet", "is_quiet", envvar="DETENT_QUIET", is_flag=True, help="Log no line for each request.")
@click.option(
    "--redact", envvar="DETENT_REDACT", type=Names(), default="", metavar="FIELD,…",
    help="Show the values of these fields in no event and no log.",
)  # fmt: skip
@click.option(
    "--legacy-events",
    envvar="DETENT_LEGACY_EVENTS",
    is_flag=True,
    help="Emit telemetry of engines under the names it used to have, too.",
)
@click.option(
    "--kinds", envvar="DETENT_KINDS", type=_FILE, metavar="FILE",
    help="Which kinds of jobs there are (TOML), and the JSON Schemas of their payloads.",
)  # fmt: skip
@click.option(
    "--nats", envvar="NATS_URL", metavar="URL",
    help="Give jobs to pools of workers over this NATS bus, in the Cordum Agent Protocol.",
)  # fmt: skip
@click.option("--bus", envvar="DETENT_BUS", type=_FILE, metavar="FILE", help="How it is on that bus (TOML).")
@URL
@JSON
def serve(*, as_json: bool, **given: Any) -> None:
    """Serve jobs over HTTP, to programs in any language.

    On a store without a token for an admin, one is made and shown, once. It goes on until SIGTERM or Ctrl-C: then it
    begins nothing new, sends away who waits, lets requests finish, and exits with 0. A second signal cuts them off.
    Every option can also be set in the environment: --read-only is $DETENT_READ_ONLY.
    """
    plan = Plan(**given)
    site = site_of(plan)
    is_watched = not as_json and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    if plan.is_quiet:
        logging.getLogger(ACCESS).setLevel(logging.WARNING)
    set_up_logs(LogSettings(format=plan.log_format, is_watched=is_watched, redact=",".join(plan.redact)))
    began_s = monotonic()
    with ExitStack() as stack:
        stack.callback(set_up_tracing(SERVICE))

        async def ready() -> None:
            shape = shape_of(plan, site, await first_token(site.service))
            if as_json:
                write_json(shape)
            else:
                show_banner(plan, shape)
            if is_watched:
                stack.enter_context(watched(site.serving.look))

        asyncio.run(site.serving.run(ready, SIGNALS))
    requests = counted(site.serving.look().requests, "request")
    logging.getLogger(NAME).info("stopped after %s: %s", span(monotonic() - began_s), requests)
