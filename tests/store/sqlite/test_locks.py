"""Waiting for the write lock: bounded, explained, and over when the other one is done."""

import asyncio
import threading
import time
from pathlib import Path
from typing import Final

import apsw
import pytest

from detent import DetentError
from tests.store.sqlite.files import child, go_on, ids, is_sound, killed, opened, raises, running

BUSY_S: Final = 0.5
# The wait itself, a second in which SQLite tries by itself, and a slow machine.
WAIT_S_MAX: Final = 3.0


@pytest.mark.parametrize("holder", ["hold_transaction", "hold_lock"])
def test_write_that_waits_too_long_is_refused_and_works_when_the_lock_is_gone(path: Path, holder: str) -> None:
    with opened(path, busy_s=BUSY_S) as client:
        with running(holder, path) as process:
            began_s = time.monotonic()
            with raises("store_locked"):
                client.enqueue("scan", job_id="early")
            waited_s = time.monotonic() - began_s
            go_on(process)
            client.enqueue("scan", job_id="late")

        assert BUSY_S <= waited_s <= WAIT_S_MAX
        assert ids(client) == ["late"]


def test_readers_do_not_wait_for_a_writer(path: Path) -> None:
    with opened(path, busy_s=BUSY_S) as client:
        client.enqueue("scan", job_id="there")
        with running("hold_transaction", path):
            assert ids(client) == ["there"]
            assert client.history("there")[0].verb == "enqueue"


def test_store_that_is_locked_can_be_opened(path: Path) -> None:
    with opened(path):
        pass
    with running("hold_transaction", path), opened(path, busy_s=BUSY_S) as client:
        assert ids(client) == []


def test_all_who_wait_together_are_refused_when_their_wait_is_over(path: Path) -> None:
    """However many share the next transaction, none waits for the others' waits."""

    async def waits() -> tuple[float, set[str]]:
        async with opened(path, busy_s=BUSY_S) as client:
            with running("hold_transaction", path):
                began_s = time.monotonic()
                answers = await asyncio.gather(*(client.enqueue("scan") for _ in range(12)), return_exceptions=True)
                waited_s = time.monotonic() - began_s
            return waited_s, {answer.code for answer in answers if isinstance(answer, DetentError)}

    waited_s, codes = asyncio.run(waits())

    assert codes == {"store_locked"}
    assert waited_s <= WAIT_S_MAX


def test_write_waits_for_another_tool_as_long_as_busy_s_allows(path: Path) -> None:
    with opened(path, busy_s=10) as client:
        other = apsw.Connection(str(path))
        other.execute("begin immediate")
        release = threading.Timer(2, lambda: other.execute("rollback"))
        release.start()
        try:
            assert client.enqueue("scan").state == "queued"
        finally:
            release.join()
            other.close()


def test_process_that_was_killed_in_its_transaction_blocks_nobody(path: Path) -> None:
    with opened(path, busy_s=BUSY_S) as client:
        killed("die_in_transaction", path, "lost")
        client.enqueue("scan", job_id="kept")

        assert ids(client) == ["kept"]
        assert is_sound(client)


@pytest.mark.parametrize("second", ["none", "closed", "open"])
def test_second_client_of_a_process_does_not_let_go_of_the_lock_of_the_first(path: Path, second: str) -> None:
    """A POSIX lock is lost when any descriptor of the file is closed: then others take the file for unused."""
    with opened(path) as client:
        client.enqueue("scan")
        if second != "none":
            other = opened(path)
            other.__enter__()
        if second == "closed":
            other.__exit__(None, None, None)
        in_use = child("is_in_use", path)
        if second == "open":
            other.__exit__(None, None, None)

    assert in_use
    assert not child("is_in_use", path)
