"""What `detent job explain` and `job wait` say while real workers are there, on either store."""

from pathlib import Path

import pytest

from tests.client.conftest import store_kind, url
from tests.surfaces.running import detent
from tests.surfaces.worker_site import Workers, done, stopped, until

__all__ = ["store_kind", "url"]


@pytest.fixture
def workers(tmp_path: Path, url: str) -> Workers:
    return Workers(tmp_path, url)


def explained(workers: Workers, job_id: str) -> str:
    return " ".join(detent("job", "explain", job_id, "--url", workers.url).stdout.split())


def test_job_that_no_worker_would_take_is_told_why(workers: Workers) -> None:
    with workers.client() as client, workers.at_work("--queue", "ocr", "--name", "w7") as process:
        until(client.workers)
        other_queue = client.enqueue("pid")
        other_kind = client.enqueue("unknown", queue="ocr")
        queue, kind = explained(workers, other_queue.id), explained(workers, other_kind.id)
        stopped(process)
        gone = explained(workers, other_queue.id)

    assert "nobody serves queue 'default'; other queues are served, by 'w7'" in queue
    assert "nobody serves kind 'unknown'; queue 'ocr' is served for other kinds, by 'w7'" in kind
    assert "no worker has ever claimed from queue 'default'" in gone


def test_job_that_waits_for_a_busy_worker_or_a_paused_queue_is_told_so(workers: Workers, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    one = ("--concurrency", "1", "--threads", "1", "--children", "1", "--name", "w7", "--grace", "0s")
    with workers.client() as client, workers.at_work(*one):
        client.enqueue("linger", {"mark": str(mark)})
        until(mark.exists)
        waiting = client.enqueue("linger", {"mark": str(mark)})
        client.pause_queue("default", actor="ann", reason="too much")
        paused = explained(workers, waiting.id)
        client.resume_queue("default")
        until(lambda: client.workers()[0].running == 1)
        busy = explained(workers, waiting.id)

    assert "queue 'default' is paused, nothing is claimed from it; ann paused it: too much" in paused
    assert "the workers that serve it are busy, 1 of 1 async slots: 'w7'" in busy


def test_waiting_ends_when_the_worker_has_run_the_job(workers: Workers) -> None:
    with workers.client() as client, workers.at_work():
        done(client, "scan", {"page": 1}, queue="ocr")
        job = client.enqueue("scan", {"page": 2}, queue="ocr")
        waited = detent("job", "wait", job.id, "--url", workers.url, "--timeout", "30s")
        broken = client.enqueue("fail", policy={"retry": {"max_attempts": 1}})
        failed = detent("job", "wait", broken.id, "--url", workers.url, "--timeout", "30s")

    assert (waited.exit_code, failed.exit_code) == (0, 10)
    assert "LookupError: no such page" in failed.stdout
