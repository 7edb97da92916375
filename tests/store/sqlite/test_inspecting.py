"""What a file has of the schema, asked without opening it: nothing is made, and nothing in the folder changes."""

import asyncio
from pathlib import Path

import apsw
import pytest

from detent import connect
from detent.client.sync import run
from detent.store import Migration
from detent.store.sqlite import File, SqliteStore
from detent.testing import MemoryStore, VirtualClock
from tests.store.sqlite.files import child, killed, opened, raises, running, timed
from tests.store.sqlite.test_migrations import FILES, KNOWN, asked


def migrations(path: Path) -> list[Migration]:
    return run(connect(f"sqlite:///{path}").store.migrations())


def contents(folder: Path) -> dict[str, bytes | None]:
    """Every file beside each other, byte by byte; None for a folder."""
    return {str(each): each.read_bytes() if each.is_file() else None for each in folder.rglob("*")}


def applied(path: Path) -> list[tuple[int, str, bool]]:
    return [(each.number, each.name, each.applied_at is not None) for each in migrations(path)]


def all_of_it(*, is_applied: bool) -> list[tuple[int, str, bool]]:
    return [(number, name, is_applied) for number, name, _ in KNOWN]


@pytest.mark.parametrize("place", ["missing", "in no folder", "empty"])
def test_place_without_a_store_has_none_and_stays_as_it_is(tmp_path: Path, place: str) -> None:
    path = tmp_path / "a" / "jobs.db" if place == "in no folder" else tmp_path / "jobs.db"
    if place == "empty":
        path.touch()
    before = contents(tmp_path)
    found = migrations(path)

    assert [each.applied_at for each in found] == [None] * len(FILES)
    assert [each.sql for each in found] == [file.read_text(encoding="utf-8") for file in FILES]
    assert (found[0].number, found[0].name) == (1, "first")
    assert contents(tmp_path) == before


def test_store_that_is_closed_says_when_it_was_migrated_and_stays_as_it_is(path: Path) -> None:
    with timed(path, VirtualClock(1_738_425_600_123_456)):
        pass
    before = contents(path.parent)
    found = migrations(path)

    assert {each.applied_at for each in found} == {1_738_425_600_123_456}
    assert contents(path.parent) == before


def test_store_that_another_process_has_open_is_looked_at_beside_it(path: Path) -> None:
    with running("hold_transaction", path):
        before = contents(path.parent)
        found = applied(path)
        after = contents(path.parent)

    assert found == all_of_it(is_applied=True)
    assert after == before


def test_store_that_others_open_and_close_meanwhile_is_looked_at_all_the_same(path: Path) -> None:
    with opened(path):
        pass
    found = set()
    with running("come_and_go", path) as visitor:
        while visitor.poll() is None:
            found |= set(applied(path))

    assert found == set(all_of_it(is_applied=True))


def test_store_that_this_process_has_open_is_looked_at_beside_it(path: Path) -> None:
    with opened(path) as client:
        client.enqueue("scan", job_id="a")
        found = applied(path)
        client.enqueue("scan", job_id="b")

        assert found == all_of_it(is_applied=True)
        assert child("is_in_use", path), "the look at it has dropped no lock"


def test_open_store_says_it_of_itself(path: Path) -> None:
    for store in (SqliteStore(File(str(path))), SqliteStore(File(":memory:"))):
        before = run(store.migrations())
        run(store.open())
        after = run(store.migrations())
        run(store.close())

        assert [each.applied_at for each in before] == [None] * len(FILES)
        assert [each.applied_at is None for each in after] == [False] * len(FILES)


def test_log_that_was_left_by_a_kill_is_read_and_left(path: Path) -> None:
    """All of the store is in the log: the file itself has no table yet."""
    killed("enqueue_and_die", path, "first")
    before = contents(path.parent)
    found = applied(path)

    assert found == all_of_it(is_applied=True)
    assert contents(path.parent) == before
    assert child("listed", path) == ["first"]


def test_log_whose_index_was_lost_is_read(path: Path) -> None:
    killed("enqueue_and_die", path, "first")
    Path(f"{path}-shm").unlink()

    assert applied(path) == all_of_it(is_applied=True)
    assert child("listed", path) == ["first"]


@pytest.mark.parametrize("journal_mode", ["delete", "wal"])
def test_file_with_tables_of_its_own_has_none_and_stays_as_it_is(path: Path, journal_mode: str) -> None:
    asked(path, f"pragma journal_mode = {journal_mode}")
    asked(path, "create table orders (number integer primary key)")
    before = contents(path.parent)

    assert applied(path) == all_of_it(is_applied=False)
    assert contents(path.parent) == before


def test_store_of_a_newer_program_is_refused_as_when_it_is_opened(path: Path) -> None:
    with opened(path):
        pass
    asked(path, "insert into detent_migrations values (7, 'later', 'x', 0)")

    with raises("schema_newer"):
        migrations(path)


def test_store_whose_migration_has_other_content_is_refused_as_when_it_is_opened(path: Path) -> None:
    with opened(path):
        pass
    asked(path, "update detent_migrations set checksum = 'another'")

    with raises("schema_changed"):
        migrations(path)


def test_what_is_no_store_is_refused_as_when_it_is_opened(path: Path) -> None:
    with raises("store_unavailable"):
        migrations(path.parent)
    path.write_bytes(b"a letter, and no database at all\n" * 100)
    before = contents(path.parent)

    with raises("store_corrupt"):
        migrations(path)
    assert contents(path.parent) == before


def test_file_that_sqlite_must_not_touch_is_not_even_read(path: Path) -> None:
    with opened(path):
        pass

    assert child("look_beside_sqlite3", path) == "second_library"
    assert child("look_after_fork", path) == "forked"


def test_it_can_be_asked_on_an_event_loop_and_leaves_no_connection(path: Path) -> None:
    with opened(path):
        pass
    found = asyncio.run(connect(f"sqlite:///{path}").store.migrations())

    assert [each.applied_at is None for each in found] == [False] * len(FILES)
    assert [each for each in apsw.connections() if each.filename and Path(each.filename) == path.resolve()] == []


def test_path_with_marks_of_an_address_is_the_file_it_names(tmp_path: Path) -> None:
    path = tmp_path / "a b?mode=memory#c%20.db"
    with opened(Path(str(path).replace("%", "%25").replace("?", "%3F").replace("#", "%23"))):
        pass
    store = SqliteStore(File(str(path)))

    assert [each.applied_at is None for each in run(store.migrations())] == [False] * len(FILES)


def test_store_without_a_schema_has_no_migrations() -> None:
    assert run(MemoryStore().migrations()) == []
