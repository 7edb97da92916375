"""Files that are damaged, or no store at all: refused by name, and never made worse."""

import os
from pathlib import Path
from typing import Final

import apsw
import pytest

from tests.store.sqlite.files import ids, is_sound, killed, opened, raises, run_to_success

PAGE: Final = 4096
JOBS: Final = 300


@pytest.fixture
def kept(path: Path) -> Path:
    """A store with some jobs, closed."""
    with opened(path, synchronous="normal") as client:
        client.enqueue("scan", job_id="waiting", queue="apart")
        run_to_success(client, JOBS)
    return path


def page_of(path: Path, table: str) -> int:
    """Where a page of the table lies in the file, away from its root."""
    connection = apsw.Connection(str(path))
    found = connection.execute("select pageno from dbstat where name = ? and pagetype = 'leaf'", (table,)).fetchall()
    connection.close()
    number = found[len(found) // 2][0]
    assert isinstance(number, int)
    return number


def overwrite(path: Path, at: int, data: bytes) -> bytes:
    """Put other bytes there, and return what there was. Only while nobody has the file open."""
    with path.open("r+b") as file:
        file.seek(at)
        before = file.read(len(data))
        file.seek(at)
        file.write(data)
    return before


@pytest.mark.parametrize("size", [16, 100, PAGE])
def test_store_with_a_damaged_header_is_refused(kept: Path, size: int) -> None:
    overwrite(kept, 0, b"\xff" * size)

    with raises("store_corrupt") as refused, opened(kept):
        pass
    assert str(kept) in str(refused.value)


@pytest.mark.parametrize("content", [b"a letter, and no database at all\n" * 100, b"PK\x03\x04" + bytes(5000)])
def test_file_that_is_no_database_is_refused_and_left_as_it_is(path: Path, content: bytes) -> None:
    path.write_bytes(content)

    with raises("store_corrupt"), opened(path):
        pass
    assert path.read_bytes() == content


@pytest.mark.parametrize("table", ["detent_events", "detent_jobs", "detent_records"])
def test_damaged_page_is_found_when_it_is_used_and_the_rest_stays(kept: Path, table: str) -> None:
    at = (page_of(kept, table) - 1) * PAGE
    before = overwrite(kept, at, b"\xff" * PAGE)
    with opened(kept) as client, raises("store_corrupt"):
        client.verify()
    overwrite(kept, at, before)

    with opened(kept) as client:
        assert len(ids(client)) == JOBS + 1
        assert is_sound(client)


@pytest.mark.parametrize("table", ["detent_events", "detent_jobs"])
def test_damaged_page_is_found_at_the_opening_after_an_unclean_end_only(kept: Path, table: str) -> None:
    at = (page_of(kept, table) - 1) * PAGE
    whole = kept.read_bytes()
    overwrite(kept, at, b"\xff" * PAGE)
    with opened(kept) as client:
        assert client.get("waiting").state == "queued"  # nothing is looked for after a clean end
    kept.write_bytes(whole)

    killed("enqueue_and_die", kept, "last")
    before = overwrite(kept, at, b"\xff" * PAGE)
    with raises("store_corrupt") as refused, opened(kept):
        pass
    assert "unclean end" in str(refused.value) or "malformed" in str(refused.value)
    overwrite(kept, at, before)

    with opened(kept) as client:
        assert client.get("last").state == "queued"
        assert is_sound(client)


def test_store_that_was_cut_short_is_refused(kept: Path) -> None:
    os.truncate(kept, kept.stat().st_size // 2)

    with raises("store_corrupt"), opened(kept) as client:
        client.verify()


def test_directory_is_no_store(tmp_path: Path) -> None:
    with raises("store_unavailable") as refused, opened(tmp_path):
        pass
    assert str(tmp_path) in str(refused.value)


def test_path_through_a_file_is_refused(kept: Path) -> None:
    with raises("store_unavailable"), opened(kept / "jobs.db"):
        pass


def test_missing_folders_are_made(tmp_path: Path) -> None:
    path = tmp_path / "not" / "yet" / "there" / "jobs.db"
    with opened(path) as client:
        client.enqueue("scan")

    assert path.is_file()


def test_refused_file_can_be_opened_once_it_is_mended(kept: Path) -> None:
    before = overwrite(kept, 0, b"\xff" * PAGE)
    for _ in range(3):
        with raises("store_corrupt"), opened(kept):
            pass
    overwrite(kept, 0, before)

    with opened(kept) as client:
        assert is_sound(client)
