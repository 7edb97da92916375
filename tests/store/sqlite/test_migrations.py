"""Bringing a file to this program's schema, once, and refusing one that it would not understand."""

import hashlib
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import apsw
import pytest

from tests.store.sqlite.files import CHILD_S_MAX, ROOT, ids, is_sound, opened, raises
from tests.store.sqlite.watching import watched

FILES: Final = sorted((ROOT / "src/detent/store/sqlite/migrations").glob("*.sql"))
# The number, the name and the checksum of each.
KNOWN: Final = [(int(file.name[:4]), file.stem[5:], hashlib.sha256(file.read_bytes()).hexdigest()) for file in FILES]
OPENERS: Final = 6


def asked(path: Path, sql: str, *bindings: object) -> list[tuple[object, ...]]:
    """A statement run by hand, on a connection that is gone afterwards."""
    connection = apsw.Connection(str(path))
    rows = connection.execute(sql, bindings).fetchall()
    connection.close()
    return rows


def test_empty_file_is_made_a_store_at_first_use(path: Path) -> None:
    path.touch()
    with opened(path) as client:
        client.enqueue("scan", job_id="first")

    assert asked(path, "select number, name, checksum from detent_migrations") == KNOWN
    assert asked(path, "pragma application_id") == [(int.from_bytes(b"dtnt"),)]
    assert asked(path, "pragma journal_mode") == [("wal",)]


def test_tables_of_a_new_store_all_have_the_prefix(path: Path) -> None:
    with opened(path):
        pass

    names = asked(path, "select name from sqlite_master where name not like 'sqlite_%'")
    assert len(names) > 10
    assert [name for (name,) in names if not str(name).startswith("detent_")] == []


def test_store_that_is_opened_again_is_left_as_it_is(path: Path) -> None:
    with opened(path) as client:
        client.enqueue("scan")
    before = asked(path, "select * from detent_migrations")
    with watched() as watch, opened(path):
        commits = watch.commits

    assert commits == 0
    assert asked(path, "select * from detent_migrations") == before


def test_processes_that_open_a_new_store_together_migrate_it_once(path: Path) -> None:
    moment = time.time() + 1.5
    command = [sys.executable, "-m", "tests.store.sqlite.children", "open_at", str(path), str(moment)]
    started = [
        subprocess.Popen([*command, f"job-{number}"], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for number in range(OPENERS)
    ]
    told = [process.communicate(timeout=CHILD_S_MAX) for process in started]

    assert [process.returncode for process in started] == [0] * OPENERS, told
    assert asked(path, "select count(*) from detent_migrations") == [(len(KNOWN),)]
    assert asked(path, "select count(*), count(distinct name) from detent_lifecycles") == [(5, 5)]
    with opened(path) as client:
        assert ids(client) == [f"job-{number}" for number in range(OPENERS)]
        assert is_sound(client)


def test_store_of_a_newer_program_is_refused_and_left_alone(path: Path) -> None:
    with opened(path):
        pass
    asked(path, "insert into detent_migrations values (99, 'later', 'x', 0)")

    with raises("schema_newer") as refused, opened(path):
        pass
    assert "migration 99 (later)" in str(refused.value)
    assert f"up to {KNOWN[-1][0]};" in str(refused.value)
    assert asked(path, "select count(*) from detent_migrations") == [(len(KNOWN) + 1,)]


def test_store_whose_migration_has_other_content_is_refused(path: Path) -> None:
    with opened(path):
        pass
    asked(path, "update detent_migrations set checksum = 'another'")

    with raises("schema_changed") as refused, opened(path):
        pass
    assert "migration 1 (first)" in str(refused.value)


# What takes each step back: a store as a program of the time left it.
BACK: Final = {
    2: "drop table detent_pauses; drop table detent_workers; drop table detent_schedules",
    3: """
        drop table detent_rates;
        drop index detent_records_limited; drop index detent_records_claimable; drop index detent_records_patient;
        alter table detent_records drop column limit_key; alter table detent_records drop column concurrency_max;
        alter table detent_jobs drop column limit_key;
        create index detent_records_claimable on detent_records (tenant, queue, kind, adapter, order_at, job, claim_at)
            where claim_at is not null;
        create index detent_records_patient on detent_records (tenant, queue, kind, adapter, order_at, job, claim_at)
            where claim_at is not null and order_at > claim_at;
    """,
    4: "drop table detent_paces; drop index detent_records_unjudged",
    5: "alter table detent_workers drop column lanes",
    6: "drop table detent_tokens",
}


@pytest.mark.parametrize("before", range(1, len(FILES)))
def test_store_of_an_older_program_is_brought_up_to_date_with_all_that_is_in_it(path: Path, before: int) -> None:
    with opened(path) as client:
        client.enqueue_many([{"kind": "scan", "job_id": job_id} for job_id in ("a", "b")])
    for number in range(len(FILES), before, -1):
        asked(path, f"{BACK[number]}; delete from detent_migrations where number = {number}")
    with opened(path) as client:
        client.pause_queue("other")
        claimed = client.claim(worker="w1", limit=2, start=True)

        assert [job.id for job in claimed] == ["a", "b"]
        assert is_sound(client)
    assert asked(path, "select number, name, checksum from detent_migrations") == KNOWN


@pytest.mark.parametrize("journal_mode", ["delete", "wal"])
def test_file_with_tables_of_its_own_can_be_used_and_keeps_them(path: Path, journal_mode: str) -> None:
    asked(path, f"pragma journal_mode = {journal_mode}")
    asked(path, "create table orders (number integer primary key, what text)")
    asked(path, "insert into orders values (1, 'tea')")
    with opened(path) as client:
        with client.transaction() as tx:
            tx.execute("insert into orders values (2, 'milk')")
            client.enqueue("bill", job_id="bill-2", tx=tx)

        assert is_sound(client)
        assert ids(client) == ["bill-2"]
    assert asked(path, "select * from orders") == [(1, "tea"), (2, "milk")]


def test_migration_that_was_cut_off_begins_anew(path: Path) -> None:
    """As after a crash in the middle: the table of migrations may be there, and nothing in it."""
    asked(path, "create table detent_migrations (number integer primary key, name text, checksum text, applied_at)")

    with opened(path) as client:
        assert client.enqueue("scan").state == "queued"


@pytest.mark.parametrize(("settings", "synchronous"), [({}, 2), ({"synchronous": "normal"}, 1)])
def test_every_connection_writes_ahead_and_syncs_as_asked(
    path: Path, settings: dict[str, str], synchronous: int
) -> None:
    with opened(path, **settings) as client, client.transaction():
        client.find()
        found = {
            (each.pragma("journal_mode"), each.pragma("synchronous"))
            for each in apsw.connections()
            if each.filename == str(path.resolve())
        }

    assert found == {("wal", synchronous)}
