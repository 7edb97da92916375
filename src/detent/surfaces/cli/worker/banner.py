"""What a worker says when it starts: what it will run, and on what."""

import logging
import os
from collections.abc import Iterator
from typing import Final

from rich.console import Group
from rich.table import Table
from rich.text import Text

from detent.app import App
from detent.app.registration import Registration
from detent.client.addresses import without_secrets
from detent.client.connecting import DEFAULT_URL
from detent.runtime import Settings
from detent.store import Store
from detent.store.sqlite import SqliteStore
from detent.surfaces.cli.chatter import tell
from detent.surfaces.cli.numbers import counted
from detent.surfaces.cli.output import clean
from detent.surfaces.cli.times import span
from detent.surfaces.cli.worker.plan import Plan
from detent.surfaces.telemetry.logs import NAME
from detent.version import __version__

KINDS_MAX: Final = 20  # an app with more has its own list of them
_HEADINGS: Final = ("job", "queue", "lifecycle", "runs as", "cron")


def show_banner(plan: Plan, app: App, processes: int, metrics: str | None) -> None:
    """For people; where every line is to be JSON, a line of the log says the same."""
    if plan.log_format == "json":
        queues = plan.settings(app).queues
        served = {"store": address_of(app), "queues": queues, "processes": processes, "metrics": metrics}
        logging.getLogger(NAME).info("worker %s serves %s", plan.name, ", ".join(queues), extra=served)
        return
    title = Text.assemble(Text(f"detent {__version__}", style="bold"), f" worker {clean(plan.name)}")
    jobs = _jobs(app.registrations(plan.queues or None))
    tell(Group(title, _facts(plan, app, processes, metrics), "", jobs, ""))


def address_of(app: App) -> str:
    """Where its store is, for people to read."""
    return without_secrets(app.url or os.environ.get("DETENT_URL") or DEFAULT_URL)


def _facts(plan: Plan, app: App, processes: int, metrics: str | None) -> Table:
    settings = plan.settings(app)
    facts = [
        ("store", f"{address_of(app)}, {_durability(app.connect().store)}"),
        ("tenant", app.tenant if app.tenant != "default" else ""),
        ("queues", ", ".join(settings.queues)),
        ("at once", _room(plan, app, settings, processes)),
        ("metrics", metrics or ""),
        ("stop", f"Ctrl-C or SIGTERM; handlers then have {span(settings.grace_s)} to finish, a second one ends it now"),
    ]
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column(overflow="fold")
    for name, fact in facts:
        if fact:
            grid.add_row(f"  {name}", clean(fact))
    return grid


def _durability(store: Store) -> str:
    if getattr(store, "is_tended", False):
        return "which answers only what is durable there"
    if not isinstance(store, SqliteStore):
        return "as durable as the server's synchronous_commit"
    is_full = store.synchronous == "full"
    return "every commit on disk" if is_full else "a power cut may take the last commits"


def _room(plan: Plan, app: App, settings: Settings, processes: int) -> str:
    """`100 on the loop, 16 in threads; in each of 4 processes`."""
    sizes = {
        "async": f"{settings.concurrency:,} on the event loop",
        "thread": f"{settings.threads:,} in threads",
        "process": f"{settings.children:,} in processes of their own",
    }
    used = dict.fromkeys(each.isolation for each in app.registrations(plan.queues or None))
    room = ", ".join(sizes[isolation] for isolation in used)
    return room if processes == 1 else f"{room}; in each of {counted(processes, 'process', 'processes')}"


def _jobs(registrations: list[Registration]) -> Table:
    has_cron = any(each.cron for each in registrations)
    table = Table.grid(padding=(0, 2))
    for heading in _HEADINGS[: None if has_cron else -1]:
        table.add_column(heading, overflow="fold")
    table.add_row(*(Text(f"  {each}" if not number else each, style="dim") for number, each in _numbered(has_cron)))
    for each in registrations[:KINDS_MAX]:
        table.add_row(*_row(each)[: None if has_cron else -1])
    if len(registrations) > KINDS_MAX:
        table.add_row(Text(f"  and {len(registrations) - KINDS_MAX} more", style="dim"))
    return table


def _numbered(has_cron: bool) -> Iterator[tuple[int, str]]:
    return iter(list(enumerate(_HEADINGS))[: None if has_cron else -1])


def _row(each: Registration) -> tuple[Text, ...]:
    lifecycle = each.lifecycle
    cron = "" if each.cron is None else f"{each.cron.expression} {each.cron.zone}"
    return (
        Text(f"  {clean(each.kind)}", style="cyan"),
        Text(clean(each.queue)),
        Text(clean(lifecycle.name)),
        Text(each.isolation),
        Text(clean(cron)),
    )
