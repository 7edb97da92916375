"""What goes on beside a program's open transaction: who waits for it, who does not, and what the client remembers."""

import asyncio
import time
from typing import Any, Final

import psycopg
import pytest

from detent import Policy
from detent.testing import VirtualClock
from tests.postgres.clients import opened, timed
from tests.postgres.staging import Stage, is_sound
from tests.postgres.transactors import begun
from tests.store.sqlite.files import raises

BUSY_S: Final = 0.3
SOON_S: Final = 1.0
VERBS: Final[dict[str, Any]] = {
    "cancel": lambda client: client.cancel("job"),
    "progress": lambda client: client.progress("job", 0.5, worker="w", attempt=1),
    "renew": lambda client: client.renew("job", worker="w", attempt=1),
    "claim": lambda client: client.claim(worker="w2", limit=5),
    "reconcile": lambda client: client.reconcile(),
}


@pytest.mark.parametrize("verb", ["in the other transaction", "of the client"])
def test_job_that_another_transaction_has_moved_is_waited_for_within_bounds(stage: Stage, verb: str) -> None:
    with opened(stage.url, busy_s=BUSY_S) as client, psycopg.connect(stage.url) as theirs:
        client.enqueue("scan", job_id="job")
        client.cancel("job", tx=theirs)
        began_s = time.monotonic()
        with psycopg.connect(stage.url) as mine, raises("store_locked") as refused:
            client.cancel("job", tx=mine if verb == "in the other transaction" else None)
        waited_s = time.monotonic() - began_s
        theirs.rollback()

        assert "keeps job job locked" in str(refused.value)
        assert BUSY_S <= waited_s < BUSY_S + 2
        assert client.cancel("job").state == "cancelled"


@pytest.mark.alone
@pytest.mark.parametrize("verb", ["cancel", "progress", "renew", "claim", "reconcile"])
def test_client_writes_on_while_a_transaction_keeps_a_job_locked(
    orders_url: str, clock: VirtualClock, verb: str
) -> None:
    """Whatever is asked of the locked job at the same time."""

    async def scene() -> tuple[float, str]:
        async with timed(orders_url, clock) as client, begun("async psycopg", orders_url) as mine:
            await client.enqueue("scan", job_id="job")
            (job,) = await client.claim(worker="w", start=True)
            await client.complete(job.id, worker="w", attempt=job.attempt, tx=mine.tx)
            clock.pass_s(1 if verb in ("progress", "renew") else 3600)
            asked = asyncio.ensure_future(VERBS[verb](client))
            await asyncio.sleep(0)
            began_s = time.monotonic()
            for _ in range(5):
                await client.enqueue("scan")
            took_s = time.monotonic() - began_s
            await mine.commit()
            await asyncio.wait([asked])
            assert await is_sound(client)
            return took_s, (await client.get("job")).state

    took_s, state = asyncio.run(scene())

    assert took_s < SOON_S
    assert state == "succeeded"


def test_transaction_that_was_refused_does_not_keep_the_job_from_others(stage: Stage) -> None:
    with opened(stage.url, busy_s=BUSY_S) as client, psycopg.connect(stage.url) as mine:
        client.enqueue("scan", job_id="job")
        client.claim(worker="w")
        with raises("not_owner"):
            client.start("job", worker="thief", attempt=1, tx=mine)

        assert client.start("job", worker="w", attempt=1).state == "running"


@pytest.mark.alone
def test_job_type_that_a_transaction_brings_first_is_not_held_up_for_others(stage: Stage) -> None:
    policy = Policy(lease_s=41)
    with opened(stage.url) as client, opened(stage.url) as other, psycopg.connect(stage.url) as mine:
        client.enqueue("scan", job_id="mine", policy=policy, tx=mine)
        began_s = time.monotonic()
        other.enqueue("scan", job_id="theirs", policy=policy)
        took_s = time.monotonic() - began_s
        mine.rollback()

        assert took_s < SOON_S
        assert [job.policy for job in client.find()] == [policy]


def test_job_types_first_used_in_a_transaction_that_is_rolled_back_work_later(stage: Stage) -> None:
    policies = [Policy(lease_s=40 + number) for number in range(3)]
    with opened(stage.url) as client, psycopg.connect(stage.url) as mine:
        for policy in policies:
            client.enqueue("scan", policy=policy, tx=mine)
        mine.rollback()
        for policy in reversed(policies):
            client.enqueue("scan", job_id=f"lease-{policy.lease_s:g}", policy=policy, tx=mine)
        mine.commit()

        assert [client.get(f"lease-{policy.lease_s:g}").policy for policy in policies] == policies


@pytest.mark.parametrize("end", ["commit", "rollback"])
def test_client_goes_by_how_the_transaction_ended_whatever_it_remembers(stage: Stage, end: str) -> None:
    """It decides on what it wrote last, without a look, and is put right by the revision."""
    with opened(stage.url) as client, opened(stage.url) as other, psycopg.connect(stage.url) as mine:
        for job_id in ("by itself", "by another"):
            client.enqueue("scan", job_id=job_id)
        jobs = client.claim(worker="w", limit=2, start=True)
        for job, writer in zip(jobs, (client, other), strict=True):
            writer.complete(job.id, worker="w", attempt=1, result="in tx", tx=mine)
        getattr(mine, end)()
        answers = client.complete_many([{"job_id": job.id, "worker": "w", "attempt": 1} for job in jobs])

        codes = [getattr(answer, "code", None) for answer in answers]
        assert codes == (["illegal_move"] * 2 if end == "commit" else [None] * 2)
        assert [client.get(job.id).rev for job in jobs] == [4, 4]
        assert client.verify().is_clean


def test_id_of_a_job_that_was_rolled_back_means_the_job_that_has_it_now(stage: Stage) -> None:
    with opened(stage.url) as client, opened(stage.url) as other, psycopg.connect(stage.url) as mine:
        client.enqueue("scan", job_id="job", payload="rolled back", tx=mine)
        client.claim(worker="w", tx=mine)
        mine.rollback()
        other.enqueue("scan", job_id="job", payload="later")
        cancelled = client.cancel("job")

        assert (cancelled.payload, cancelled.rev) == ("later", 2)
        assert client.verify().is_clean
