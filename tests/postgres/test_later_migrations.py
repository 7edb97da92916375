"""A later program's migration, while others hold locks, write, or have no right to migrate."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import psycopg
import pytest

from detent import DetentError
from detent.store import Migration
from detent.store.postgres import migrating
from tests.postgres.casting import OWNER, STRANGER, as_role, cast, give_rights, owned
from tests.postgres.clients import opened
from tests.postgres.server import Server, database_of
from tests.postgres.waiting import until
from tests.store.sqlite.files import raises

COLUMN: Final = "alter table detent_events add column extra text"
TABLE: Final = "create table detent_extras (n int)"
NEXT: Final = len(migrating.migrations()) + 1
HELD_UP_S_MAX: Final = 1.5
WRITES: Final = 30
Later = Callable[[str], None]


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Later:
    """From now on, this program has one more migration."""
    known = migrating.migrations()

    def bring(sql: str) -> None:
        another = Migration(number=NEXT, name="another", sql=sql)
        monkeypatch.setattr(migrating, "migrations", lambda: (*known, another))

    return bring


@pytest.fixture
def url(pg_url: str) -> str:
    with opened(pg_url) as client:
        client.enqueue("scan")
    return pg_url


def test_later_migration_is_applied_by_whoever_opens_first(pg_server: Server, url: str, later: Later) -> None:
    later(COLUMN)
    for _ in range(2):
        with opened(url) as client:
            client.enqueue("scan")

    applied = pg_server.psql("select number, name from detent_migrations order by 1", url)
    assert (len(applied), applied[-1]) == (NEXT, (NEXT, "another"))


def test_migration_that_fails_leaves_nothing_behind(pg_server: Server, url: str, later: Later) -> None:
    later(f"{TABLE}; select 1 / 0")
    with raises("store_io"), opened(url):
        pass

    assert pg_server.psql("select to_regclass('detent_extras')", url) == [(None,)]
    assert pg_server.psql("select count(*) from detent_migrations", url) == [(NEXT - 1,)]


@pytest.mark.alone
@pytest.mark.parametrize("end", ["in time", "too late"])
def test_others_write_on_while_a_migration_waits_for_a_long_transaction(
    pg_server: Server, url: str, later: Later, end: str
) -> None:
    """It gives up its place in the line soon, again and again: those behind it are not held up for long."""
    held_up: list[float] = []
    with opened(url) as worker, psycopg.connect(url) as reader, ThreadPoolExecutor(1) as pool:
        reader.execute("select count(*) from detent_events")  # and does not end
        later(COLUMN)
        migration = pool.submit(open_once, url, busy_s=30 if end == "in time" else 1)
        assert until(lambda: is_in_line(pg_server, url))
        while len(held_up) < WRITES:
            began_s = time.monotonic()
            worker.enqueue("scan")
            held_up.append(time.monotonic() - began_s)
        answer = None if end == "in time" else migration.result()
        reader.rollback()
        answer = answer or migration.result()

        assert max(held_up) < HELD_UP_S_MAX
        assert answer == ("migrated" if end == "in time" else "store_locked")
        assert len(worker.find(limit=100).items) == WRITES + 1
    with opened(url):
        pass
    assert pg_server.psql("select count(*) from detent_migrations", url) == [(NEXT,)]


def test_app_that_may_not_migrate_is_told_who_has_to(pg_server: Server, pg_url: str) -> None:
    owner = owned(pg_server, pg_url)
    with raises("store_read_only") as refused, opened(as_role(pg_url, STRANGER)):
        pass

    assert "it lacks migration 1 (first), and this role may not apply it" in str(refused.value)
    assert "let the owner run `detent migrate`" in str(refused.value)
    with opened(owner) as client:
        assert client.enqueue("scan").state == "queued"


def test_app_is_let_in_again_after_a_migration_by_the_owner_and_its_rights(
    pg_server: Server, pg_url: str, later: Later
) -> None:
    cast(pg_server, pg_url)
    later(TABLE)
    with raises("store_read_only") as refused, opened(as_role(pg_url, "web")):
        pass
    with opened(as_role(pg_url, OWNER)):
        pass
    give_rights(pg_url)

    assert f"it lacks migration {NEXT} (another)" in str(refused.value)
    for person in ("web", "janitor", "ann"):
        assert pg_server.psql("select has_table_privilege(%s, 'detent_extras', 'SELECT')", pg_url, (person,)) == [
            (True,)
        ]
    with opened(as_role(pg_url, "web")) as client:
        assert client.enqueue("scan").state == "queued"


def open_once(url: str, **settings: Any) -> str:
    try:
        with opened(url, **settings):
            return "migrated"
    except DetentError as refused:
        return refused.code


def is_in_line(server: Server, url: str) -> bool:
    """Whether a migration waits for its lock."""
    waiting = "select 1 from pg_stat_activity where datname = %s and wait_event_type = 'Lock' and query like 'alter%%'"
    return server.psql(waiting, given=(database_of(url),)) != []
