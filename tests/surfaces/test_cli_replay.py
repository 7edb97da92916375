"""`detent replay`: the log folded to a moment, for all jobs and for one, and held against the records."""

import json
from datetime import datetime
from pathlib import Path

import pytest

from detent.client.moments import to_moment
from detent.kernel.job import FOLDED
from detent.surfaces.cli.folded import JobAtShape
from detent.testing import VirtualClock
from detent.testing.clock import START
from tests.surfaces.shelf import COLUMNS, at_time, detent, succeed, tamper, url_of, widest

BEGAN = to_moment(START)  # 2025-06-15T15:06:40Z


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """One job is enqueued at the start; a minute later another one lives its whole life."""
    path, clock = tmp_path / "jobs.db", VirtualClock()
    with at_time(path, clock) as client:
        client.enqueue("scan", job_id="41", delay_s=3_600)
        clock.pass_s(60)
        succeed(client, "42")
    return path


def rows(shown: str) -> list[list[str]]:
    return [line.split() for line in shown.splitlines() if line.startswith("standard")]


def test_up_to_now_jobs_are_counted_and_the_records_compared(jobs: Path) -> None:
    result = detent("replay", "--url", url_of(jobs))

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("2 jobs, 5 events\n")
    assert rows(result.stdout) == [["standard", "queued", "1"], ["standard", "succeeded", "1"]]
    assert "0 differences: every job is what its log adds up to." in result.stdout
    assert widest(result.stdout) <= COLUMNS


def test_a_period_has_counts_at_both_ends(jobs: Path) -> None:
    period = ("--since", "2025-06-15T15:07:00Z", "--until", "2025-06-15T15:08:00Z")

    result = detent("replay", "--url", url_of(jobs), *period, columns=100)

    assert result.exit_code == 0
    assert "2 jobs, 4 events, since 2025-06-15 15:07:00.000 UTC, until 2025-06-15 15:08:00.000 UTC" in result.stdout
    assert rows(result.stdout) == [["standard", "queued", "1", "1"], ["standard", "succeeded", "0", "1"]]
    assert "Nothing was compared" in result.stdout


def test_json_has_counts_and_no_comparison_before_now(jobs: Path) -> None:
    now = json.loads(detent("replay", "--url", url_of(jobs), "--json").stdout)
    then = json.loads(detent("replay", "--url", url_of(jobs), "--json", "--until", BEGAN.isoformat()).stdout)

    assert (now["jobs"], now["events"], now["differences"]) == (2, 5, [])
    assert now["states"][0] == {"lifecycle": "standard", "state": "queued", "before": None, "after": 1}
    assert (then["jobs"], then["until"], then["differences"]) == (1, "2025-06-15T15:06:40Z", None)


def test_altered_record_is_a_difference_and_ends_with_1(jobs: Path) -> None:
    tamper(jobs, "update detent_records set claim_at = claim_at + 60000000, attempt = 3 where rev = 1")

    result = detent("replay", "--url", url_of(jobs))

    assert result.exit_code == 1
    assert "2 differences from what the log adds up to, in 1 job" in " ".join(result.stdout.split())
    assert ["41", "attempt", "0", "3"] in [line.split() for line in result.stdout.splitlines()]
    assert "16:06:40.000 UTC" in result.stdout
    assert "16:07:40.000 UTC" in result.stdout
    assert f"Which rule is broken: detent verify --url {url_of(jobs)}\n" in result.stdout
    assert widest(result.stdout.partition("What a job")[0]) <= COLUMNS


def test_differences_in_json_have_moments_as_times(jobs: Path) -> None:
    tamper(jobs, "update detent_records set claim_at = claim_at + 60000000 where rev = 1")

    result = detent("replay", "--url", url_of(jobs), "--json")

    (difference,) = json.loads(result.stdout)["differences"]
    assert result.exit_code == 1
    assert difference == {
        "job_id": "41",
        "column": "claim_at",
        "folded": "2025-06-15T16:06:40Z",
        "shown": "2025-06-15T16:07:40Z",
    }


