"""`detent reconcile`: once, again and again, and until it is told to stop."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from detent.client import connect
from detent.testing import VirtualClock
from tests.surfaces.shelf import COLUMNS, at_time, detent, url_of, widest

Reconciler = subprocess.Popen[str]


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    """Three workers claimed a job each, long ago, and were not heard of again."""
    path = tmp_path / "jobs.db"
    with at_time(path, VirtualClock()) as client:
        client.enqueue_many([{"kind": "scan", "job_id": job_id} for job_id in ("1", "2", "3")])
        client.claim(worker="gone", limit=3)
    return path


@contextmanager
def reconciling(url: str, *arguments: str) -> Iterator[Reconciler]:
    """A process of its own, which is killed if the test does not end it."""
    command = [sys.executable, "-m", "detent", "reconcile", "--url", url, *arguments]
    env = os.environ | {"COLUMNS": str(COLUMNS)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env) as process:
        try:
            yield process
        finally:
            process.kill()


def ended(process: Reconciler, how: signal.Signals) -> tuple[int, str, str]:
    process.send_signal(how)
    out, err = process.communicate(timeout=30)
    return process.returncode, out, err


def line_of(stream: object) -> str:
    assert hasattr(stream, "readline")
    return str(stream.readline())


def test_once_does_what_is_due_and_ends(jobs: Path) -> None:
    result = detent("reconcile", "--url", url_of(jobs), "--once")

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.endswith("UTC  3 jobs moved\n")
    assert widest(result.stdout) <= COLUMNS
    with connect(url_of(jobs)) as client:
        assert {job.owner for job in client.find()} == {None}


def test_once_takes_as_many_passes_as_are_needed(jobs: Path) -> None:
    result = detent("reconcile", "--url", url_of(jobs), "--once", "--limit", "1", "--json")

    assert json.loads(result.stdout)["moved"] == 3


def test_once_says_so_when_nothing_was_due(jobs: Path) -> None:
    detent("reconcile", "--url", url_of(jobs), "--once")

    shown = detent("reconcile", "--url", url_of(jobs), "--once").stdout
    line = detent("reconcile", "--url", url_of(jobs), "--once", "--json").stdout

    assert "0 jobs moved" in shown
    assert list(json.loads(line)) == ["at", "moved"]
    assert json.loads(line)["moved"] == 0


def test_jobs_of_every_tenant_are_looked_after(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    with at_time(path, VirtualClock(), tenant="acme") as client:
        client.enqueue("scan")
        client.claim(worker="gone")

    assert "1 job moved" in detent("reconcile", "--url", url_of(path), "--once").stdout


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_it_goes_on_until_it_is_told_to_stop(jobs: Path, how: signal.Signals) -> None:
    with reconciling(url_of(jobs), "--every", "20ms", "--limit", "2", "--json") as process:
        passes = [json.loads(line_of(process.stdout))["moved"] for _ in range(2)]
        code, more, said = ended(process, how)

    assert passes == [2, 1]
    assert (code, more) == (0, "")
    assert f"Looking after {url_of(jobs)} every 20 ms, all tenants" in said


def test_store_is_made_if_a_fleet_starts_its_reconciler_first(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    with reconciling(url_of(path)) as process:
        said = line_of(process.stderr)
        code, shown, _ = ended(process, signal.SIGTERM)

    assert "every 1.0 s" in said
    assert (code, shown) == (0, "")
    assert path.exists()


def test_locked_store_is_waited_for_and_then_looked_after(jobs: Path) -> None:
    rival = apsw.Connection(str(jobs))
    rival.execute("begin immediate")
    with reconciling(f"{url_of(jobs)}?busy_s=0.05", "--every", "20ms") as process:
        began, complaint = line_of(process.stderr), line_of(process.stderr)
        rival.execute("rollback")
        shown = line_of(process.stdout)
        code, _, _ = ended(process, signal.SIGTERM)
    rival.close()

    assert "Looking after" in began
    assert "nothing done, trying again" in complaint
    assert shown.endswith("UTC  3 jobs moved\n")
    assert code == 0


def test_pass_that_is_under_way_is_finished_first(jobs: Path) -> None:
    rival = apsw.Connection(str(jobs))
    rival.execute("begin immediate")
    with reconciling(f"{url_of(jobs)}?busy_s=0.3") as process:
        line_of(process.stderr)
        code, _, said = ended(process, signal.SIGTERM)
    rival.close()

    assert code == 0
    assert "nothing done, trying again" in said


@pytest.mark.parametrize("arguments", [("--every", "0s"), ("--every", "soon"), ("--every", "2d"), ("--limit", "0")])
def test_bounds_are_wrong_usage(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    result = detent("reconcile", "--url", url_of(tmp_path / "jobs.db"), "--once", *arguments)

    assert (result.exit_code, result.stdout) == (2, "")
    assert list(tmp_path.iterdir()) == []


def test_store_that_cannot_be_opened_is_an_error_in_json_too(tmp_path: Path) -> None:
    result = detent("reconcile", "--url", url_of(tmp_path), "--json")

    assert (result.exit_code, result.stdout) == (1, "")
    assert json.loads(result.stderr)["error"]["code"] == "store_unavailable"


def test_help_says_what_it_is_for_with_examples() -> None:
    shown = detent("reconcile", "--help", columns=80).stdout

    assert "Take jobs from dead workers" in shown
    assert "detent reconcile --once" in shown
