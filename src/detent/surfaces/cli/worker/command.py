"""`detent worker`: the command."""

import asyncio
import logging
import os
import sys
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from time import monotonic
from typing import Any, Final

import click

from detent.app import App
from detent.lifecycle.bounds import check_name
from detent.runtime.observing import Logging
from detent.runtime.settings import SLOTS_MAX
from detent.surfaces.cli.command import Command
from detent.surfaces.cli.failure import Failure
from detent.surfaces.cli.options import Seconds
from detent.surfaces.cli.times import span
from detent.surfaces.cli.worker.banner import show_banner
from detent.surfaces.cli.worker.counts import Counts, counts_of
from detent.surfaces.cli.worker.crew import PROCESSES_MAX, Crew
from detent.surfaces.cli.worker.member import SIGNALS
from detent.surfaces.cli.worker.memory import look_seldom
from detent.surfaces.cli.worker.metrics import HOST, served
from detent.surfaces.cli.worker.plan import SERVICE, Plan, app_of, made_up_name, worker_of
from detent.surfaces.cli.worker.status import logged, told, watched
from detent.surfaces.telemetry.logs import NAME, LogSettings, set_up_logs
from detent.surfaces.telemetry.tracing import set_up_tracing

PORT_MAX: Final = 65_535
_SLOTS: Final = click.IntRange(1, SLOTS_MAX)


@click.command(
    cls=Command,
    example="detent worker shop.jobs:app\ndetent worker shop.jobs:app --queue ocr --concurrency 50 --processes 4",
)
@click.argument("target", metavar="MODULE:APP")
@click.option(
    "--queue", "-q", "queues", multiple=True, metavar="NAME", help="Serve this queue, and more if said again. Else all."
)
@click.option("--concurrency", "-c", type=_SLOTS, metavar="N", help="Async handlers at once: 100.")
@click.option("--threads", type=_SLOTS, metavar="N", help="Handlers in threads at once: 16.")
@click.option("--children", type=_SLOTS, metavar="N", help="Handlers in processes of their own at once: one a core.")
@click.option(
    "--processes", "-p", type=click.IntRange(1, PROCESSES_MAX), default=1, show_default=True, metavar="N",
    help="So many processes, each with all of the above.",
)  # fmt: skip
@click.option("--grace", "grace_s", type=Seconds(), help="For handlers to finish when it is to stop: 30s.")
@click.option("--name", metavar="NAME", help="What it is called on the record; else by host and process.")
@click.option("--metrics-port", type=click.IntRange(0, PORT_MAX), metavar="N", help="Serve Prometheus metrics there.")
@click.option("--metrics-host", default=HOST, show_default=True, metavar="HOST", help="And at this address.")
@click.option(
    "--log-format", type=click.Choice(["text", "json"]), envvar="DETENT_LOG_FORMAT", default="text", show_default=True,
    help="How log lines are written, on stderr: $DETENT_LOG_FORMAT.",
)  # fmt: skip
@click.option("--url", metavar="URL", help="Another store than the app's own.")
@click.option("--tenant", metavar="NAME", help="Another tenant than the app's own.")
def worker(
    target: str, processes: int, name: str | None, metrics_port: int | None, metrics_host: str, **given: Any
) -> None:
    """Run the jobs of an app.

    MODULE is imported, and found in the current directory, too; APP is what the App is called in there. It goes on
    until SIGTERM or Ctrl-C, lets handlers finish, gives back what is left, and exits with 0. A second signal ends it
    at once. Beside running jobs it does what time demands of them, and makes those that are declared with cron.
    """
    is_terminal = sys.stderr.isatty() and os.environ.get("TERM") != "dumb"
    is_watched = is_terminal and given["log_format"] == "text"
    plan = Plan(target=target, name=name or made_up_name(), is_watched=is_watched, **given)
    check_name("name", plan.name)
    app = app_of(plan)
    logs = plan.logs(is_one_of_several=processes > 1)
    child_logs = logs if set_up_logs(logs) else None
    began_s = monotonic()
    runner = partial(_alone, child_logs) if processes == 1 else _several
    with ExitStack() as stack:
        stack.callback(set_up_tracing(SERVICE))

        def ready(look: Callable[[], Counts]) -> None:
            metrics = None if metrics_port is None else stack.enter_context(served(look, metrics_host, metrics_port))
            show_banner(plan, app, processes, metrics)
            stack.enter_context(watched(look) if is_watched else logged(look))

        counts = asyncio.run(runner(plan, app, processes, ready))
    logging.getLogger(NAME).info("stopped after %s: %s", span(monotonic() - began_s), told(counts))


Ready = Callable[[Callable[[], Counts]], None]


async def _alone(logs: LogSettings | None, plan: Plan, app: App, _processes: int, ready: Ready) -> Counts:
    worker = worker_of(plan, app, Logging(), logs)
    look_seldom()
    ready(lambda: counts_of(worker))
    await worker.run(signals=SIGNALS)
    return counts_of(worker)


async def _several(plan: Plan, app: App, processes: int, ready: Ready) -> Counts:
    async with app.connect():  # that it can be opened is seen before anybody starts, and by one alone
        pass
    crew = Crew(plan, processes)
    ready(crew.look)
    await crew.run()
    if not crew.is_clean:
        raise Failure("processes that did not end at once were killed; their jobs run again when their leases are over")
    return crew.look()
