"""Batches of jobs with dedupe keys: all keys are looked up at once, not each after the other."""

import time

import pytest

from detent.client import Job, SyncClient, connect

KEYS = 400


def took_s(client: SyncClient, **fields: str) -> float:
    items = [{"kind": "scan", **{name: f"{value}{n}" for name, value in fields.items()}} for n in range(KEYS)]
    began = time.process_time() + time.perf_counter()
    answers = client.enqueue_many(items)
    spent = time.process_time() + time.perf_counter() - began
    assert all(isinstance(answer, Job) for answer in answers)
    return spent


@pytest.mark.alone
def test_keys_of_a_batch_cost_little_more_than_the_batch(pg_emptied: str) -> None:
    with connect(pg_emptied) as client:
        took_s(client)
        plain = min(took_s(client) for _ in range(3))
        keyed = min(took_s(client, dedupe_key=f"{run}k") for run in range(3))  # a disk may stall, but not three times

        assert keyed < 12 * plain  # one by one, with a plan made anew after each, it was forty times as much
        again = client.enqueue_many([{"kind": "scan", "dedupe_key": f"0k{n}"} for n in range(KEYS)])
        assert [job.answer for job in again if isinstance(job, Job)] == ["duplicate"] * KEYS
