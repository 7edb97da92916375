"""The audit of a demo: what it counts, what it finds wrong, and what it suggests to try next."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

import detent
from detent.client import Job, SyncClient
from detent.surfaces.cli.demo.asked import Asked
from detent.surfaces.cli.demo.director import PATIENCE_S, WARM_UP_S, Blow, is_good, returns
from detent.surfaces.cli.demo.report import audit, report_of
from detent.surfaces.cli.demo.scene import Scene
from detent.surfaces.cli.demo.script import QUEUE, Part
from detent.surfaces.cli.demo.trying import commands
from detent.surfaces.cli.suggesting import program

OK = Part("thumbnail-001", "standard", 0.0, Scene("thumbnail", "succeeded"))
FAILED = Part("parse-001", "standard", 0.0, Scene("parse", "failed"))
ASKED = Asked(file=Path("/tmp/a folder/demo.db"), jobs=60, workers=4, seed=4)
BUSY = {"type": "TransientError", "message": "busy"}


@pytest.fixture
def client() -> Iterator[SyncClient]:
    with detent.connect("sqlite:///:memory:") as client:
        yield client


def enqueue(client: SyncClient, *parts: Part) -> None:
    client.enqueue_many(asked for part in parts for asked in part.asked_for())


def complete_all(client: SyncClient) -> None:
    for job in client.claim(worker="w1", queues=[QUEUE], limit=10, start=True):
        client.complete(job.id, worker="w1", attempt=job.attempt)


def jobs_in_hand(client: SyncClient, *lifecycles: str) -> list[Job]:
    for number, lifecycle in enumerate(lifecycles):
        client.enqueue("k", job_id=f"j{number}", lifecycle=lifecycle, submit=True)
        if lifecycle == "dispatch":
            client.schedule(f"j{number}", verdict="allow", rule="r")
    return client.claim(worker="w1", limit=10, start=True)


def test_what_went_by_the_script_has_no_violations(client: SyncClient) -> None:
    enqueue(client, OK)
    complete_all(client)

    found = audit(client, [OK])

    assert found.violations == []
    assert (found.tally.moves, found.tally.verbs["claim"]) == (4, 1)


def test_a_job_that_ended_elsewhere_is_a_violation(client: SyncClient) -> None:
    enqueue(client, OK, FAILED)
    complete_all(client)

    found = audit(client, [OK, FAILED])

    assert found.violations == ["job parse-001 is 'succeeded'; the script ends it in 'failed'"]


def test_a_job_that_has_not_ended_is_a_violation(client: SyncClient) -> None:
    enqueue(client, OK)

    assert audit(client, [OK]).violations == ["job thumbnail-001 is 'queued'; the script ends it in 'succeeded'"]


def test_jobs_too_few_and_too_many_are_violations(client: SyncClient) -> None:
    client.enqueue("stranger", job_id="stranger-001")

    assert audit(client, [OK]).violations == [
        "job stranger-001 is in the store and not in the script",
        "job thumbnail-001 is in the script and not in the store",
    ]


def test_retries_recoveries_and_dead_letters_are_counted_from_the_log(client: SyncClient) -> None:
    policy = detent.Policy(retry=detent.Retry(max_attempts=2, base_s=0))
    client.enqueue("k", job_id="j", policy=policy)
    for attempt in (1, 2):
        client.claim(worker="w1", start=True)
        client.fail("j", worker="w1", attempt=attempt, error=BUSY)

    report = report_of(ASKED, audit(client, []), None, repeats=3, seconds=1.25)

    assert (report.retries, report.recoveries, report.dead_letters, report.attempts) == (1, 1, 1, 2)
    assert (report.mutations, report.events, report.repeats, report.seconds) == (7, 7, 3, 1.2)


def test_late_results_are_counted_from_the_notes(client: SyncClient) -> None:
    enqueue(client, OK)
    complete_all(client)
    with pytest.raises(detent.Refused):
        client.complete(OK.job_id, worker="w2", attempt=1, result="late")

    assert audit(client, [OK]).late_results == 1


def test_a_demo_in_which_nobody_was_killed_did_not_show_what_it_was_to_show(client: SyncClient) -> None:
    enqueue(client, OK)
    complete_all(client)

    report = report_of(ASKED, audit(client, [OK]), None, repeats=0, seconds=1.0)

    assert report.killed is None
    assert report.violations == ["no worker was killed: none held several running jobs at once"]


def test_the_report_names_the_killed_worker_and_its_jobs(client: SyncClient) -> None:
    enqueue(client, OK)
    held = client.claim(worker="w1", queues=[QUEUE], start=True)

    report = report_of(ASKED, audit(client, [OK]), Blow("w1", 4711, held), repeats=0, seconds=1.0)

    assert report.killed is not None
    assert (report.killed.worker, report.killed.pid, report.killed.jobs) == ("w1", 4711, [OK.job_id])


def test_commands_name_jobs_that_are_there_and_quote_the_address(client: SyncClient) -> None:
    enqueue(client, OK, replace(OK, job_id="thumbnail-002"))
    (job,) = client.claim(worker="w1", queues=[QUEUE], start=True)
    client.complete(job.id, worker="w1", attempt=1)
    jobs = {each.id: each for each in client.find()}

    history, letters, explain = commands(jobs, jobs[job.id], ASKED.url)

    assert f" job history {job.id} --url sqlite:////tmp/a%20folder/demo.db" in history
    assert " dlq list --url " in letters
    assert " job explain thumbnail-002 --url " in explain


def test_commands_begin_as_this_one_did(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script = tmp_path / "bin" / "detent"
    script.parent.mkdir()
    script.touch(mode=0o755)

    monkeypatch.setattr(sys, "argv", [str(script)])
    monkeypatch.setenv("PATH", str(script.parent))
    assert program() == "detent"

    monkeypatch.setenv("PATH", "/nowhere")
    assert program() == str(script)


@pytest.mark.parametrize(
    ("lifecycle", "goes_on"),
    [("standard", True), ("contract", True), ("document", True), ("dispatch", False), ("engine", False)],
)
def test_which_lifecycles_go_on_without_their_worker(lifecycle: str, goes_on: bool, client: SyncClient) -> None:
    (job,) = jobs_in_hand(client, lifecycle)

    assert returns(job) is goes_on


def test_a_worker_is_killed_only_when_it_holds_enough(client: SyncClient) -> None:
    standard, contract, engine, dispatch = jobs_in_hand(client, "standard", "contract", "engine", "dispatch")

    assert is_good([standard, contract, engine], WARM_UP_S + 0.1)
    assert not is_good([standard, contract, engine], WARM_UP_S - 0.1)
    assert not is_good([standard, contract], WARM_UP_S + 0.1)
    assert not is_good([standard, engine, dispatch], WARM_UP_S + 0.1)


def test_a_single_job_will_do_when_no_better_moment_comes(client: SyncClient) -> None:
    standard, engine = jobs_in_hand(client, "standard", "engine")

    assert is_good([standard], PATIENCE_S + 0.1)
    assert not is_good([engine], PATIENCE_S + 0.1)
    assert not is_good([], PATIENCE_S + 0.1)
