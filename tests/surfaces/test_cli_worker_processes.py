"""`detent worker --processes` and `--metrics-port`: several processes that are one worker to whoever looks at it."""

import os
import re
import signal
from pathlib import Path
from urllib.request import urlopen

import pytest

from detent.runtime.tally import Tally
from detent.surfaces.cli.worker.counts import Counts, Spread, over, summed
from detent.surfaces.cli.worker.metrics import text_of
from detent.surfaces.telemetry import families
from tests.client.conftest import store_kind, url
from tests.surfaces.telemetry.parsing import Metric, parsed
from tests.surfaces.test_cli_worker import metrics_url
from tests.surfaces.worker_site import Workers, done, ended, stopped, until

__all__ = ["store_kind", "url"]


@pytest.fixture
def workers(tmp_path: Path, url: str) -> Workers:
    return Workers(tmp_path, url)


@pytest.fixture
def here(tmp_path: Path) -> Workers:
    return Workers(tmp_path, f"sqlite:///{tmp_path}/jobs.db?synchronous=normal")


def metrics(address: str) -> dict[str, Metric]:
    with urlopen(address, timeout=10) as answer:
        return parsed(answer.read().decode())


def test_each_process_is_a_worker_and_all_drain_on_one_signal(workers: Workers) -> None:
    with workers.client() as client, workers.at_work("--processes", "2", "--name", "box") as process:
        until(lambda: len(client.workers()) == 2)
        here = sorted((each.name, each.pid) for each in client.workers())
        done(client, "scan", {"page": 1}, queue="ocr")
        code, _, err = stopped(process)
        after = client.workers()

    assert [name for name, _ in here] == ["box.1", "box.2"]
    assert process.pid not in {pid for _, pid in here}
    assert code == 0
    assert "stopping 2 processes" in err
    assert re.search(r"stopped after .*: 1 done, 0 failed, 0 retried\n$", err)
    assert after == []


def test_process_that_dies_is_replaced_and_what_it_counted_stays(workers: Workers) -> None:
    with workers.client() as client, workers.at_work("--processes", "2", "--metrics-port", "0") as process:
        address = metrics_url(process)
        done(client, "scan", {"page": 1}, queue="ocr")
        until(lambda: metrics(address)["detent_claims_total"].sum() == 1)
        dying = client.workers()[0]
        os.kill(dying.pid, signal.SIGKILL)
        until(lambda: any(each.name == dying.name and each.pid != dying.pid for each in client.workers()))
        until(lambda: metrics(address)["detent_slots"].sum() == 2 * dying.slots)
        kept = metrics(address)["detent_claims_total"].sum()
        code, _, err = stopped(process)

    assert kept == 1
    assert code == 0
    assert f"process of worker {dying.name} was killed by SIGKILL; another one starts in 1 s" in err


def test_signal_that_comes_to_all_processes_begins_one_drain(here: Workers, tmp_path: Path) -> None:
    """As systemd sends it: to the parent, and to each of the others."""
    mark = tmp_path / "mark"
    with here.client() as client, here.at_work("--processes", "2") as process:
        until(lambda: len(client.workers()) == 2)
        job = client.enqueue("deaf", {"mark": str(mark)})
        until(mark.exists)
        for pid in [process.pid, *(each.pid for each in client.workers())]:
            os.kill(pid, signal.SIGTERM)
        code, _, _ = ended(process)
        after = client.get(job.id)

    assert (code, after.state, after.attempt) == (0, "succeeded", 1)


def test_second_signal_ends_all_processes_at_once(here: Workers, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    with here.client() as client, here.at_work("--processes", "2", "--grace", "1h") as process:
        job = client.enqueue("linger", {"mark": str(mark)})
        until(mark.exists)
        process.send_signal(signal.SIGINT)
        until(lambda: all(each.is_draining for each in client.workers()))
        code, _, _ = ended(process, signal.SIGINT)
        after = client.get(job.id)

    assert (code, after.state) == (0, "queued")


def test_processes_whose_parent_is_killed_drain_by_themselves(here: Workers) -> None:
    with here.client() as client, here.at_work("--processes", "2") as process:
        until(lambda: len(client.workers()) == 2)
        process.kill()
        until(lambda: client.workers() == [])


@pytest.mark.requirement("STD-16")
def test_metrics_count_what_was_done_by_kind(workers: Workers) -> None:
    with workers.client() as client, workers.at_work("--metrics-port", "0") as process:
        address = metrics_url(process)
        done(client, "scan", {"page": 1}, queue="ocr")
        client.wait(client.enqueue("fail", policy={"retry": {"max_attempts": 2, "base_s": 0}}).id, timeout_s=40)
        until(lambda: metrics(address)["detent_dead_letters_total"].sum() == 1)
        counted = metrics(address)
        stopped(process)

    assert counted["detent_claims_total"].value(queue="ocr", kind="scan") == 1
    assert counted["detent_claims_total"].value(queue="default", kind="fail") == 2
    assert counted["detent_claim_conflicts_total"].value() == 0
    assert counted["detent_lease_renewals_total"].value() >= 0
    assert counted["detent_lease_expiries_total"].value() == 0
    assert counted["detent_lease_losses_total"].sum() == 0
    assert counted["detent_attempts_total"].value(kind="scan", outcome="success") == 1
    assert counted["detent_retries_total"].value(kind="fail") == 1
    assert counted["detent_failures_total"].value(kind="fail", error="LookupError") == 2
    assert counted["detent_dead_letters_total"].value(kind="fail", reason="exhausted_retries") == 1
    assert counted["detent_run_seconds"].value("_count", kind="fail") == 2
    assert counted["detent_run_seconds"].value("_bucket", kind="scan", le="30") == 1
    assert counted["detent_wait_seconds"].value("_count", kind="fail") == 1  # of its first attempt
    assert counted.keys() == {family.full_name for family in families.WORKER}


def test_all_that_a_worker_counts_is_in_its_metrics() -> None:
    assert set(vars(Tally())) <= set(Counts.__struct_fields__)


def test_several_processes_are_added_up_histograms_as_well() -> None:
    one = Counts(claims={"ocr": {"scan": 1}}, runs={"scan": Spread([1] * 19, 2.0)})
    other = Counts(claims={"ocr": {"scan": 2, "print": 3}}, runs={"scan": Spread([2] * 19, 3.0)})
    added = parsed(text_of(summed([one, over(other)])))

    assert added["detent_claims_total"].value(queue="ocr", kind="scan") == 3
    assert added["detent_claims_total"].value(queue="ocr", kind="print") == 3
    assert added["detent_run_seconds"].value("_sum", kind="scan") == 5
    assert added["detent_run_seconds"].value("_bucket", kind="scan", le="0.01") == 6


def test_verdicts_are_counted_by_their_word() -> None:
    counted = parsed(text_of(Counts(verdicts={"allow": 2, "deny": 1})))

    assert counted["detent_verdicts_total"].value(verdict="allow") == 2
