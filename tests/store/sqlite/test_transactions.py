"""The caller's own tables and Detent's, together or not at all."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from detent import Client, Compensation, Policy, Retry, SyncClient
from detent.testing import VirtualClock
from tests.store.sqlite.files import child, ids, is_sound, opened, raises, timed, undone


@pytest.fixture
def clock() -> VirtualClock:
    return VirtualClock()


@pytest.fixture
def client(path: Path, clock: VirtualClock) -> Iterator[SyncClient]:
    """With a table of the caller's own in the same file."""
    with timed(path, clock) as client:
        with client.transaction() as tx:
            tx.execute("create table orders (number integer primary key)")
        yield client


def orders(client: SyncClient) -> list[int]:
    with client.transaction() as tx:
        return [number for (number,) in tx.execute("select number from orders order by number")]


def test_own_rows_and_a_job_commit_together(client: SyncClient) -> None:
    with client.transaction() as tx:
        tx.execute("insert into orders values (?)", (1,))
        client.enqueue("bill", job_id="bill-1", tx=tx)

    assert (orders(client), ids(client)) == ([1], ["bill-1"])


def test_own_rows_and_a_job_roll_back_together(client: SyncClient) -> None:
    with undone(client) as tx:
        tx.execute("insert into orders values (1)")
        client.enqueue("bill", job_id="bill-1", tx=tx)

    assert (orders(client), ids(client)) == ([], [])
    assert client.enqueue("bill", job_id="bill-1").answer == "applied"


def test_raw_connection_stands_for_its_transaction(client: SyncClient) -> None:
    with client.transaction() as tx:
        tx.connection.execute("insert into orders values (1)")
        client.enqueue("bill", job_id="bill-1", tx=tx.connection)

    assert (orders(client), ids(client)) == ([1], ["bill-1"])


def test_handler_completes_its_job_in_its_own_transaction(client: SyncClient) -> None:
    client.enqueue("bill", job_id="bill-1")
    (job,) = client.claim(worker="w", start=True)
    with client.transaction() as tx:
        tx.execute("insert into orders values (1)")
        ended = client.complete(job.id, worker="w", attempt=job.attempt, result={"paid": True}, tx=tx)

    assert ended.state == client.get("bill-1").state == "succeeded"
    assert orders(client) == [1]


def test_completion_that_is_rolled_back_leaves_the_job_with_its_owner(client: SyncClient) -> None:
    client.enqueue("bill", job_id="bill-1")
    (job,) = client.claim(worker="w", start=True)
    with undone(client) as tx:
        client.complete(job.id, worker="w", attempt=job.attempt, tx=tx)

    assert client.get("bill-1") == job
    assert client.complete(job.id, worker="w", attempt=job.attempt).state == "succeeded"
    assert is_sound(client)


@pytest.mark.requirement("ALL-07")
@pytest.mark.parametrize("lost", ["lease_expired", "not_owner"])
def test_worker_that_lost_its_lease_leaves_no_trace_in_its_own_tables(
    client: SyncClient, clock: VirtualClock, lost: str
) -> None:
    client.enqueue("bill", job_id="bill-1")
    (job,) = client.claim(worker="zombie", start=True)
    clock.pass_s(3600)
    if lost == "not_owner":
        client.reconcile()
        clock.pass_s(60)
        client.claim(worker="other", start=True)
    with raises(lost), client.transaction() as tx:
        tx.execute("insert into orders values (1)")
        client.complete(job.id, worker="zombie", attempt=job.attempt, tx=tx)

    assert orders(client) == []
    assert client.get("bill-1").state == "running"


def test_job_is_invisible_to_others_until_the_transaction_commits(client: SyncClient, path: Path) -> None:
    with opened(path) as other:
        with client.transaction() as tx:
            client.enqueue("bill", job_id="bill-1", tx=tx)
            seen = [ids(client), ids(other), child("listed", path)]

        assert seen == [[], [], []]
        assert ids(client) == ids(other) == child("listed", path) == ["bill-1"]


def test_verb_that_is_refused_inside_leaves_the_transaction_usable(client: SyncClient) -> None:
    client.enqueue("bill", job_id="taken", payload=1)
    with client.transaction() as tx:
        tx.execute("insert into orders values (1)")
        with raises("job_exists"):
            client.enqueue("bill", job_id="taken", payload=2, tx=tx)
        with raises("not_found"):
            client.start("nowhere", worker="w", attempt=1, tx=tx)
        client.enqueue("bill", job_id="bill-1", tx=tx)

    assert (orders(client), ids(client)) == ([1], ["bill-1", "taken"])


def test_whole_life_of_a_job_in_one_transaction(client: SyncClient) -> None:
    with client.transaction() as tx:
        client.enqueue("bill", job_id="bill-1", tx=tx)
        (job,) = client.claim(worker="w", tx=tx)
        client.start(job.id, worker="w", attempt=1, tx=tx)
        client.complete(job.id, worker="w", attempt=1, tx=tx)

    assert [event.verb for event in client.history("bill-1")] == ["enqueue", "claim", "start", "complete"]
    assert is_sound(client)


def test_transactions_in_turn_each_see_what_the_one_before_did(client: SyncClient) -> None:
    for number in range(1, 6):
        with client.transaction() as tx:
            assert tx.execute("select count(*) from orders") == [(number - 1,)]
            tx.execute("insert into orders values (?)", (number,))
            client.enqueue("bill", job_id=f"bill-{number}", tx=tx)

    assert (orders(client), len(ids(client))) == ([1, 2, 3, 4, 5], 5)


def test_lifecycle_and_policy_first_used_in_a_rolled_back_transaction_work_later(client: SyncClient) -> None:
    """Numbers given in it may be given anew; nobody may remember the old ones."""
    policies = [Policy(lease_s=40 + number, retry=Retry(max_attempts=2)) for number in range(3)]
    with undone(client) as tx:
        for policy in policies:
            client.enqueue("bill", policy=policy, tx=tx)
    for policy in reversed(policies):
        with client.transaction() as tx:
            client.enqueue("bill", job_id=f"lease-{policy.lease_s:g}", policy=policy, tx=tx)

    assert [client.get(f"lease-{policy.lease_s:g}").policy for policy in policies] == policies


def test_event_loop_goes_on_while_a_transaction_waits_for_its_turn(path: Path) -> None:
    async def second(client: Client, order: list[str]) -> None:
        async with client.transaction():
            order.append("second")

    async def scenario() -> list[str]:
        order: list[str] = []
        async with opened(path) as client:
            async with client.transaction():
                waiting = asyncio.create_task(second(client, order))
                for _ in range(5):
                    await asyncio.sleep(0.01)
                order.append("first")
            await waiting
        return order

    assert asyncio.run(scenario()) == ["first", "second"]


@pytest.mark.requirement("STD-19")
def test_end_and_what_undoes_the_job_commit_or_roll_back_together(client: SyncClient) -> None:
    undone_by = Policy(retry=Retry.never(), compensate=Compensation(kind="refund"))
    client.enqueue("bill", job_id="bill-1", policy=undone_by)
    client.claim(worker="w", start=True)
    with undone(client) as tx:
        client.cancel("bill-1", mode="hard", tx=tx)
    before = ids(client)
    with client.transaction() as tx:
        client.cancel("bill-1", mode="hard", tx=tx)

    assert before == ["bill-1"]
    assert [job.parent_job_id for job in client.find(kind="refund")] == ["bill-1"]
    assert is_sound(client)
