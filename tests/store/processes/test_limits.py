"""Jobs that share limits: sixteen workers in four processes; and a crowd that is in nobody's way."""

import time
from typing import Final

import pytest

import detent
from detent import Limit, Policy
from tests.figures import Show
from tests.store.processes.limiting import run_limited

WAITING: Final = 20_000
QUICK_S: Final = 0.25  # past as many jobs, on a busy machine; one by one they would take seconds
ONE: Final = Policy(limit=Limit(concurrency_max=1))


@pytest.mark.requirement("STD-14", "ALL-05")
def test_workers_of_many_processes_never_exceed_a_limit(url: str, show: Show) -> None:
    outcome = run_limited(url)

    show(outcome.summary)
    assert outcome.faults == []


@pytest.mark.alone
def test_claim_past_thousands_of_jobs_of_a_used_up_key_is_quick(url: str, show: Show) -> None:
    took_s = []
    with detent.connect(url) as client:
        for _ in range(4):
            client.enqueue_many([{"kind": "scan", "policy": ONE, "limit_key": "k"}] * (WAITING // 4))
        client.enqueue_many([{"kind": "scan", "job_id": f"free{number}"} for number in range(20)])
        assert len(client.claim(worker="w1")) == 1
        for number in range(20):
            began_s = time.perf_counter()
            taken = client.claim(worker="w1")
            took_s.append(time.perf_counter() - began_s)

            assert [job.id for job in taken] == [f"free{number}"]
    show(f"claims past {WAITING:,} jobs: {min(took_s) * 1_000:.1f} to {max(took_s) * 1_000:.1f} ms")
    assert sorted(took_s)[len(took_s) // 2] < QUICK_S
