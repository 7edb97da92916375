"""Processes that stand still, by SIGSTOP: past their lease, and in the middle of a transaction."""

import time
from pathlib import Path
from typing import Final

import pytest

import detent
from detent.client import SyncClient
from tests.store.processes.program import Program
from tests.store.processes.stores import url_of

LEASE_S: Final = 0.4
BUSY_S: Final = 0.3
WAIT_S: Final = 20.0
# What became of the job while its first owner stood still, and what that owner is told when it reports its result.
MEANWHILE: Final = {
    "its lease ran out": "lease_expired",
    "it was queued again": "illegal_move",
    "another claimed it": "not_owner",
    "another finished it": "illegal_move",
}


def owner_of_a_job(folder: Path, client: SyncClient) -> Program:
    """A process that holds the only job there is, on a short lease."""
    client.enqueue("k", policy=detent.Policy(retry=detent.Retry(base_s=0)))
    return Program("owner", url=url_of(folder), worker="first", lease_s=LEASE_S)


def reconcile_until_expired(client: SyncClient) -> None:
    deadline_s = time.monotonic() + WAIT_S
    while client.reconcile() == 0:
        assert time.monotonic() < deadline_s, "the lease never ran out"
        time.sleep(0.02)


def let_happen(what: str, client: SyncClient, job_id: str) -> None:
    """Everything up to what is to have happened, in its order."""
    if what == "its lease ran out":
        time.sleep(1.5 * LEASE_S)
        return
    reconcile_until_expired(client)
    if what != "it was queued again":
        take_over(client, job_id)
    if what == "another finished it":
        finish(client, job_id)


def take_over(client: SyncClient, job_id: str) -> None:
    deadline_s = time.monotonic() + WAIT_S
    while not (claimed := client.claim(worker="second", start=True)):
        assert time.monotonic() < deadline_s, "the job never came back"
        time.sleep(0.02)
    assert [job.id for job in claimed] == [job_id]


def finish(client: SyncClient, job_id: str) -> None:
    client.complete(job_id, worker="second", attempt=2, result={"by": "second"})


@pytest.mark.requirement("ALL-01", "ALL-07")
@pytest.mark.parametrize("meanwhile", MEANWHILE)
def test_a_worker_paused_past_its_lease_changes_nothing(tmp_path: Path, meanwhile: str) -> None:
    with detent.connect(url_of(tmp_path)) as client, owner_of_a_job(tmp_path, client) as owner:
        job_id = owner.hear()["job_id"]
        owner.pause()
        let_happen(meanwhile, client, job_id)
        before = client.get(job_id)
        owner.resume()
        owner.say(go=True)
        (told,) = owner.ended()

        assert told == {"refused": MEANWHILE[meanwhile]}
        assert client.get(job_id) == before
        (note,) = client.notes(job_id)
        assert (note.kind, note.payload["refused"]) == ("late_result", MEANWHILE[meanwhile])


@pytest.mark.requirement("ALL-07")
def test_the_second_attempt_wins_over_a_worker_that_was_paused(tmp_path: Path) -> None:
    with detent.connect(url_of(tmp_path)) as client, owner_of_a_job(tmp_path, client) as owner:
        job_id = owner.hear()["job_id"]
        owner.pause()
        let_happen("another claimed it", client, job_id)
        owner.resume()
        owner.say(go=True)
        owner.ended()
        finish(client, job_id)

        job = client.get(job_id)
        assert (job.state, job.attempt, job.result) == ("succeeded", 2, {"by": "second"})
        assert [note.kind for note in client.notes(job_id)] == ["late_result"]
        assert client.verify().is_clean


def test_a_process_paused_inside_a_transaction_locks_writers_out_until_it_goes_on(tmp_path: Path) -> None:
    with detent.connect(url_of(tmp_path)) as client:
        client.enqueue("before", job_id="before")
    with (
        Program("holder", url=url_of(tmp_path)) as holder,
        detent.connect(url_of(tmp_path, busy_s=BUSY_S)) as client,
    ):
        holder.hear()
        holder.pause()
        began_s = time.monotonic()
        with pytest.raises(detent.StoreError) as locked:
            client.enqueue("meanwhile")
        waited_s = time.monotonic() - began_s
        read = client.get("before")
        holder.resume()
        holder.say(go=True)
        holder.ended()
        after = client.enqueue("after")

        assert locked.value.code == "store_locked"
        assert f"more than {BUSY_S:g} s" in str(locked.value)
        assert BUSY_S <= waited_s < BUSY_S + 2
        assert read.state == client.get("held").state == after.state == "queued"
        assert client.verify().is_clean


def test_a_process_killed_inside_a_transaction_leaves_no_trace_and_no_lock(tmp_path: Path) -> None:
    with detent.connect(url_of(tmp_path)) as client, Program("holder", url=url_of(tmp_path)) as holder:
        holder.hear()
        holder.pause()
        holder.kill()
        after = client.enqueue("after")

        assert client.get(after.id).state == "queued"
        with pytest.raises(detent.NotFound):
            client.get("held")
        assert client.verify().is_clean
