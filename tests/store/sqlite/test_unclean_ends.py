"""After a process was killed the next one recovers what was acknowledged, and looks whether it could."""

from pathlib import Path
from typing import Final

import pytest

from tests.store.sqlite.files import child, ids, is_sound, killed, opened
from tests.store.sqlite.watching import watched

CHECK: Final = "pragma quick_check(5)"


def log_of(path: Path) -> Path:
    return Path(f"{path}-wal")


def checks(path: Path) -> int:
    """How often the file is checked while it is opened."""
    with watched() as watch, opened(path):
        return watch.statements.count(CHECK)


def test_clean_end_leaves_no_log_and_asks_for_no_check(path: Path) -> None:
    with opened(path) as client:
        client.enqueue("scan")
        assert log_of(path).stat().st_size > 0

    assert not log_of(path).exists()
    assert not Path(f"{path}-shm").exists()
    assert checks(path) == 0


def test_killed_process_leaves_a_log_from_which_all_it_acknowledged_comes_back(path: Path) -> None:
    for number in range(3):
        killed("enqueue_and_die", path, f"job-{number}")
        assert log_of(path).stat().st_size > 0

    with opened(path) as client:
        assert ids(client) == ["job-0", "job-1", "job-2"]
        assert is_sound(client)


def test_file_is_checked_after_an_unclean_end_and_once(path: Path) -> None:
    killed("enqueue_and_die", path, "job")

    assert [checks(path), checks(path)] == [1, 0]


def test_file_that_others_have_open_is_not_checked(path: Path) -> None:
    with opened(path) as client:
        client.enqueue("scan")
        killed("enqueue_and_die", path, "other")

        assert checks(path) == 0
        assert "other" in ids(client)


def test_work_in_an_open_transaction_of_a_killed_process_is_gone_whole(path: Path) -> None:
    killed("enqueue_and_die", path, "acknowledged")
    killed("die_in_transaction", path, "unfinished")

    assert child("listed", path) == ["acknowledged"]


@pytest.mark.parametrize("lost", ["-shm", "-gate"])
def test_helper_file_that_is_gone_is_made_anew(path: Path, lost: str) -> None:
    killed("enqueue_and_die", path, "job")
    Path(f"{path}{lost}").unlink()

    with opened(path) as client:
        assert ids(client) == ["job"]
        assert is_sound(client)
