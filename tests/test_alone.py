"""Turns: tests share the floor, and one that measures time has it to itself."""

import threading
from fcntl import LOCK_EX, LOCK_NB, flock
from pathlib import Path

import pytest

from tests.alone import turn
from tests.postgres.waiting import until

WAIT_S = 30.0


class Taker(threading.Thread):
    """Somebody who takes a turn, and keeps it until told to leave."""

    def __init__(self, folder: Path, *, is_alone: bool) -> None:
        super().__init__(daemon=True)
        self.has_begun, self._may_leave = threading.Event(), threading.Event()
        self._folder, self._is_alone = folder, is_alone
        self.start()

    def run(self) -> None:
        with turn(self._folder, is_alone=self._is_alone):
            self.has_begun.set()
            self._may_leave.wait(WAIT_S)

    def leave(self) -> None:
        self._may_leave.set()
        self.join(WAIT_S)


def is_shut(folder: Path) -> bool:
    """Somebody waits for the floor."""
    with (folder / "gate").open("w") as gate:
        try:
            flock(gate, LOCK_EX | LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_turns_that_need_not_be_alone_are_taken_side_by_side(tmp_path: Path) -> None:
    takers = [Taker(tmp_path, is_alone=False) for _ in range(3)]
    have_begun = [taker.has_begun.wait(WAIT_S) for taker in takers]
    for taker in takers:
        taker.leave()

    assert have_begun == [True] * 3


@pytest.mark.parametrize("is_alone", [True, False], ids=["who must be alone", "who comes meanwhile"])
def test_others_are_waited_for(tmp_path: Path, is_alone: bool) -> None:
    first = Taker(tmp_path, is_alone=not is_alone)
    first.has_begun.wait(WAIT_S)
    second = Taker(tmp_path, is_alone=is_alone)
    waits = until(lambda: is_shut(tmp_path))
    began_beside = second.has_begun.is_set()
    first.leave()
    began_after = second.has_begun.wait(WAIT_S)
    second.leave()

    assert (waits, began_beside, began_after) == (True, False, True)


def test_turn_ends_also_where_the_test_failed(tmp_path: Path) -> None:
    with pytest.raises(AssertionError), turn(tmp_path, is_alone=True):
        raise AssertionError

    assert not is_shut(tmp_path)
    with turn(tmp_path, is_alone=True):
        assert not is_shut(tmp_path)
