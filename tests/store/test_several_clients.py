"""What one client says, another's answer shows; and what a batch takes out of a queue is not counted twice."""

from pathlib import Path

import pytest

from detent import SyncClient, connect
from detent.client.sync import run
from detent.errors import Refused
from detent.kernel.command import Cancel
from detent.store import Reply, Request


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/jobs.db?synchronous=normal"
    emptied: str = request.getfixturevalue("pg_emptied")
    return emptied


def test_answer_shows_the_progress_that_another_client_has_told_of_meanwhile(url: str) -> None:
    """Progress is no move: the revision that a client remembers is still right, and what it remembers is not."""
    with connect(url) as one, connect(url) as other:
        job = one.enqueue("scan")
        (held,) = one.claim(worker="w")
        other.progress(job.id, 0.5, "half", worker="w", attempt=1)
        started = one.start(job.id, worker="w", attempt=1)
        other.progress(job.id, 0.9, "nearly", worker="w", attempt=1)
        done = one.complete(job.id, worker="w", attempt=1)
        kept = other.get(job.id)

    assert held.progress is None
    assert [job.progress and job.progress.message for job in (started, done, kept)] == ["half", "nearly", "nearly"]


def test_queue_that_is_over_its_limit_has_no_room_when_a_batch_takes_one_job_out(url: str) -> None:
    with connect(url) as client:
        for job_id in "abc":
            client.enqueue("scan", job_id=job_id)
        draft = client.enqueue("scan", lifecycle="document")
        client.limit_queue("default", depth_max=1)
        submit = client.client._request("submit", draft.id, {})
        first = asked(client, [cancel("a"), submit])
        second = asked(client, [cancel("b"), cancel("c"), submit])

    assert first == ["applied", "queue_full"], "two wait, and one may"
    assert second == ["applied", "applied", "applied"]


def cancel(job_id: str) -> Request:
    return Request("default", job_id, Cancel())


def asked(client: SyncClient, requests: list[Request]) -> list[str]:
    replies = run(client.client.store.apply(requests))
    assert all(isinstance(reply, Reply | Refused) for reply in replies)
    return [reply.answer if isinstance(reply, Reply) else reply.code for reply in replies]


def test_definitions_that_a_store_keeps_are_made_once_however_many_clients_read_them(url: str) -> None:
    with connect(url) as one, connect(url) as other:
        first, second = (run(client.client.store.register()) for client in (one, other))

    assert [each.name for each in first] == [each.name for each in second] != []
    assert all(read is again for read, again in zip(first, second, strict=True))
