"""A page takes as long as the page, however many jobs have ended, and whether the server has statistics or not."""

import re
from collections.abc import Iterator
from typing import Any, Final

import psycopg
import pytest

from detent.store.postgres import finding, log
from detent.store.postgres.definitions import Definitions
from detent.store.postgres.fleet import said
from detent.store.postgres.session import Session
from detent.store.postgres.statements import SQL
from detent.store.postgres.values import numbers, texts
from detent.store.query import EventQuery, JobQuery
from tests.postgres.bulk import fill
from tests.postgres.clients import opened
from tests.postgres.explaining import touching
from tests.postgres.server import Server

JOBS: Final = 40_000
PAGE: Final = 10
TABLE_PAGES_MIN: Final = 1_000  # of each of the tables: a walk over one is noticed
TOUCHED_MAX: Final = 700


@pytest.fixture(scope="module")
def full_url(pg_server: Server) -> Iterator[str]:
    url = pg_server.new_database()
    with opened(url):
        pass
    with psycopg.connect(url) as connection:
        for table in ("jobs", "ended", "events"):
            connection.execute(f"alter table detent_{table} set (autovacuum_enabled = off)")
        fill(connection, JOBS)
    yield url
    pg_server.drop_database(url)


@pytest.fixture(params=["just loaded", "analyzed"])
def url(request: pytest.FixtureRequest, full_url: str) -> str:
    """In this order: what was analyzed stays so."""
    with psycopg.connect(full_url, autocommit=True) as connection:
        if request.param == "analyzed":
            connection.execute("analyze")
        sizes = connection.execute(
            "select min(pg_relation_size(oid) / 8192) from pg_class where relname in ('detent_ended', 'detent_events')"
        ).fetchone()
    assert sizes is not None
    assert sizes[0] > TABLE_PAGES_MIN
    return full_url


@pytest.mark.parametrize(
    "filters",
    [
        {},
        {"queue": "q1"},
        {"kind": "scan", "phase": "ended"},
        {"outcome": "success"},
        {"outcome": "failure"},
        {"workflow_id": "w"},
        {"correlation_id": "old-77"},
        {"tenant": "nobody"},
    ],
    ids=str,
)
@pytest.mark.requirement("DSP-11")
def test_page_of_jobs_is_found_without_a_walk_over_all(url: str, filters: dict[str, Any]) -> None:
    with touching(url) as touched:
        pages = touched(finding.find(Session(Definitions()), JobQuery(**filters), PAGE, None))

    assert pages < TOUCHED_MAX


@pytest.mark.parametrize("cursor", [None, "40000", "79995", "40000~39000:5-3"], ids=str)
@pytest.mark.parametrize("filters", [{}, {"verb": "complete"}, {"queue": "q1"}, {"job_id": "old-20000"}], ids=str)
def test_page_of_events_is_read_without_a_walk_over_all(url: str, filters: dict[str, Any], cursor: str | None) -> None:
    with touching(url) as touched:
        pages = touched(log.events(Session(Definitions()), EventQuery(**filters), PAGE, cursor))

    assert pages < TOUCHED_MAX


@pytest.mark.parametrize("cursor", ["0", "40000", "80000", "80000~0:5-3+4.9"])
def test_look_for_what_is_beyond_touches_a_few_pages(url: str, cursor: str) -> None:
    with touching(url) as touched:
        assert touched(log.is_beyond(Session(Definitions()), cursor)) < 30


@pytest.mark.requirement("DSP-08")
def test_look_for_jobs_without_a_verdict_touches_a_few_pages(url: str) -> None:
    """Whatever else waits: the same kind in another queue, other kinds of the same, and other lifecycles."""
    waiting = {"lifecycle": "dispatch", "kind": "scan"}
    others = [{**waiting, "queue": "elsewhere"}, {**waiting, "kind": "mail"}, {**waiting, "lifecycle": "document"}]
    with opened(url) as client:
        for _ in range(5):
            client.enqueue_many([dict(others[number % 3]) for number in range(900)])
        client.enqueue_many([dict(waiting) for _ in range(3)])
    with psycopg.connect(url) as connection:
        number = connection.execute("select lifecycle from detent_lifecycles where name = 'dispatch'").fetchone()
    assert number is not None
    values = {
        "tenant": "default", "lifecycles": numbers(number), "states": texts(["PENDING"]), "queues": texts(["default"]),
        "kinds": texts(["scan"]), "after": 0, "after_job": 0, "limit": 100,
    }  # fmt: skip
    with touching(url) as touched:
        assert touched(said(SQL["unjudged"], values)) < 100


@pytest.mark.requirement("STD-16")
def test_oldest_ready_job_is_found_by_the_index_of_what_waits(url: str) -> None:
    with opened(url) as client:
        client.enqueue_many([{"kind": "scan", "queue": f"q{number % 4}"} for number in range(900)])
    values = {"tenant": "default", "queue": None, "now": None}
    with psycopg.connect(url) as connection:
        connection.execute("set enable_seqscan = off")
        sql = re.sub(r":(\w+)::", r"%(\1)s::", SQL["oldest_ready"])
        plan = "".join(line for (line,) in connection.execute(f"explain {sql}", values))
    with touching(url) as touched:
        pages = touched(said(SQL["oldest_ready"], values))

    assert "detent_records_claimable" in plan
    assert pages < TOUCHED_MAX
