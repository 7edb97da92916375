"""A file that is no longer where it was opened takes no more writes: nobody would find them again."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import pytest

from detent import connect
from tests.store.sqlite.files import ids, is_sound, opened, raises


def remove(path: Path) -> None:
    path.unlink()


def rename(path: Path) -> None:
    path.rename(path.with_name("elsewhere.db"))


def replace(path: Path) -> None:
    other = path.with_name("other.db")
    with opened(other) as client:
        client.enqueue("scan", job_id="of the other")
    other.replace(path)


AWAY: Final[list[Callable[[Path], None]]] = [remove, rename, replace]
moved = pytest.mark.parametrize("move", AWAY, ids=lambda move: move.__name__)


@moved
def test_write_to_a_file_that_is_gone_is_refused(path: Path, move: Callable[[Path], None]) -> None:
    with opened(path) as client:
        client.enqueue("scan", job_id="before")
        move(path)

        with raises("store_moved") as refused:
            client.enqueue("scan", job_id="after")
        with raises("store_moved"):
            client.claim(worker="w")
        assert str(path) in str(refused.value)


@moved
@pytest.mark.parametrize("earlier", [0, 1])
def test_transaction_on_a_file_that_is_gone_is_refused(path: Path, move: Callable[[Path], None], earlier: int) -> None:
    with opened(path) as client:
        for _ in range(earlier):  # whose connection is used again
            with client.transaction():
                pass
        move(path)

        with raises("store_moved"), client.transaction() as tx:
            client.enqueue("scan", job_id="after", tx=tx)


def test_file_that_was_put_back_works_again(path: Path) -> None:
    with opened(path) as client:
        client.enqueue("scan", job_id="before")
        rename(path)
        with raises("store_moved"):
            client.enqueue("scan")
        path.with_name("elsewhere.db").rename(path)
        client.enqueue("scan", job_id="after")

        assert ids(client) == ["after", "before"]
        assert is_sound(client)


def test_file_put_in_place_of_the_old_one_and_its_log_is_found_by_connecting_again(path: Path) -> None:
    with opened(path) as client:
        replace(path)
        with raises("store_moved"):
            client.enqueue("scan")
    for helper in ("-wal", "-shm"):  # the old file's: SQLite would take them for the new one's
        Path(f"{path}{helper}").unlink(missing_ok=True)

    with opened(path) as client:
        assert ids(client) == ["of the other"]


@pytest.mark.parametrize("verb", ["enqueue", "transaction"])
def test_client_of_a_relative_path_survives_a_change_of_directory(
    path: Path, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """As daemons do it: to the root, after they have opened what they need."""
    monkeypatch.chdir(path.parent)
    with connect(f"sqlite:///{path.name}") as client:
        os.chdir("/")
        if verb == "enqueue":
            client.enqueue("scan", job_id="job")
        else:
            with client.transaction() as tx:
                client.enqueue("scan", job_id="job", tx=tx)

    with opened(path) as client:
        assert ids(client) == ["job"]
