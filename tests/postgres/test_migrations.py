"""Bringing a database to this program's schema, once, and refusing one that it would not understand."""

import hashlib
from typing import Final

import pytest

from tests.postgres.children import told
from tests.postgres.clients import opened
from tests.postgres.server import Server
from tests.store.sqlite.files import ROOT, ids, is_sound, raises

FILES: Final = sorted((ROOT / "src/detent/store/postgres/migrations").glob("*.sql"))
# The number, the name and the checksum of each.
KNOWN: Final = [(int(file.name[:4]), file.stem[5:], hashlib.sha256(file.read_bytes()).hexdigest()) for file in FILES]
OPENERS: Final = 8
_MADE: Final = """
select relname from pg_class where relnamespace = 'public'::regnamespace and relkind in ('r', 'v', 'S', 'i')
union all select proname from pg_proc where pronamespace = 'public'::regnamespace
"""


def test_empty_database_is_made_a_store_at_first_use(pg_server: Server, pg_url: str) -> None:
    with opened(pg_url) as client:
        client.enqueue("scan", job_id="first")

    assert pg_server.psql("select number, name, checksum from detent_migrations order by 1", pg_url) == KNOWN


def test_everything_that_is_made_has_the_prefix(pg_server: Server, pg_url: str) -> None:
    with opened(pg_url):
        pass

    names = [name for (name,) in pg_server.psql(_MADE, pg_url)]
    assert len(names) > 40
    assert [name for name in names if not name.startswith("detent_")] == []


def test_store_that_is_opened_again_is_left_as_it_is(pg_server: Server, pg_url: str) -> None:
    """Whoever only opens it writes nothing: no transaction is given a number."""
    with opened(pg_url):
        pass
    before = pg_server.psql("select pg_snapshot_xmax(pg_current_snapshot())::text", pg_url)
    with opened(pg_url):
        pass

    assert pg_server.psql("select pg_snapshot_xmax(pg_current_snapshot())::text", pg_url) == before


def test_processes_that_open_a_new_store_together_migrate_it_once(pg_server: Server, pg_url: str) -> None:
    ends = told("open_together", pg_url, OPENERS)

    assert ends == [0] * OPENERS
    assert pg_server.psql("select count(*) from detent_migrations", pg_url) == [(len(KNOWN),)]
    assert pg_server.psql("select count(*), count(distinct name) from detent_lifecycles", pg_url) == [(5, 5)]
    with opened(pg_url) as client:
        assert ids(client) == [f"job-{n}" for n in range(OPENERS)]
        assert is_sound(client)


def test_store_of_a_newer_program_is_refused_and_left_alone(pg_server: Server, pg_url: str) -> None:
    with opened(pg_url):
        pass
    pg_server.psql("insert into detent_migrations values (99, 'later', 'x', 0)", pg_url)

    with raises("schema_newer") as refused, opened(pg_url):
        pass
    assert "migration 99 (later)" in str(refused.value)
    assert f"up to {KNOWN[-1][0]};" in str(refused.value)
    assert pg_server.psql("select count(*) from detent_migrations", pg_url) == [(len(KNOWN) + 1,)]


def test_store_whose_migration_has_other_content_is_refused(pg_server: Server, pg_url: str) -> None:
    with opened(pg_url):
        pass
    pg_server.psql("update detent_migrations set checksum = 'another'", pg_url)

    with raises("schema_changed") as refused, opened(pg_url):
        pass
    assert "migration 1 (first)" in str(refused.value)


# What takes each step back: a store as a program of the time left it.
BACK: Final = {
    2: "drop table detent_pauses, detent_workers, detent_schedules",
    3: """
        drop table detent_rates;
        alter table detent_records drop column limit_key, drop column concurrency_max;
        alter table detent_jobs drop column limit_key
    """,
    4: "drop table detent_paces; drop index detent_records_unjudged",
    5: "alter table detent_workers drop column lanes",
    6: "drop table detent_tokens",
}


@pytest.mark.parametrize("before", range(1, len(FILES)))
def test_store_of_an_older_program_is_brought_up_to_date_with_all_that_is_in_it(
    pg_server: Server, pg_url: str, before: int
) -> None:
    with opened(pg_url) as client:
        client.enqueue_many([{"kind": "scan", "job_id": job_id} for job_id in ("a", "b")])
    for number in range(len(FILES), before, -1):
        pg_server.psql(f"{BACK[number]}; delete from detent_migrations where number = {number}", pg_url)
    with opened(pg_url) as client:
        client.pause_queue("other")
        claimed = client.claim(worker="w1", limit=2, start=True)

        assert [job.id for job in claimed] == ["a", "b"]
        assert is_sound(client)
    assert pg_server.psql("select number, name, checksum from detent_migrations order by 1", pg_url) == KNOWN


def test_database_with_tables_of_its_own_can_be_used_and_keeps_them(pg_server: Server, pg_url: str) -> None:
    pg_server.psql("create table orders (number int); insert into orders values (1)", pg_url)
    with opened(pg_url) as client:
        client.enqueue("scan")

    assert pg_server.psql("select number from orders", pg_url) == [(1,)]


def test_migration_that_was_cut_off_begins_anew(pg_server: Server, pg_url: str) -> None:
    """As after a crash: the table of migrations may be there, and nothing in it."""
    pg_server.psql(
        "create table detent_migrations (number bigint, name text, checksum text, applied_at bigint)", pg_url
    )

    with opened(pg_url) as client:
        assert client.enqueue("scan").state == "queued"


@pytest.mark.parametrize("place", ["empty", "tables of its own", "begun and cut off"])
def test_store_that_is_not_there_is_not_made_unless_it_is_to_be(pg_server: Server, pg_url: str, place: str) -> None:
    if place == "tables of its own":
        pg_server.psql("create table orders (number int)", pg_url)
    elif place == "begun and cut off":
        pg_server.psql("create table detent_migrations (number int, name text, checksum text, applied_at int)", pg_url)
    before = pg_server.psql(_MADE, pg_url)
    with raises("store_missing") as refused, opened(pg_url, create=False):
        pass

    assert "`detent migrate` or connect() makes one" in str(refused.value)
    assert pg_server.psql(_MADE, pg_url) == before
