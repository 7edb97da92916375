"""The blocking twins: every verb has one, with the same signature, and none blocks an event loop."""

import asyncio
import inspect
import threading
from typing import Any

import pytest

from detent.client import Client, SyncClient
from detent.client.client import CARRIED
from detent.errors import InvalidArgument
from detent.store.query import PAGE_MAX
from tests.client.arguments import GOOD
from tests.client.world import World


def public(owner: type) -> dict[str, Any]:
    return {name: each for name, each in inspect.getmembers(owner) if not name.startswith("_") and callable(each)}


COROUTINES = sorted(name for name, each in public(Client).items() if inspect.iscoroutinefunction(each))


def test_every_public_part_of_the_client_has_a_blocking_twin() -> None:
    assert public(Client).keys() - set(CARRIED) == public(SyncClient).keys()


@pytest.mark.parametrize("name", COROUTINES)
def test_twin_has_the_signature_and_the_words_of_its_verb(name: str) -> None:
    verb, twin = getattr(Client, name), getattr(SyncClient, name)

    assert inspect.signature(twin) == inspect.signature(verb)
    assert (twin.__doc__, twin.__name__) == (verb.__doc__, verb.__name__)
    assert not inspect.iscoroutinefunction(twin)


@pytest.mark.parametrize("name", ["tail", "transaction"])
def test_what_is_no_coroutine_takes_the_same_arguments(name: str) -> None:
    verb, twin = inspect.signature(getattr(Client, name)), inspect.signature(getattr(SyncClient, name))

    assert list(twin.parameters.values()) == list(verb.parameters.values())


@pytest.mark.parametrize("verb", sorted(GOOD.keys() - {"tail"}))
def test_twin_on_the_thread_of_a_running_loop_is_refused_and_does_nothing(fresh: World, verb: str) -> None:
    fresh.prepare()
    before = fresh.version()

    async def mistake() -> None:
        getattr(fresh.blocking, verb)(**GOOD[verb])

    with pytest.raises(InvalidArgument) as refused:
        asyncio.run(mistake())

    assert refused.value.code == "blocking_call"
    assert "await" in str(refused.value)
    assert fresh.version() == before


def test_tail_and_transaction_on_a_running_loop_are_refused_too(fresh: World) -> None:
    async def tail() -> None:
        next(fresh.blocking.tail(timeout_s=0))

    async def transaction() -> None:
        with fresh.blocking.transaction():
            raise AssertionError("never entered")

    for mistake in (tail, transaction):
        with pytest.raises(InvalidArgument) as refused:
            asyncio.run(mistake())
        assert refused.value.code == "blocking_call"


def test_twin_may_be_used_from_another_thread_while_a_loop_runs(fresh: World) -> None:
    async def both() -> tuple[str, str]:
        awaited = await fresh.client.enqueue("scan", job_id="a")
        blocking = await asyncio.to_thread(fresh.blocking.enqueue, "scan", job_id="b")
        return awaited.id, blocking.id

    assert asyncio.run(both()) == ("a", "b")


def test_threads_may_share_a_blocking_client(fresh: World) -> None:
    def make(name: str) -> None:
        for n in range(25):
            fresh.blocking.enqueue("scan", job_id=f"{name}{n}")

    threads = [threading.Thread(target=make, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(fresh.blocking.find(limit=1_000).items) == 100
    assert fresh.blocking.verify().is_clean


def test_blocking_tail_gives_what_was_committed_after_a_cursor_and_ends(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="a")
    end = fresh.blocking.events().cursor
    fresh.blocking.enqueue("scan", job_id="b")
    fresh.blocking.enqueue("mail", job_id="c")

    assert [event.job_id for event in fresh.blocking.tail(after=end, timeout_s=0)] == ["b", "c"]
    assert [event.job_id for event in fresh.blocking.tail(after=end, timeout_s=0, kind="mail")] == ["c"]
    assert list(fresh.blocking.tail(timeout_s=0)) == []


def test_blocking_tail_hears_what_another_thread_commits(fresh: World) -> None:
    tail = fresh.blocking.tail(after="0", timeout_s=10)
    fresh.blocking.enqueue("scan", job_id="a")
    first = next(tail)
    later = threading.Timer(0.1, fresh.blocking.enqueue, ("scan",), {"job_id": "b"})
    later.start()

    second = next(tail)
    later.join()

    assert (first.job_id, second.job_id) == ("a", "b")


@pytest.mark.parametrize("timeout_s", [float("nan"), "1", [], object(), None])
def test_tail_that_could_never_end_is_refused(fresh: World, timeout_s: Any) -> None:
    """None is for ever, which is asked for; what is no number is not."""

    async def listen() -> None:
        async for _ in fresh.client.tail(timeout_s=timeout_s):
            raise AssertionError("there is nothing to hear")

    with pytest.raises((InvalidArgument, TimeoutError)) as ended:
        asyncio.run(asyncio.wait_for(listen(), 0.5))

    assert isinstance(ended.value, TimeoutError) == (timeout_s is None)


def test_blocking_transaction_commits_with_the_user_s_own_table(fresh: World) -> None:
    with fresh.blocking.transaction() as tx:
        tx.execute("create table orders (id text)")
        tx.execute("insert into orders values ('o1')")
        fresh.blocking.enqueue("scan", job_id="a", tx=tx)
        assert fresh.blocking.find().items == [], "nobody sees it before it is committed"

    assert fresh.blocking.get("a").state == "queued"
    assert fresh.snapshot_of("orders") == [("o1",)]


def test_blocking_transaction_that_fails_leaves_nothing(fresh: World) -> None:
    with pytest.raises(ZeroDivisionError), fresh.blocking.transaction() as tx:  # noqa: PT012 - what is inside is the point
        tx.execute("create table orders (id text)")
        fresh.blocking.enqueue("scan", job_id="a", tx=tx)
        raise ZeroDivisionError

    assert fresh.blocking.find().items == []
    assert "orders" not in fresh.snapshot()


def test_ended_transaction_is_refused(fresh: World) -> None:
    with fresh.blocking.transaction() as tx:
        pass

    with pytest.raises(InvalidArgument) as refused:
        fresh.blocking.enqueue("scan", tx=tx)

    assert refused.value.code == "bad_transaction"


def test_refused_verb_inside_a_transaction_lets_the_rest_commit(fresh: World) -> None:
    fresh.prepare("ended")

    with fresh.blocking.transaction() as tx:
        answers = fresh.blocking.complete_many([{"job_id": "ended", "worker": "w", "attempt": 1}], tx=tx)
        fresh.blocking.enqueue("scan", job_id="a", tx=tx)

    assert [type(answer).__name__ for answer in answers] == ["Refused"]
    assert fresh.blocking.get("a").state == "queued"
    assert fresh.blocking.verify().is_clean


def test_savepoint_of_the_user_s_own_that_is_rolled_back_takes_its_jobs_along(fresh: World) -> None:
    with fresh.blocking.transaction() as tx:
        tx.execute("savepoint mine")
        fresh.blocking.enqueue("scan", job_id="a", tx=tx)
        tx.execute("rollback to mine")
        again = fresh.blocking.enqueue("scan", job_id="a", tx=tx)

    assert again.answer == "applied"
    assert fresh.blocking.get("a").rev == 1
    assert fresh.blocking.verify().is_clean


def test_tail_that_waits_for_nothing_still_gives_all_there_is(fresh: World) -> None:
    fresh.blocking.enqueue_many([{"kind": "scan"} for _ in range(PAGE_MAX + 1)])

    assert len(list(fresh.blocking.tail(after="0", timeout_s=0))) == PAGE_MAX + 1
