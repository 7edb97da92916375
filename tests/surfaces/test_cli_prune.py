"""`detent prune`: what is old enough, what is removed, and what stays."""

import json
from pathlib import Path

import pytest

from detent.client import connect
from detent.testing import VirtualClock
from tests.surfaces.shelf import COLUMNS, at_time, detent, succeed, url_of, widest


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """Long ago three jobs succeeded, one failed and one was cancelled, and one waits still; one succeeded just now."""
    path = tmp_path / "jobs.db"
    with at_time(path, VirtualClock()) as client:
        succeed(client, "1", "2", "3")
        client.enqueue("scan", job_id="failed")
        client.claim(worker="w1", start=True)
        client.fail("failed", worker="w1", attempt=1, error={"type": "PermanentError", "message": "torn"})
        client.enqueue("scan", job_id="stopped")
        client.cancel("stopped")
        client.enqueue("scan", job_id="waiting")
    with connect(url_of(path)) as client:
        client.cancel(client.enqueue("scan", job_id="fresh").id)
    return path


def kept(path: Path) -> list[str]:
    with connect(url_of(path)) as client:
        return sorted(job.id for job in client.find())


def test_dry_run_counts_by_outcome_and_removes_nothing(jobs: Path) -> None:
    before = kept(jobs)

    result = detent("prune", "--url", url_of(jobs), "--dry-run")

    assert (result.exit_code, result.stderr) == (0, "")
    rows = [line.split() for line in result.stdout.splitlines()]
    assert ["success", "7", "days", "3"] in rows
    assert ["failure", "30", "days", "1"] in rows
    assert ["cancelled", "30", "days", "1"] in rows
    assert "5 jobs would be removed. Nothing was." in result.stdout
    assert widest(result.stdout) <= COLUMNS
    assert kept(jobs) == before


def test_old_jobs_are_removed_and_the_others_stay(jobs: Path) -> None:
    result = detent("prune", "--url", url_of(jobs))

    assert (result.exit_code, result.stderr) == (0, "")
    assert "5 jobs removed, with 18 events" in result.stdout
    assert "receipts" in result.stdout
    assert kept(jobs) == ["fresh", "waiting"]


def test_what_remains_is_verified_clean(jobs: Path) -> None:
    detent("prune", "--url", url_of(jobs))

    assert detent("verify", "--url", url_of(jobs)).exit_code == 0


def test_json_says_what_was_old_and_what_was_removed(jobs: Path) -> None:
    dry = json.loads(detent("prune", "--url", url_of(jobs), "--dry-run", "--json").stdout)
    done = json.loads(detent("prune", "--url", url_of(jobs), "--json").stdout)

    old = {"success": 3, "failure": 1, "cancelled": 1}
    assert dry == {"old": old, "jobs": 0, "events": 0, "details": 0, "receipts": 0, "is_done": False}
    assert done == {"old": old, "jobs": 5, "events": 18, "details": 0, "receipts": 0, "is_done": True}


def test_how_long_is_said_for_successes_and_for_others(jobs: Path) -> None:
    result = detent("prune", "--url", url_of(jobs), "--successes", "1500w", "--others", "0s", "--json")

    assert json.loads(result.stdout)["old"] == {"success": 0, "failure": 1, "cancelled": 2}
    assert kept(jobs) == ["1", "2", "3", "waiting"]


def test_no_more_than_asked_for_are_removed(jobs: Path) -> None:
    would = detent("prune", "--url", url_of(jobs), "--max", "2", "--dry-run")
    done = detent("prune", "--url", url_of(jobs), "--max", "2")

    assert "2 jobs would be removed" in would.stdout
    assert "2 jobs removed" in done.stdout
    assert "there may be more" in done.stdout
    assert len(kept(jobs)) == 5


def test_more_than_one_step_is_taken_for_many_jobs(tmp_path: Path) -> None:
    path = tmp_path / "many.db"
    with at_time(path, VirtualClock()) as client:
        ids = [f"{number}" for number in range(1_001)]
        client.enqueue_many([{"kind": "scan", "job_id": job_id} for job_id in ids])
        for job_id in ids:
            client.cancel(job_id)

    done = json.loads(detent("prune", "--url", url_of(path), "--json").stdout)

    assert (done["jobs"], done["events"], done["is_done"]) == (1_001, 2_002, True)


def test_only_the_tenant_s_jobs_are_removed(jobs: Path) -> None:
    result = detent("prune", "--url", url_of(jobs), "--tenant", "acme", "--json")

    assert json.loads(result.stdout)["jobs"] == 0
    assert len(kept(jobs)) == 7


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(("--successes", "soon"), "no length of time"), (("--others", "99999999w"), "or do not prune")],
)
def test_time_that_is_none_is_wrong_usage(jobs: Path, arguments: tuple[str, ...], said: str) -> None:
    result = detent("prune", "--url", url_of(jobs), *arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert said in " ".join(result.stderr.split())
    assert len(kept(jobs)) == 7


def test_missing_store_is_not_found_and_not_made(tmp_path: Path) -> None:
    result = detent("prune", "--url", url_of(tmp_path / "none.db"), "--json")

    assert (result.exit_code, result.stdout) == (3, "")
    assert json.loads(result.stderr)["error"]["code"] == "store_missing"
    assert list(tmp_path.iterdir()) == []


def test_help_says_what_it_is_for_with_examples() -> None:
    shown = detent("prune", "--help", columns=80).stdout

    assert "Remove jobs that ended long ago" in shown
    assert "detent prune --dry-run" in shown
