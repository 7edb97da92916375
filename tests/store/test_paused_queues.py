"""A pause is heard by every client at its next claim, whatever it remembers, and in whosever transaction it claims."""

from pathlib import Path

import pytest

from detent import SyncClient, connect


@pytest.fixture(params=["sqlite", "postgres"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/jobs.db?synchronous=normal"
    emptied: str = request.getfixturevalue("pg_emptied")
    return emptied


def taken(client: SyncClient) -> list[str]:
    return [job.id for job in client.claim(worker="w", queues=["ocr", "mail"])]


def test_pause_by_one_client_is_heard_by_another_at_its_next_claim(url: str) -> None:
    with connect(url) as one, connect(url) as other:
        one.enqueue_many([{"kind": "scan", "queue": "ocr", "job_id": str(number)} for number in range(4)])
        answers = [taken(one), taken(other)]
        one.pause_queue("ocr")
        answers += [taken(one), taken(other)]
        other.resume_queue("ocr")
        answers += [taken(one), taken(other)]

    assert answers == [["0"], ["1"], [], [], ["2"], ["3"]]


def test_claim_in_a_transaction_of_ones_own_passes_over_a_paused_queue_too(url: str) -> None:
    with connect(url) as client:
        client.enqueue("scan", queue="ocr", job_id="o")
        client.enqueue("scan", queue="mail", job_id="m")
        client.pause_queue("ocr")
        with client.transaction() as tx:
            claimed = client.claim(worker="w", queues=["ocr", "mail"], limit=10, tx=tx)

        assert [job.id for job in claimed] == ["m"]


def test_settings_outlive_the_client_that_made_them(url: str) -> None:
    with connect(url) as client:
        client.pause_queue("ocr", actor="ann", reason="moving")
        client.limit_queue("ocr", depth_max=7)
    with connect(url) as client:
        queue = client.queue("ocr")

    assert (queue.paused_by, queue.paused_reason, queue.depth_max) == ("ann", "moving", 7)
