"""Every command on PostgreSQL: with `--url postgresql://…` it does and says what it does and says on SQLite."""

import json
import re
import signal
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
from click.testing import Result

from detent.client import SyncClient, connect
from detent.client.addresses import for_libpq
from tests.client.places import OnPostgres, OnSqlite
from tests.client.world import World
from tests.surfaces.calls import CALLS, OPENING, SLOW, fill
from tests.surfaces.meanwhile import Deed, cancel, complete, fail, meanwhile
from tests.surfaces.running import Path_, Site, detent

# What differs from one run to the next: made-up ids, moments, how long something took, and where a log is read on.
VARYING: Final = (
    (re.compile(r"dt_[0-9a-f]{16}_[A-Za-z0-9_-]{43}"), "<text>"),
    (re.compile(r"\b[0-9a-f]{16}\b|[0-9a-f]{32}"), "<id>"),
    (re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?( UTC|Z)?"), "<moment>"),
    (re.compile(r"\b\d\d:\d\d:\d\d(\.\d+)?( UTC)?"), "<moment>"),
    (re.compile(r"\b(just now|now|\d+(\.\d+)? m?s( ago)?)\b"), "<age>"),
    (re.compile(r"─+"), "─"),  # as long as the widest row is, which has an age in it
    (re.compile(r"\b1[789]\d{14}\b"), "<moment>"),
    (re.compile(r'[\d,]+ events a second|"took_s": [\d.]+'), "<figure>"),
    (re.compile(r'"cursor": ?"[^"]+"'), "<cursor>"),
)


class PostgresSite(Site):
    """A database with jobs."""

    def __init__(self, url: str) -> None:
        self.url = url

    def client(self, tenant: str = "default", **more: Any) -> AbstractContextManager[SyncClient]:
        return connect(self.url, tenant=tenant, **more)


def said(site: Site, result: Result) -> tuple[int, str, str]:
    return result.exit_code, masked(site, result.stdout), masked(site, result.stderr)


def masked(site: Site, text: str) -> str:
    """In one line, as wide as it may be."""
    for own in (site.url, str(getattr(site, "path", site.url))):
        text = text.replace(own, "<store>")
    for pattern, instead in VARYING:
        text = pattern.sub(instead, text)
    return " ".join(text.split())


@pytest.mark.parametrize(
    "path",
    [*(path for path in OPENING if path not in SLOW), ("lifecycle", "list"), ("lifecycle", "show")],
    ids=" ".join,
)
def test_command_does_and_says_the_same_as_on_sqlite(site: Site, pg_emptied: str, path: Path_) -> None:
    told = []
    for each in (site, PostgresSite(pg_emptied)):
        fill(each)
        call = (*path, *CALLS[path], "--url", each.url)
        results = [detent(*call, columns=400), detent(*call, "--json", columns=400)]
        told.append([said(each, result) for result in results])

    assert told[1] == told[0]


# Of a store that was last written to long ago: leases are over, and what has ended is old.
LONG_AGO: Final[dict[str, Path_]] = {
    "reconcile": ("reconcile", "--once"),
    "prune": ("prune", "--successes", "1d", "--others", "1d"),
    "list": ("job", "list", "--phase", "ended"),
    "count": ("job", "count", "--by", "state", "--by", "queue"),
    "explain a lease that is over": ("job", "explain", "running"),
    "explain an end": ("job", "explain", "setaside"),
    "history": ("job", "history", "ended"),
    "letters": ("dlq", "list"),
    "redrive": ("dlq", "redrive", "--all", "--yes"),
    "purge": ("dlq", "purge", "--all", "--yes"),
    "replay": ("replay", "--until", "2025-02-01T16:00:01Z"),
    "replay of a job": ("replay", "--job", "ended", "--until", "2025-02-01T16:00:00.2Z"),
    "cancel": ("job", "cancel", "waiting", "--reason", "no longer wanted"),
    "nobody": ("job", "show", "nobody"),
    "what the state does not have": ("job", "approve", "ended"),
}


@pytest.mark.parametrize("what", LONG_AGO)
def test_command_on_a_store_of_long_ago_says_the_same_as_on_sqlite(tmp_path: Path, pg_emptied: str, what: str) -> None:
    told = []
    for place, site in ((OnSqlite(tmp_path), Site(tmp_path)), (OnPostgres(pg_emptied), PostgresSite(pg_emptied))):
        world = World(place)
        world.prepare()
        world.close()
        results = [detent(*call, "--url", site.url, columns=400) for call in (LONG_AGO[what], ("job", "list"))]
        told.append([said(site, result) for result in (*results, detent("verify", "--url", site.url))])

    assert told[1] == told[0]
    assert told[0][0][0] != 2, "it is called as it is meant to be"


def test_follower_sees_what_other_processes_write_each_event_once(pg_emptied: str) -> None:
    site = PostgresSite(pg_emptied)
    with site.client() as client:
        client.enqueue("scan", job_id="first")
        process = site.process("event", "tail", "--json")
        assert process.stdout is not None
        lines = [process.stdout.readline()]
        for number in range(20):
            client.enqueue("scan", job_id=str(number))
        lines += [process.stdout.readline() for _ in range(20)]
    process.send_signal(signal.SIGINT)
    rest, errors = process.communicate(timeout=30)

    assert [json.loads(line)["job_id"] for line in lines] == ["first", *map(str, range(20))]
    assert (process.returncode, rest, errors) == (0, "", "")


@pytest.mark.parametrize(("deed", "exit_code"), [(complete, 0), (fail, 10), (cancel, 11)])
def test_enqueue_waits_for_what_others_make_of_the_job(pg_emptied: str, deed: Deed, exit_code: int) -> None:
    site = PostgresSite(pg_emptied)

    with meanwhile(site, deed):
        result = site.detent("enqueue", "scan", "--wait")

    assert result.exit_code == exit_code


def test_worker_is_measured_in_a_schema_that_is_gone_afterwards(pg_emptied: str) -> None:
    shown = json.loads(PostgresSite(pg_emptied).detent("bench", "--worker", "--jobs", "30", "--json").stdout)

    assert (shown["synchronous"], shown["worker"]["jobs"], shown["worker"]["whole"]) == ("server", 30, 30)
    with psycopg.connect(for_libpq(pg_emptied)) as connection:
        left = connection.execute("select count(*) from pg_namespace where nspname like 'detent_bench_%'").fetchone()
    assert left == (0,)
