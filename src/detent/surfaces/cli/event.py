"""`detent event`: the log of all jobs, as it grows."""

from collections.abc import Iterator
from typing import Any

import click

from detent.client import Event, SyncClient
from detent.lifecycle import Lifecycle
from detent.lifecycle.words import NOTING, VERBS
from detent.store import Page
from detent.store.query import LOOK_BACK_MAX, PAGE_MAX
from detent.surfaces.cli.chatter import remark
from detent.surfaces.cli.command import Command, Group
from detent.surfaces.cli.failure import Missing, guess
from detent.surfaces.cli.job.filters import say_unknown
from detent.surfaces.cli.job.naming import complete_job, opened_for
from detent.surfaces.cli.log_lines import Lines
from detent.surfaces.cli.options import JSON, Moment, Seconds, store_options
from detent.surfaces.cli.output import Screen, write_line
from detent.surfaces.cli.suggesting import suggested
from detent.surfaces.shapes import event_shape
from detent.wire.http.events import EventShape

LAST = 10
LAST_MAX = 1_000


@click.group(cls=Group)
def event() -> None:
    """Follow the log of all jobs."""


@event.command(cls=Command, example="detent event tail --queue ocr --json | jq .type", shape=EventShape, stream=True)
@click.option(
    "--last",
    type=click.IntRange(0, LAST_MAX),
    metavar="N",
    help="Begin with so many: 10, or with --since all of them.",
)
@click.option("--after", metavar="CURSOR", help="Begin after this place instead: the `cursor` of an event in JSON.")
@click.option("--follow/--no-follow", default=True, show_default=True, help="Wait for more, until interrupted.")
@click.option("--timeout", type=Seconds(), help="End when nothing has happened for this long: 30s, 5m.")
@click.option("--job", "job_id", metavar="JOB", shell_complete=complete_job, help="Of this job.")
@click.option("--type", help="Of this type, such as job_failed.")
@click.option("--verb", type=click.Choice(VERBS), metavar="VERB", help=f"By this verb: {', '.join(VERBS)}.")
@click.option("--queue", help="Of jobs in this queue.")
@click.option("--kind", help="Of jobs of this kind.")
@click.option("--correlation", "correlation_id", metavar="ID", help="With this correlation id.")
@click.option("--since", "at_from", type=Moment(), help="Since 15m ago, or since a time.")
@store_options
@JSON
def tail(
    url: str | None, tenant: str, as_json: bool, last: int | None, after: str | None, follow: bool,
    timeout: float | None, **filters: Any,
) -> None:  # fmt: skip
    """Print events as they are committed, each once, in the order of the log. Times are UTC."""
    asked = {name: value for name, value in filters.items() if value is not None}
    with opened_for(asked.get("job_id", ""), url, tenant) as client:
        _check(client, asked)
        before = _before(client, last, after, asked)
        lines = Lines(client, before)
        try:
            for each in _onwards(client, before, timeout, asked) if follow else _there(client, before, asked):
                write_line(event_shape(each)) if as_json else lines.write(each)
                if Screen.is_gone:
                    return
        except KeyboardInterrupt:  # the ordinary way to stop it
            return


def _before(client: SyncClient, last: int | None, after: str | None, asked: dict[str, Any]) -> Page[Event]:
    """What to begin with, and the cursor that what follows goes on from, so that nothing is lost or doubled."""
    if after is not None:
        return Page([], after)
    if last is None and "at_from" in asked:
        return client.events(limit=PAGE_MAX, **asked)  # all of them, and so from the beginning of the log
    end = client.end()  # before the look back, so that nothing comes between the two
    found = client.recent(limit=LAST if last is None else last, **asked) if last != 0 else Page([])
    if len(found) < (last or LAST) and found.cursor is not None:
        remark(f"Looked back over the last {LOOK_BACK_MAX:,} events only; --since looks at all since then.")
    return Page(found.items, found.items[-1].cursor if found.items else end)


def _there(client: SyncClient, page: Page[Event], asked: dict[str, Any]) -> Iterator[Event]:
    """What there is, to the end of the log."""
    yield from page
    while len(page := client.events(limit=PAGE_MAX, cursor=page.cursor, **asked)):
        yield from page


def _onwards(client: SyncClient, page: Page[Event], timeout: float | None, asked: dict[str, Any]) -> Iterator[Event]:
    """What there is, and what comes."""
    yield from page
    yield from client.tail(after=page.cursor, timeout_s=timeout, **asked)


def _check(client: SyncClient, asked: dict[str, Any]) -> None:
    """What no event can have is a slip. A queue or a kind may come yet, and is waited for."""
    if "job_id" in asked:
        client.get(asked["job_id"])
    types = {name for each in client.lifecycles() for name in _types(each)}
    wanted = asked.get("type")
    if wanted is not None and wanted not in types:
        see = suggested("lifecycle list", tenant=False)
        raise Missing(f"no lifecycle in this store has events of type '{wanted}'.{guess(wanted, types)} See: {see}")
    say_unknown(client, asked)


def _types(lifecycle: Lifecycle) -> Iterator[str]:
    table = lifecycle.table
    routes = [table.start, *(route for verbs in table.routes.values() for route in verbs.values())]
    yield table.heartbeat_event
    for route in routes:
        if route.verb not in NOTING:
            yield from (leg.event for leg in (route.forward, route.recovery) if leg is not None)
