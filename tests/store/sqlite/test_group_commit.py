"""Callers that come together share a transaction, and nothing else: not its failure, not each other's end."""

import asyncio
from pathlib import Path
from typing import Final

import pytest

from detent import Client, DetentError, Job
from detent.kernel.command import Claim
from detent.store import Request
from tests.store.sqlite.files import child, is_sound, opened, raises
from tests.store.sqlite.watching import watched

CALLERS: Final = 200


def test_concurrent_enqueues_commit_in_far_fewer_transactions(path: Path) -> None:
    async def enqueue_together(client: Client) -> list[Job]:
        return await asyncio.gather(*(client.enqueue("scan", job_id=f"job-{n}") for n in range(CALLERS)))

    async def scenario() -> tuple[int, list[Job]]:
        with watched() as watch:
            async with opened(path) as client:
                watch.reset()
                jobs = await enqueue_together(client)
                return watch.commits, jobs

    commits, jobs = asyncio.run(scenario())

    assert 1 <= commits <= CALLERS // 10
    assert len(child("listed", path)) == CALLERS == len({job.id for job in jobs})


def test_callers_one_after_the_other_each_commit(path: Path) -> None:
    """What is acknowledged is committed: nobody's answer waits for company."""
    with watched() as watch, opened(path) as client:
        watch.reset()
        for _ in range(5):
            client.enqueue("scan")

        assert watch.commits == 5


def test_refusals_of_some_do_not_touch_the_others(path: Path) -> None:
    async def scenario() -> list[Job | BaseException]:
        async with opened(path) as client:
            await client.enqueue("scan", job_id="taken", payload=1)
            asked = [client.enqueue("scan", job_id="taken" if n % 3 == 0 else f"job-{n}", payload=2) for n in range(30)]
            return await asyncio.gather(*asked, return_exceptions=True)

    answers = asyncio.run(scenario())

    assert [getattr(answer, "code", None) for answer in answers] == ["job_exists", None, None] * 10
    assert len(child("listed", path)) == 21


def test_request_that_breaks_in_a_group_fails_alone(path: Path) -> None:
    """A bug of one caller's: its transaction is undone, and the others are done again without it."""
    broken = Request("default", "job-1", Claim(worker="w"), None)

    async def scenario() -> tuple[list[object], int]:
        async with opened(path) as client:
            good = [client.enqueue("scan", job_id=f"job-{n}") for n in range(20)]
            bad = [client.store.apply([broken, "no request at all"])]  # type: ignore[list-item]
            answers = await asyncio.gather(*good[:10], *bad, *good[10:], return_exceptions=True)
            later = await client.enqueue("scan", job_id="later")
            return answers, later.rev

    answers, rev = asyncio.run(scenario())

    assert [isinstance(answer, AttributeError) for answer in answers] == [False] * 10 + [True] + [False] * 10
    assert rev == 1
    assert len(child("listed", path)) == 21


def test_caller_that_is_cancelled_breaks_nothing_for_later_ones(path: Path) -> None:
    async def scenario() -> bool:
        async with opened(path) as client:
            for _ in range(20):
                tasks = [asyncio.create_task(client.enqueue("scan")) for _ in range(10)]
                await asyncio.sleep(0)
                for task in tasks[::2]:
                    task.cancel()
                answers = await asyncio.gather(*tasks, return_exceptions=True)
                assert [isinstance(each, asyncio.CancelledError) for each in answers] == [True, False] * 5
            return not (await client.verify()).violations

    assert asyncio.run(scenario())


def test_work_that_was_handed_in_is_done_before_the_client_closes(path: Path) -> None:
    async def scenario() -> list[Job | BaseException]:
        async with opened(path) as client:
            tasks = [asyncio.create_task(client.enqueue("scan")) for _ in range(50)]
            await asyncio.sleep(0)
        return await asyncio.gather(*tasks, return_exceptions=True)

    answers = asyncio.run(scenario())

    assert all(isinstance(answer, Job) for answer in answers)
    assert len(child("listed", path)) == 50


@pytest.mark.parametrize("verb", ["enqueue", "get", "claim", "transaction"])
def test_closed_client_says_so(path: Path, verb: str) -> None:
    with opened(path) as client:
        client.enqueue("scan", job_id="job")

    with raises("not_connected"):
        match verb:
            case "enqueue":
                client.enqueue("scan")
            case "get":
                client.get("job")
            case "claim":
                client.claim(worker="w")
            case _:
                client.transaction().__enter__()


def test_closed_client_can_be_opened_again(path: Path) -> None:
    with opened(path) as client:
        client.enqueue("scan", job_id="first")
    client.open()
    client.enqueue("scan", job_id="second")
    sound = is_sound(client)
    client.close()
    client.close()  # twice is as good as once

    assert sound
    assert child("listed", path) == ["first", "second"]


def test_error_of_a_batch_item_is_its_own(path: Path) -> None:
    with opened(path) as client:
        answers = client.enqueue_many([{"kind": "scan"}, {"kind": ""}, {"nothing": 1}, {"kind": "scan"}])

        assert [isinstance(answer, DetentError) for answer in answers] == [False, True, True, False]