def test_no_more_differences_are_listed_than_asked_for(jobs: Path) -> None:
    tamper(jobs, "update detent_records set attempt = 3, failures = 2 where rev = 1")

    shown = detent("replay", "--url", url_of(jobs), "--limit", "1").stdout

    assert "attempt" in shown
    assert "failures" not in shown
    assert "Not listed: 1 more" in shown


def test_absurd_moment_in_a_record_is_shown_and_not_stumbled_over(jobs: Path) -> None:
    tamper(jobs, f"update detent_records set claim_at = {-(2**62)} where rev = 1")

    result = detent("replay", "--url", url_of(jobs), "--json")

    assert json.loads(result.stdout)["differences"][0]["shown"] == "0001-01-01T00:00:00Z"


def test_one_job_is_shown_as_it_was_at_the_moment(jobs: Path) -> None:
    result = detent("replay", "--url", url_of(jobs), "--job", "41", "--until", "2025-06-15T15:07:00Z")

    shown = dict(line.split(maxsplit=1) for line in result.stdout.splitlines() if " " in line)
    assert result.exit_code == 0
    assert result.stdout.startswith("Job 41 at 2025-06-15 15:07:00.000 UTC, by its log\n")
    assert (shown["state"].strip(), shown["rev"].strip(), shown["attempt"].strip()) == ("queued", "1", "0")
    assert shown["created_at"].startswith("2025-06-15 15:06:40.000 UTC (20 s")
    assert shown["due_at"].startswith("2025-06-15 16:06:40.000 UTC (in 60")
    assert "owner" not in shown
    assert widest(result.stdout) <= COLUMNS


def test_one_job_in_json_has_every_column_that_the_log_determines(jobs: Path) -> None:
    shown = json.loads(detent("replay", "--url", url_of(jobs), "--job", "42", "--json").stdout)

    assert list(shown) == ["job_id", "at", *FOLDED]
    assert (shown["state"], shown["rev"], shown["last_owner"]) == ("succeeded", 4, "w1")
    assert datetime.fromisoformat(shown["created_at"]) == to_moment(START + 60_000_000)


def test_shape_of_a_job_at_a_moment_keeps_up_with_the_record() -> None:
    assert JobAtShape.__struct_fields__ == ("job_id", "at", *FOLDED)


def test_job_that_did_not_exist_yet_is_not_found(jobs: Path) -> None:
    result = detent("replay", "--url", url_of(jobs), "--job", "42", "--until", "2025-06-15T15:07:00Z")

    assert (result.exit_code, result.stdout) == (3, "")
    assert "job 42 did not exist yet at 2025-06-15 15:07:00.000 UTC" in result.stderr
    assert "it was made at 2025-06-15 15:07:40.000 UTC" in result.stderr


def test_job_that_never_was_is_not_found(jobs: Path) -> None:
    result = detent("replay", "--url", url_of(jobs), "--job", "43", "--json")

    assert (result.exit_code, result.stdout) == (3, "")
    assert json.loads(result.stderr)["error"]["code"] == "not_found"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--since", "yesterday"), "is no time"),
        (("--since", "1h", "--until", "2h"), "swap them"),
        (("--since", "1h", "--job", "41"), "has no --since"),
        (("--until", "9000-01-01T00:00:00Z"), "nobody knows yet"),
    ],
)
def test_period_that_is_none_is_wrong_usage(jobs: Path, arguments: tuple[str, ...], said: str) -> None:
    result = detent("replay", "--url", url_of(jobs), *arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert said in " ".join(result.stderr.split())


def test_missing_store_is_not_found(tmp_path: Path) -> None:
    result = detent("replay", "--url", url_of(tmp_path / "none.db"))

    assert (result.exit_code, result.stdout) == (3, "")
    assert "there is no store" in result.stderr


def test_help_says_what_it_is_for_with_examples() -> None:
    shown = detent("replay", "--help", columns=80).stdout

    assert "Show where every job was at a moment, from the log alone." in shown
    assert "detent replay --job 42 --until 2026-11-16T08:30:00Z" in shown
