"""Tests that measure time run alone; all others may run beside each other, in the processes of pytest-xdist.

`@pytest.mark.alone` is for a test whose bound another test could break by being busy. It waits until those that are
under way have ended, and none begins meanwhile.
"""

import tempfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from fcntl import LOCK_EX, LOCK_SH, LOCK_UN, flock
from pathlib import Path
from typing import Any, Final

import pytest

FOLDER: Final = "folder_of_turns"
_folders: Final = pytest.StashKey["tempfile.TemporaryDirectory[str]"]()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """Asked by pytest-xdist before it starts a process; all get the same folder."""
    stash = node.config.stash
    if _folders not in stash:
        stash[_folders] = tempfile.TemporaryDirectory(prefix="detent-turns-")
    node.workerinput[FOLDER] = stash[_folders].name


def pytest_unconfigure(config: pytest.Config) -> None:
    if _folders in config.stash:
        config.stash[_folders].cleanup()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    folder = getattr(item.config, "workerinput", {}).get(FOLDER)
    if folder is None:  # one process, one test at a time
        return (yield)
    with turn(Path(folder), is_alone=item.get_closest_marker("alone") is not None):
        return (yield)


@contextmanager
def turn(folder: Path, *, is_alone: bool) -> Iterator[None]:
    # Who waits for the floor keeps the gate shut, so that those who share it cannot follow each other for ever.
    with (folder / "gate").open("w") as gate, (folder / "floor").open("w") as floor:
        flock(gate, LOCK_EX)
        flock(floor, LOCK_EX if is_alone else LOCK_SH)
        flock(gate, LOCK_UN)
        try:
            yield
        finally:
            flock(floor, LOCK_UN)  # closing is not enough: a process that a test forked has the file open too
