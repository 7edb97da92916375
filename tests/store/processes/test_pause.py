"""Processes that stand still, by SIGSTOP: past their lease, and in the middle of a transaction."""

import time
from pathlib import Path
from typing import Final

import pytest

import detent
from tests.figures import Show
from tests.store.processes.pausing import run_pauses
from tests.store.processes.program import Program
from tests.store.processes.stores import url_of

BUSY_S: Final = 0.3


@pytest.mark.requirement("ALL-01", "ALL-07")
def test_a_worker_paused_past_its_lease_changes_nothing(url: str, show: Show) -> None:
    outcome = run_pauses(url, owners=4, rounds=5)

    show(outcome.summary)
    assert outcome.faults == []


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


def test_a_process_killed_inside_a_transaction_leaves_no_trace_and_no_lock(url: str) -> None:
    with detent.connect(url) as client, Program("holder", url=url) as holder:
        holder.hear()
        holder.pause()
        holder.kill()
        after = client.enqueue("after")

        assert client.get(after.id).state == "queued"
        with pytest.raises(detent.NotFound):
            client.get("held")
        assert client.enqueue("held", job_id="held").answer == "applied"
        assert client.verify().is_clean
