"""Workers that are killed or stand still: others take over, never two at once, and whoever comes back is told."""

import time
from collections import Counter
from random import Random
from typing import Any

import pytest

import detent
from detent import Policy, Retry
from detent.client import SyncClient
from tests.runtime.program import WorkerProgram

LEASE_S = 1.0
POLICY = Policy(
    lease_s=LEASE_S, heartbeat_s=0.4, allow_unusual_lease=True, retry=Retry(max_attempts=5, base_s=0.01, crashes_max=3)
)


@pytest.mark.alone
@pytest.mark.requirement("ALL-01", "STD-04")
def test_jobs_of_a_killed_worker_are_recovered_by_another_within_lease_and_five_seconds(url: str) -> None:
    with detent.connect(url) as client, WorkerProgram("worker", url=url, name="first") as first:
        first.hear()
        items = [{"kind": "wait", "payload": {"for_s": 0.5}, "policy": POLICY, "job_id": f"job{n}"} for n in range(50)]
        client.enqueue_many(items)
        begun = [first.hear() for _ in range(10)]
        assert all("began" in line for line in begun)
        first.kill()
        killed_s = time.monotonic()
        running = [job.id for job in client.find(owner="first", limit=100)]
        with WorkerProgram("worker", url=url, name="second"):
            ends = [client.wait(f"job{n}", timeout_s=30) for n in range(50)]
            took_s = time.monotonic() - killed_s

        assert {job.state for job in ends} == {"succeeded"}
        assert took_s < LEASE_S + 5 + 3  # with the start of a process, and the work itself
        crashed = {job.id for job in ends if job.crashes}
        assert crashed == set(running)
        assert all((job.attempt, job.failures) == (1 + job.crashes, 0) for job in ends)
        assert client.verify().violations == ()


@pytest.mark.requirement("ALL-16")
def test_job_that_kills_its_worker_every_time_ends_in_the_dead_letters(url: str) -> None:
    with detent.connect(url) as client:
        job = client.enqueue("die", policy=POLICY)
        for number in range(3):
            with WorkerProgram("worker", url=url, name=f"w{number}", isolations=["thread"]) as program:
                while "began" not in program.hear():
                    pass
                _wait_for_end(program)
        with WorkerProgram("worker", url=url, name="last", isolations=["async"]):
            ended = client.wait(job.id, timeout_s=30)

        assert (ended.state, ended.crashes, ended.failures, ended.attempt) == ("dead_lettered", 3, 0, 3)
        assert ended.error is not None
        assert ended.error.reason_code == "infrastructure_failure"


def _wait_for_end(program: WorkerProgram) -> None:
    deadline_s = time.monotonic() + 20
    while program.is_running:
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


@pytest.mark.requirement("ALL-07")
def test_worker_paused_past_its_leases_is_refused_noted_and_its_handlers_told(url: str) -> None:
    count = 10
    with (
        detent.connect(url) as client,
        WorkerProgram("worker", url=url, name="zombie", isolations=["thread"]) as zombie,
    ):
        zombie.hear()
        for number in range(count):
            client.enqueue("zombie", {"for_s": 60, "again_s": 1}, policy=POLICY, job_id=f"job{number}")
        first = {tuple(zombie.hear()["began"]) for _ in range(count)}
        zombie.pause()
        given: dict[str, Any] = {"url": url, "name": "second", "isolations": ["thread"]}
        with WorkerProgram("worker", **given) as second:
            second.hear()
            again = {tuple(second.hear()["began"]) for _ in range(count)}
            zombie.resume()
            told = {tuple(zombie.hear()["lost"]) for _ in range(count)}
            notes = Counter[str]()
            for number in range(count):
                notes[_late_note(client, f"job{number}")] += 1
            ends = [client.wait(f"job{number}", timeout_s=30) for number in range(count)]

        assert first == told == {(f"job{number}", 1) for number in range(count)}
        assert again == {(f"job{number}", 2) for number in range(count)}
        assert sum(notes.values()) == count
        assert {job.result for job in ends} == {"attempt 2"}
        assert client.verify().violations == ()


def _late_note(client: SyncClient, job_id: str) -> str:
    deadline_s = time.monotonic() + 10
    while True:
        late = [note for note in client.notes(job_id) if note.kind == "late_result"]
        if late:
            assert len(late) == 1
            return str(late[0].payload["refused"])
        assert time.monotonic() < deadline_s
        time.sleep(0.05)


def test_effects_in_the_jobs_own_transactions_happen_once_however_often_workers_are_killed(url: str) -> None:
    count, kills, dice = 300, 4, Random(6)
    with detent.connect(url) as client:
        with client.transaction() as tx:
            tx.execute("drop table if exists effects")
            tx.execute("create table effects (job text)")
        client.enqueue_many([{"kind": "insert", "policy": POLICY, "job_id": f"job{n}"} for n in range(count)])
        for number in range(kills):
            with WorkerProgram("worker", url=url, name=f"w{number}", threads=4, isolations=["thread"]) as program:
                program.hear()
                time.sleep(dice.uniform(0.05, 0.3))
                program.kill()
        with WorkerProgram("worker", url=url, name="last", threads=4, isolations=["thread"]):
            ends = [client.wait(f"job{n}", timeout_s=60) for n in range(count)]
        with client.transaction() as tx:
            rows = [job for (job,) in tx.execute("select job from effects")]

        assert {job.state for job in ends} == {"succeeded"}
        assert sorted(rows) == sorted(job.id for job in ends)
        assert client.verify().violations == ()
