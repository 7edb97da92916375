"""What a session remembers of records is never what it decides on, once anybody else has written."""

from pathlib import Path
from typing import Final

import pytest

from detent import DetentError, Job
from detent.store.sqlite.session import REMEMBERED_BYTES_MAX, REMEMBERED_MAX
from tests.store.sqlite.files import child, is_sound, opened, raises, run_to_success, undone

ROUNDS: Final = 50
LARGE: Final = "x" * (REMEMBERED_BYTES_MAX + 1)


def owned(job: Job, worker: str) -> dict[str, object]:
    return {"job_id": job.id, "worker": worker, "attempt": job.attempt}


@pytest.mark.requirement("ALL-06")
def test_two_stores_on_one_file_decide_on_what_the_other_wrote(path: Path) -> None:
    with opened(path) as first, opened(path) as second:
        first.enqueue("scan", job_id="job")
        for number in range(ROUNDS):
            one, other = (first, second) if number % 2 else (second, first)
            (job,) = one.claim(worker=f"w{number}")
            with raises("illegal_move"):
                other.submit("job")
            other.start("job", worker=f"w{number}", attempt=number + 1, expected_rev=job.rev)
            with raises("stale_rev"):
                one.renew("job", worker=f"w{number}", attempt=number + 1, expected_rev=job.rev)
            one.renew("job", worker=f"w{number}", attempt=number + 1)
            other.release("job", worker=f"w{number}", attempt=number + 1)

        assert first.get("job") == second.get("job")
        assert (first.get("job").rev, first.get("job").interruptions) == (1 + 4 * ROUNDS, ROUNDS)
        assert is_sound(second)


def test_job_that_another_process_made_is_seen_after_it_was_looked_for_in_vain(path: Path) -> None:
    with opened(path) as client:
        for number in range(3):
            with raises("not_found"):
                client.cancel(f"job-{number}")
            missing = client.complete_many({"job_id": f"job-{number}", "worker": "w", "attempt": 1} for _ in range(2))
            child("enqueue", path, f"job-{number}")

            assert [getattr(answer, "code", None) for answer in missing] == ["not_found"] * 2
            assert client.cancel(f"job-{number}").state == "cancelled"


def test_job_that_another_pruned_is_gone(path: Path) -> None:
    with opened(path) as client, opened(path) as other:
        client.enqueue("scan", job_id="job")
        client.cancel("job")
        other.prune(others_s=0)

        with raises("not_found"):
            client.rerun("job")
        assert client.enqueue("scan", job_id="job").answer == "applied"


def test_job_that_this_one_pruned_is_gone(path: Path) -> None:
    with opened(path) as client:
        client.enqueue("scan", job_id="job", payload=1)
        client.cancel("job")
        client.get("job")
        assert client.prune(others_s=0).jobs == 1

        with raises("not_found"):
            client.rerun("job")
        assert client.enqueue("scan", job_id="job", payload=2).answer == "applied"
        assert client.get("job").payload == 2


def test_what_a_transaction_of_the_same_client_wrote_is_seen(path: Path) -> None:
    """It has a connection of its own."""
    with opened(path) as client:
        client.enqueue("scan", job_id="job")
        with client.transaction() as tx:
            client.cancel("job", tx=tx)

        with raises("illegal_move"):
            client.cancel("job")
        assert client.get("job").state == "cancelled"


@pytest.mark.parametrize("payload", ["small", LARGE])
def test_after_a_rollback_decisions_are_made_on_what_is_there(path: Path, payload: str) -> None:
    with opened(path) as client:
        client.enqueue("scan", job_id="job", payload=payload)
        for _ in range(3):
            with undone(client) as tx:
                client.cancel("job", tx=tx)
                client.enqueue("scan", job_id="other", tx=tx)
            assert client.get("job").state == "queued"
            with raises("not_found"):
                client.cancel("other")

        assert client.cancel("job").state == "cancelled"
        assert is_sound(client)


@pytest.mark.parametrize("excess", [0, 1, 100_000])
def test_job_with_a_large_payload_goes_its_way_verb_by_verb(path: Path, excess: int) -> None:
    payload = "x" * (REMEMBERED_BYTES_MAX - 2 + excess)
    with opened(path) as client:
        client.enqueue("scan", job_id="job", payload=payload)
        (job,) = client.claim(worker="w")
        client.start("job", worker="w", attempt=1)
        client.renew("job", worker="w", attempt=1, checkpoint=payload)
        client.complete("job", worker="w", attempt=1, result=payload)

        assert job.payload == client.get("job").result == client.get("job").checkpoint == payload
        assert is_sound(client)


@pytest.mark.parametrize("payload", ["small", LARGE], ids=["small", "large"])
def test_jobs_go_their_way_in_batches_however_large_their_payload(path: Path, payload: str) -> None:
    with opened(path) as client:
        client.enqueue_many({"kind": "scan", "payload": payload} for _ in range(3))
        claimed = client.claim(worker="w", limit=3)
        started = client.start_many([owned(job, "w") for job in claimed])
        renewed = client.renew_many([owned(job, "w") for job in claimed])
        ended = client.complete_many([owned(job, "w") for job in claimed])
        answers = [*started, *renewed, *ended]

        assert [answer for answer in answers if isinstance(answer, DetentError)] == []
        assert is_sound(client)


@pytest.mark.parametrize("payload", ["small", LARGE], ids=["small", "large"])
def test_batch_that_names_a_taken_id_is_told_so_however_large_the_payload(path: Path, payload: str) -> None:
    with opened(path) as client:
        client.enqueue("scan", job_id="taken", payload=payload)
        answers = client.enqueue_many([{"kind": "scan", "job_id": "taken", "payload": 2}, {"kind": "scan"}])

        assert [getattr(answer, "code", None) for answer in answers] == ["job_exists", None]


def test_more_jobs_than_are_remembered_all_go_their_way(path: Path) -> None:
    count = REMEMBERED_MAX + 500
    with opened(path, synchronous="normal") as client:
        run_to_success(client, count)
        report = client.verify()

        assert (report.jobs, report.events) == (count, 4 * count)
        assert not report.violations
        assert client.find(phase="ready").items == []
