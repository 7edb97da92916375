"""`detent verify`: what it says of a clean store, of one that was tampered with, and of none."""

import json
from pathlib import Path

import pytest

from detent.audit import INVARIANTS
from detent.client import connect
from tests.surfaces.shelf import COLUMNS, detent, succeed, tamper, url_of, widest


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    path = tmp_path / "jobs.db"
    with connect(url_of(path)) as client:
        succeed(client, "41", "42")
    return path


def test_clean_store_is_called_clean(jobs: Path) -> None:
    result = detent("verify", "--url", url_of(jobs))

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("2 jobs, 8 events in ")
    assert "events a second" in result.stdout
    assert "0 violations: every move was legal" in result.stdout
    assert widest(result.stdout) <= COLUMNS


def test_json_begins_with_jobs_events_and_violations(jobs: Path) -> None:
    report = json.loads(detent("verify", "--url", url_of(jobs), "--json").stdout)

    assert list(report)[:3] == ["jobs", "events", "violations"]
    assert (report["jobs"], report["events"], report["violations"], report["counts"]) == (2, 8, [], {})
    assert report["took_s"] > 0


def test_altered_record_is_found_and_ends_with_1(jobs: Path) -> None:
    tamper(jobs, "update detent_records set attempt = 7 where rev = 4 and job = 1")

    result = detent("verify", "--url", url_of(jobs))

    assert result.exit_code == 1
    assert "1 violation\n" in result.stdout
    assert f"I3, broken 1×: {INVARIANTS['I3']}" in " ".join(result.stdout.split())
    assert result.stdout[result.stdout.index("\n41") :].split()[:5] == ["41", "4", "attempt", "is", "7;"]
    assert f"What a job went through: detent job history JOB --url {url_of(jobs)}\n" in result.stdout
    assert widest(result.stdout.partition("What a job")[0]) <= COLUMNS


def test_json_has_every_violation_in_its_shape(jobs: Path) -> None:
    tamper(jobs, "update detent_records set attempt = 7")

    result = detent("verify", "--url", url_of(jobs), "--json")

    report = json.loads(result.stdout)
    assert result.exit_code == 1
    assert [violation["job_id"] for violation in report["violations"]] == ["41", "42"]
    assert report["violations"][0] == {
        "invariant": "I3",
        "job_id": "41",
        "rev": 4,
        "message": "attempt is 7; the log adds up to 1",
        "tenant": "default",
    }
    assert report["counts"] == {"I3": 2}


def test_violation_of_another_tenants_job_names_the_tenant(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    with connect(url_of(path), tenant="acme") as client:
        succeed(client, "41")
    tamper(path, "update detent_records set attempt = 7")

    result = detent("verify", "--url", url_of(path), columns=80)

    assert result.exit_code == 1
    assert "41 of tenant acme" in result.stdout


def test_no_more_are_listed_than_asked_for_and_the_rest_is_counted(jobs: Path) -> None:
    tamper(jobs, "update detent_records set attempt = 7")

    shown = detent("verify", "--url", url_of(jobs), "--limit", "1").stdout

    assert "2 violations" in shown
    assert "\n41" in shown
    assert "\n42" not in shown
    assert "Not listed: 1 more; --limit N" in shown


def test_event_that_was_removed_is_the_store_s_own_complaint(jobs: Path) -> None:
    tamper(jobs, "drop trigger detent_events_kept", "delete from detent_events where job = 2 and rev = 3")

    shown = detent("verify", "--url", url_of(jobs)).stdout

    assert "I1, broken" in shown
    assert f"I26, broken 1×: {INVARIANTS['I26']}" in " ".join(shown.split())
    assert "the store" in shown
    assert "restore a backup" in shown


def test_all_tenants_are_verified_unless_one_is_named(jobs: Path) -> None:
    with connect(url_of(jobs), tenant="acme") as client:
        client.enqueue("scan", job_id="theirs")
    tamper(jobs, "update detent_records set attempt = 7 where tenant = 'acme'")

    everybody, ours, theirs = (
        detent("verify", "--url", url_of(jobs), "--json", *tenant)
        for tenant in ((), ("--tenant", "default"), ("--tenant", "acme"))
    )

    assert [json.loads(each.stdout)["jobs"] for each in (everybody, ours, theirs)] == [3, 2, 1]
    assert [each.exit_code for each in (everybody, ours, theirs)] == [1, 0, 1]


def test_tenant_without_a_name_is_not_taken_for_another(jobs: Path) -> None:
    result = detent("verify", "--url", url_of(jobs), "--tenant", "")

    assert (result.exit_code, result.stdout) == (2, "")
    assert "tenant is empty" in result.stderr


def test_missing_store_is_not_found_and_not_made(tmp_path: Path) -> None:
    result = detent("verify", "--url", url_of(tmp_path / "none.db"))

    assert (result.exit_code, result.stdout) == (3, "")
    assert "there is no store" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_file_that_is_no_store_is_an_error_in_json_too(tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_text("not a database, but long enough to be looked at as one\n" * 100)

    result = detent("verify", "--url", url_of(path), "--json")

    assert (result.exit_code, result.stdout) == (1, "")
    assert json.loads(result.stderr)["error"]["code"] == "store_corrupt"


def test_help_says_what_it_is_for_with_an_example() -> None:
    shown = detent("verify", "--help", columns=80).stdout

    assert "Check that every job's history is legal and complete." in shown
    assert "detent verify --url sqlite:///jobs.db" in shown
