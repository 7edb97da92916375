"""`detent job explain`: what an engineer on call reads, and what to type next."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from detent.client import SyncClient
from detent.lifecycle import Policy, Retry
from detent.store.clock import host_clock
from detent.surfaces.cli.job.explaining import ExplanationShape
from detent.testing import VirtualClock
from tests.surfaces.running import BROKEN, BUSY, Site, bury, fail, refused, refused_in_json, succeed, widest
from tests.surfaces.shelf import at_time, tamper


@contextmanager
def past(site: Site, *, ago_s: float) -> Iterator[tuple[SyncClient, VirtualClock]]:
    """A store to which everything happened so long ago."""
    clock = VirtualClock(host_clock() - round(ago_s * 1_000_000))
    with at_time(site.path, clock) as client:
        yield client, clock


def run(client: SyncClient, *, worker: str = "w1") -> None:
    client.claim(worker=worker, start=True)


def test_queue_that_nobody_serves(site: Site) -> None:
    with past(site, ago_s=180) as (client, _):
        client.enqueue("scan", job_id="42", queue="ocr")

    told = site.told("job", "explain", "42")

    assert told.startswith("job 42 is queued (ready) · no worker has ever claimed from queue 'ocr'; is one running")
    assert "that serves it? (due for 3 min)" in told
    assert "Budget: 0 failures and 0 crashes so far; 5 of 5 attempts left." in told
    assert "What would move it: claim → assigned by worker now cancel → cancelled by client, operator" in told
    assert told.endswith("You can: start a worker that claims from queue 'ocr' detent job cancel 42")


def test_kind_that_nobody_takes_wants_a_worker_for_it(site: Site) -> None:
    with past(site, ago_s=30) as (client, _):
        client.enqueue("rare", job_id="42")
        client.enqueue("scan", job_id="43")
        client.claim(worker="w1", kinds=["scan"])

    told = site.told("job", "explain", "42")

    assert "You can: start a worker that claims jobs of kind 'rare' from queue 'default' detent job cancel 42" in told


def test_queue_that_was_served_until_some_time_ago(site: Site) -> None:
    with past(site, ago_s=600) as (client, clock):
        client.enqueue("scan", job_id="41")
        run(client, worker="w7")
        clock.pass_s(300)
        client.enqueue("scan", job_id="42")

    told = site.told("job", "explain", "42")

    assert "· nobody has claimed from queue 'default' for 10 min; 'w7' was the last, at " in told
    assert "UTC; is it running? (due for 5 min)" in told


def test_job_that_became_due_just_now_is_not_told_that_its_queue_was_empty_for_long(site: Site) -> None:
    with past(site, ago_s=44) as (client, clock):
        client.enqueue("scan", job_id="41")
        run(client)
        clock.pass_s(43)
        client.enqueue("scan", job_id="42")

    told = site.told("job", "explain", "42")

    assert re.search(
        r"one of 1 ready in queue 'default'; the last claim was 4\d s ago, by 'w1' \(due for [\d.]+ s\)", told
    )


def test_retry_that_waits_names_the_error_and_the_time(site: Site) -> None:
    with past(site, ago_s=1) as (client, _):
        client.enqueue("scan", job_id="42", policy=Policy(retry=Retry(base_s=600, max_s=600, jitter=False)))
        run(client)
        job = client.fail("42", worker="w1", attempt=1, error=BUSY)

    told = site.told("job", "explain", "42")

    assert job.claim_at is not None
    assert "· attempt 1 was lost (TransientError: scanner is busy); it waits before the next (for " in told
    assert f"until {job.claim_at:%H:%M:%S}." in told.replace(f"{job.claim_at:%Y-%m-%d} ", "")
    assert "10 min left)" in told
    assert "Budget: 1 failure and 0 crashes so far; 4 of 5 attempts left." in told


@pytest.mark.requirement("ENG-11")
def test_job_without_a_way_back_has_one_attempt_and_perhaps_a_job_that_follows(site: Site) -> None:
    site.shown("enqueue", "scan", "--id", "42", "--lifecycle", "engine")
    site.shown("enqueue", "scan", "--id", "43", "--lifecycle", "engine", "--rerun-failed", "--max-attempts", "2")

    assert "so far; 1 of 1 attempt left. What would move it:" in site.told("job", "explain", "42")
    more = "If it fails, a new job runs it again; 1 such job may follow."
    assert f"1 of 1 attempt left. {more}" in site.told("job", "explain", "43")


def test_job_for_another_day_says_which(site: Site) -> None:
    site.shown("enqueue", "scan", "--id", "42", "--run-at", "2099-01-02T03:04:05Z")

    assert "it is to run later (for " in site.told("job", "explain", "42")
    assert "until 2099-01-02 03:04:05.000 UTC" in site.told("job", "explain", "42")


def test_job_that_the_policy_holds_says_how_to_let_it_go(site: Site) -> None:
    with past(site, ago_s=7_200) as (client, _):
        client.enqueue("scan", job_id="42", lifecycle="dispatch")
        client.schedule("42", verdict="hold", rule="big-orders")

    told = site.told("job", "explain", "42")

    assert "rule 'big-orders' holds it until somebody approves or denies it (for 2 h)" in told
    assert told.endswith("You can: detent job approve 42 detent job deny 42 detent job cancel 42")


def test_running_job_says_who_has_it_and_until_when(site: Site) -> None:
    with past(site, ago_s=20) as (client, _):
        client.enqueue("scan", job_id="42")
        run(client)

    told = site.told("job", "explain", "42", columns=120)

    assert "job 42 is running (active) · worker 'w1' runs attempt 1 under its lease (for 2" in told
    assert re.search(r"; until [0-9:. -]+ UTC, [34][0-9] s left\)", told)
    assert re.search(r"expire → queued or dead_lettered by reconciler in [34][0-9] s", told)


def test_orphan_that_nobody_takes_back_points_at_the_reconciler(site: Site) -> None:
    with past(site, ago_s=3_600) as (client, _):
        client.enqueue("scan", job_id="42")
        run(client)

    told = site.told("job", "explain", "42")

    assert "· the reconciler should have acted on it, and none has; is one running? (for 59 min) ·" in told
    assert "worker 'w1' has missed its heartbeats and may be gone" in told
    assert re.search(r"· worker 'w1' had attempt 1; its lease ran out 59 min ago \(at [0-9:. -]+ UTC\)", told)
    assert "by reconciler due 59 min ago" in told
    assert "You can: detent reconcile --once detent job cancel 42" in told


def test_job_that_was_asked_to_stop(site: Site) -> None:
    with past(site, ago_s=10) as (client, _):
        client.enqueue("scan", job_id="42")
        run(client)
        client.cancel("42", actor="bob", reason="wrong file")

    told = site.told("job", "explain", "42")

    assert "bob asked it to stop (wrong file); it is cancelled when the grace is over (for 1" in told
    assert re.search(r"; until [0-9:. -]+ UTC, [12][0-9] s left\)", told)
    assert told.endswith("detent job cancel --hard 42")


def test_stalled_contract_that_waits_for_a_person(site: Site) -> None:
    with past(site, ago_s=600) as (client, clock):
        client.enqueue("scan", job_id="42", lifecycle="contract", policy=Policy(retry=Retry.never()))
        client.claim(worker="w1")
        clock.pass_s(120)
        client.reconcile()

    told = site.told("job", "explain", "42")

    assert "its attempts are used up (0 failures and 1 crash, of at most 1), and it waits for a person" in told
    assert "0 of 1 attempt left" in told
    assert told.endswith("detent job requeue 42")


def test_ended_job_says_when_and_what_it_was_run_again_as(site: Site) -> None:
    with past(site, ago_s=180) as (client, _):
        client.enqueue("scan", job_id="42")
        run(client)
        client.fail("42", worker="w1", attempt=1, error=BROKEN)
        again = client.rerun("42")

    told = site.told("job", "explain", "42")

    assert "it failed for good on attempt 1 with 'w1': PermanentError: no such page (stage exec) (3 min ago)" in told
    assert f"it was run again, as job {again.id}" in told
    assert "Budget" not in told
    assert "rerun → a new job by client, operator" in told
    assert told.endswith(f"You can: detent job explain {again.id}")
    assert site.json("job", "explain", "42").reruns == [again.id]


def test_failed_job_can_be_run_again_and_a_dead_letter_redriven(site: Site) -> None:
    with site.client() as client:
        fail(client, "42")
        bury(client, "43")

    assert site.told("job", "explain", "42").endswith("You can: detent job rerun 42")
    assert site.told("job", "explain", "43").endswith("You can: detent dlq redrive 43")


def test_job_whose_log_is_missing_points_at_the_audit(site: Site) -> None:
    with site.client() as client:
        succeed(client, "42")
    tamper(site.path, "drop trigger detent_events_kept", "delete from detent_events")

    message = refused(site.detent("job", "explain", "42"), 1)

    assert "the log of job 42 is missing; see: detent verify" in message
    assert refused_in_json(site.detent("job", "explain", "42", "--json"), 1)["code"] == "store_corrupt"


def test_json_has_reasons_ways_and_budget(site: Site) -> None:
    with past(site, ago_s=60) as (client, _):
        client.enqueue("scan", job_id="42", queue="ocr", delay_s=3_600)

    found = site.json("job", "explain", "42")

    assert isinstance(found, ExplanationShape)
    assert (found.job.id, found.reasons[0].code, found.ways[0].verb) == ("42", "not_due", "claim")
    assert found.reasons[0].until == found.ways[0].at == found.job.claim_at
    assert found.budget.attempts_left == 5
    assert found.at >= found.job.created_at


@pytest.mark.parametrize("columns", [60, 80])
def test_explanation_fits_the_terminal_and_loses_no_word(site: Site, columns: int) -> None:
    with past(site, ago_s=60) as (client, _):
        client.enqueue("scan", job_id="42", queue="q" * 200)

    shown = site.shown("job", "explain", "42", columns=columns)

    assert widest(shown) <= columns
    assert "…" not in shown
    assert shown.count("q") >= 2 * 200  # the queue is named in the reason and in the advice


@pytest.mark.parametrize("columns", range(56, 64))
def test_number_is_not_parted_from_its_unit(site: Site, columns: int) -> None:
    with past(site, ago_s=600) as (client, _):
        client.enqueue("scan", job_id="41")
        run(client)
        client.enqueue("scan", job_id="42")

    lines = site.shown("job", "explain", "42", columns=columns).splitlines()

    assert not [line for line in lines if re.fullmatch(r"\s*(min|UTC)\b.*", line)]
    assert "for 10 min" in " ".join(" ".join(lines).split())


def test_name_of_no_job_is_wrong_in_json_too(site: Site) -> None:
    site.shown("enqueue", "scan")

    assert refused_in_json(site.detent("job", "explain", "", "--json"), 2)["code"] == "invalid_argument"
