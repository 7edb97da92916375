"""Whatever becomes of a caller, nothing stays locked, open or half done: cancelled, interrupted, closed, refused."""

import asyncio
import random
import threading
from pathlib import Path
from typing import Final

import apsw
import pytest
from msgspec.structs import replace

from detent import Client, InvalidArgument, LifecycleError, SyncClient
from detent.lifecycles import STANDARD
from tests.store.sqlite.files import go_on, ids, is_sound, opened, raises, running

BUSY_S: Final = 5.0
ROUNDS_MAX: Final = 3
CALLERS: Final = 20


def test_many_transactions_at_once_all_have_their_turn(path: Path) -> None:
    """However many wait to begin, who has begun can end."""

    async def pay(client: Client, number: int) -> None:
        async with client.transaction() as tx:
            tx.execute("insert into payments values (?)", (number,))
            await client.enqueue("scan", job_id=f"job-{number}", tx=tx)

    async def main() -> int:
        async with opened(path, busy_s=BUSY_S) as client:
            async with client.transaction() as tx:
                tx.execute("create table payments (number integer)")
            await asyncio.gather(*(pay(client, number) for number in range(CALLERS)))
            return len(await client.find())

    assert asyncio.run(main()) == CALLERS


def test_cancelled_leave_of_a_transaction_is_finished_all_the_same(path: Path) -> None:
    async def main() -> list[str]:
        async with opened(path, busy_s=BUSY_S) as client:

            async def left() -> None:
                async with client.transaction() as tx:
                    await client.enqueue("scan", job_id="in-transaction", tx=tx)
                    task.cancel()  # takes effect at the next await, which is the commit

            task = asyncio.ensure_future(left())
            with pytest.raises(asyncio.CancelledError):
                await task
            await client.enqueue("scan", job_id="after")
            return [job.id for job in await client.find()]

    assert "after" in asyncio.run(main())


def test_cancelled_open_leaves_nothing_open(path: Path) -> None:
    async def main() -> None:
        for delay_s in (0.0, 0.001, 0.003, 0.01):
            opening = asyncio.ensure_future(opened(path).__aenter__())
            await asyncio.sleep(delay_s)
            opening.cancel()
            for client in await asyncio.gather(opening, return_exceptions=True):
                if not isinstance(client, BaseException):
                    await client.close()

    asyncio.run(main())
    wait_until_closed(path)

    with opened(path) as client:
        assert client.enqueue("scan").state == "queued"


def test_refused_open_leaves_nothing_open(path: Path) -> None:
    with opened(path):
        pass
    other = replace(STANDARD, on_timeout="time_out", legacy_events={"claim": "taken"})
    threads = set(threading.enumerate())

    with pytest.raises(LifecycleError), opened(path, lifecycles=[other]):
        pass
    assert set(threading.enumerate()) <= threads
    assert connections_on(path) == []


def test_interrupted_wait_gives_its_place_up(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    with opened(path, busy_s=BUSY_S) as client:
        with running("hold_transaction", path) as holder:
            monkeypatch.setattr("detent.store.sqlite.gate.time.sleep", interrupt)
            with pytest.raises(KeyboardInterrupt):
                client.enqueue("scan", job_id="interrupted")
            monkeypatch.undo()
            go_on(holder)
            client.enqueue("scan", job_id="after")

        assert ids(client) == ["after"]


def test_client_can_be_closed_while_threads_use_it(path: Path) -> None:
    answers: list[str] = []

    def work(client: SyncClient) -> None:
        try:
            while True:
                answers.append(client.enqueue("scan").state)
        except InvalidArgument as closed:
            answers.append(closed.code)

    for _ in range(5):
        with opened(path) as client:
            threads = [threading.Thread(target=work, args=(client,)) for _ in range(4)]
            for thread in threads:
                thread.start()
        for thread in threads:
            thread.join()

    assert set(answers) == {"queued", "not_connected"}
    assert connections_on(path) == []
    with opened(path) as client:
        assert is_sound(client)


def test_store_can_be_opened_while_another_client_in_the_process_is_at_work(path: Path) -> None:
    stop = threading.Event()

    def work() -> None:
        with opened(path) as client:
            while not stop.is_set():
                client.enqueue_many([{"kind": "scan"}] * 50)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(30):
            with opened(path) as client:
                client.find(limit=1)
    finally:
        stop.set()
        thread.join()


def test_program_that_seeds_its_dice_gets_new_ids_all_the_same(path: Path) -> None:
    made = set()
    with opened(path) as client:
        for _ in range(100):
            random.seed(1)
            made.add(client.enqueue("scan").id)

    assert len(made) == 100


def test_closed_transaction_of_a_closed_client_is_over(path: Path) -> None:
    with opened(path) as client:
        transaction = client.transaction()
        tx = transaction.__enter__()
        client.enqueue("scan", job_id="lost", tx=tx)

    with raises("bad_transaction"):
        transaction.__exit__(None, None, None)
    with opened(path) as client:
        assert ids(client) == []


def connections_on(path: Path) -> list[apsw.Connection]:
    return [each for each in apsw.connections() if each.filename and Path(each.filename) == path.resolve()]


def wait_until_closed(path: Path) -> None:
    """What was undone was undone on a thread of its own; it takes a moment."""
    for _ in range(ROUNDS_MAX):  # the last thing that one thread does may be to start another
        for thread in [each for each in threading.enumerate() if each.name.startswith("detent")]:
            thread.join(timeout=BUSY_S)
    assert connections_on(path) == []
