"""Two SQLite libraries in one process on one file do not see each other's locks: the second is turned away."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import apsw
import pytest

from tests.store.sqlite.files import child, ids, opened, raises

Spelling = Callable[[Path], tuple[Any, bool]]  # what sqlite3 is given for the path, and whether it is an address


def through_link(path: Path) -> tuple[Any, bool]:
    link = path.with_name("link.db")
    link.symlink_to(path)
    return str(link), False


def through_hard_link(path: Path) -> tuple[Any, bool]:
    link = path.with_name("hard.db")
    link.hardlink_to(path)
    return str(link), False


SPELLINGS: Final[dict[str, Spelling]] = {
    "absolute": lambda path: (str(path), False),
    "relative": lambda path: (os.path.relpath(path), False),
    "roundabout": lambda path: (f"{path.parent}/../{path.parent.name}/{path.name}", False),
    "Path": lambda path: (path, False),
    "bytes": lambda path: (bytes(path), False),
    "symlink": through_link,
    "hard link": through_hard_link,
    "address": lambda path: (f"file:{path}", True),
    "address with slashes": lambda path: (f"file://{path}", True),
    "address with a host": lambda path: (f"file://localhost{path}", True),
    "address with a mode": lambda path: (f"file:{path}?mode=ro", True),
    "address with a fragment": lambda path: (f"file:{path}#here", True),
    "address with escapes": lambda path: (f"file:{quote(str(path.parent))}/%6Aobs.db", True),
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_file_that_is_open_here_is_not_for_sqlite3_however_it_is_spelled(path: Path, spelling: str) -> None:
    with opened(path) as client:
        given, is_address = SPELLINGS[spelling](path)
        with raises("second_library"):
            sqlite3.connect(given, uri=is_address).close()

        assert client.enqueue("scan").state == "queued"


def test_path_with_a_question_mark_is_guarded_too(tmp_path: Path) -> None:
    path = tmp_path / "what?.db"
    with opened(Path(str(path).replace("?", "%3F"))), raises("second_library"):
        sqlite3.connect(path).close()


def test_sqlite3_is_left_alone_with_other_files_and_with_this_one_when_it_is_closed(path: Path) -> None:
    with opened(path) as client:
        client.enqueue("scan", job_id="job")
        for other in (":memory:", str(path.with_name("other.db")), ""):
            sqlite3.connect(other).close()
    connection = sqlite3.connect(path)
    found = connection.execute("select id from detent_jobs").fetchall()
    connection.close()

    assert found == [("job",)]


def test_file_stays_guarded_until_the_last_client_is_closed(path: Path) -> None:
    with opened(path):
        with opened(path):
            pass
        with raises("second_library"):
            sqlite3.connect(path).close()
    sqlite3.connect(path).close()


def test_file_that_sqlite3_has_open_is_refused_until_it_is_closed(path: Path) -> None:
    assert child("sqlite3_first", path) == ["second_library", "ok"]


def test_file_that_sqlite3_has_open_as_a_store_is_refused(path: Path) -> None:
    """The log is open too then, and shared memory."""
    with opened(path):
        pass

    assert child("sqlite3_first", path) == ["second_library", "ok"]


def test_same_library_may_use_the_file_beside_the_store(path: Path) -> None:
    before = apsw.Connection(str(path))
    before.execute("create table mine (x)")
    with opened(path) as client:
        client.enqueue("scan", job_id="job")
        beside = apsw.Connection(str(path))
        found = beside.execute("select id from detent_jobs").fetchall()
        beside.execute("insert into mine values (1)")
        beside.close()
        client.enqueue("scan", job_id="later")

        assert found == [("job",)]
        assert ids(client) == ["job", "later"]
    before.close()


def test_client_before_a_fork_is_of_no_use_after_it_and_the_parent_goes_on(path: Path) -> None:
    told = child("fork", path, path.with_name("other.db"))

    assert told["told"] == ["forked", "forked", "forked", "forked", "ok"]
    assert told["ids"] == ["parent", "parent again"]


def test_store_that_was_closed_before_a_fork_can_be_opened_in_the_child(path: Path) -> None:
    assert child("fork_after_close", path) == "ok"
    assert child("listed", path) == ["child", "parent"]


def test_spawned_process_may_open_what_its_parent_has_open(path: Path) -> None:
    with opened(path) as client:
        client.enqueue("scan", job_id="parent")
        child("enqueue", path, "child")

        assert ids(client) == ["child", "parent"]
