"""Permissions: what may not be written is refused, and what is written nobody else may read."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from tests.store.sqlite.children import NOBODY
from tests.store.sqlite.files import child, opened, raises


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that any user can get to: those of pytest are the tester's own."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made) / "store"
        folder.mkdir()
        Path(made).chmod(0o755)
        yield folder
        folder.chmod(0o755)


def give_away(*paths: Path) -> None:
    """To the user that permissions bind, if the tester is not such a one."""
    if os.getuid() == 0:
        for path in paths:
            os.chown(path, NOBODY, NOBODY)


def test_user_with_all_permissions_can_use_the_store(folder: Path) -> None:
    give_away(folder)

    assert child("open_as_nobody", folder / "jobs.db") == "ok"


def test_read_only_file_is_refused(folder: Path) -> None:
    path = folder / "jobs.db"
    with opened(path):
        pass
    give_away(folder, path, Path(f"{path}-gate"))
    path.chmod(0o400)

    assert child("open_as_nobody", path) == "store_read_only"


def test_read_only_folder_is_refused_when_the_store_is_new(folder: Path) -> None:
    give_away(folder)
    folder.chmod(0o555)

    assert child("open_as_nobody", folder / "jobs.db") == "store_read_only"


@pytest.mark.parametrize("gate", ["there", "gone"])
def test_read_only_folder_is_refused_when_the_store_is_there(folder: Path, gate: str) -> None:
    path = folder / "jobs.db"
    with opened(path):
        pass
    give_away(folder, path, Path(f"{path}-gate"))
    if gate == "gone":
        Path(f"{path}-gate").unlink()
    folder.chmod(0o555)

    assert child("open_as_nobody", path) == "store_read_only"


def test_folder_that_may_not_be_entered_is_refused(folder: Path) -> None:
    path = folder / "jobs.db"
    with opened(path):
        pass
    give_away(folder, path)
    folder.chmod(0o000)

    assert child("open_as_nobody", path) == "store_read_only"


def test_nobody_but_the_owner_may_read_a_store_whatever_the_mask(path: Path) -> None:
    modes = child("modes", path)

    assert modes == dict.fromkeys(("jobs.db", "jobs.db-wal", "jobs.db-shm", "jobs.db-gate"), "0o600")


def test_read_only_after_opening_is_an_error_and_works_again(path: Path) -> None:
    with opened(path) as client:
        writers = [each for each in apsw.connections() if each.filename == str(path)]
        for each in writers:
            each.execute("pragma query_only = on")
        with raises("store_read_only"):
            client.enqueue("scan")
        for each in writers:
            each.execute("pragma query_only = off")

        assert client.enqueue("scan").state == "queued"


def test_old_library_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever header it was built with: an apsw for a system's shared library runs with the version installed."""
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: "3.51.2")

    with raises("library_too_old") as refused, opened(path):
        pass
    assert "3.51.2" in str(refused.value)
    assert not path.exists()
