"""Opened with `create=False`, a store that is not there stays away, and one that is there is opened as ever."""

from pathlib import Path

import pytest

from detent import connect
from detent.errors import StoreError
from tests.store.sqlite.files import child, killed, opened, raises
from tests.store.sqlite.test_inspecting import contents
from tests.store.sqlite.test_migrations import asked


@pytest.mark.parametrize("place", ["missing", "in no folder", "empty", "tables of its own", "begun and cut off"])
def test_store_that_is_not_there_is_not_made(tmp_path: Path, place: str) -> None:
    path = tmp_path / "a" / "jobs.db" if place == "in no folder" else tmp_path / "jobs.db"
    if place == "empty":
        path.touch()
    elif place == "tables of its own":
        asked(path, "create table orders (number integer primary key)")
    elif place == "begun and cut off":
        asked(path, "create table detent_migrations (number integer, name text, checksum text, applied_at integer)")
    before = contents(tmp_path)
    with raises("store_missing") as refused, opened(path, create=False):
        pass

    assert str(path) in str(refused.value)
    assert contents(tmp_path) == before


def test_store_in_memory_is_never_there_yet() -> None:
    with pytest.raises(StoreError, match=":memory:") as refused, connect("sqlite:///:memory:", create=False):
        pass

    assert refused.value.code == "store_missing"


@pytest.mark.parametrize("end", ["clean", "killed"])
def test_store_that_is_there_is_opened_without_making_one(path: Path, end: str) -> None:
    if end == "clean":
        child("enqueue", path, "a")
    else:
        killed("enqueue_and_die", path, "a")
    with opened(path, create=False) as client:
        client.enqueue("scan", job_id="b")

        assert [job.id for job in client.find()] == ["b", "a"]
        assert client.verify().is_clean


def test_store_that_was_refused_can_be_made_and_then_opened(path: Path) -> None:
    for _ in range(2):
        with raises("store_missing"), opened(path, create=False):
            pass
    with opened(path):
        pass
    with opened(path, create=False) as client:
        assert client.count() == {(): 0}


def test_file_that_cannot_be_a_store_is_refused_for_what_it_is(path: Path) -> None:
    with raises("store_unavailable"), opened(path.parent, create=False):
        pass
    path.write_bytes(b"a letter, and no database at all\n" * 100)

    with raises("store_corrupt"), opened(path, create=False):
        pass
