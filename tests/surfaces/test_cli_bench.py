"""`detent bench`: its figures, where it measures, and what it leaves behind: nothing."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import pytest

from detent.client import connect
from tests.surfaces.shelf import COLUMNS, detent, succeed, url_of, widest

QUICK = ("--pairs", "1", "--batch", "10")
FEW = ("--worker", "--jobs", "30")
SERVED = ("--http", "--pairs", "1")


def wait_for(is_there: Callable[[], bool]) -> None:
    """Another process says nothing; its files do."""
    deadline_s = monotonic() + 30
    while not is_there():
        assert monotonic() < deadline_s
        sleep(0.01)


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_each_step_is_measured_in_batches_and_one_at_a_time() -> None:
    result = detent("bench", *QUICK)

    assert (result.exit_code, result.stderr) == (0, "")
    rows = [line.rsplit(maxsplit=4) for line in result.stdout.splitlines()[2:8]]
    assert [(what, batch) for what, batch, *_ in rows] == [
        ("enqueue", "10"),
        ("claim", "10"),
        ("full life", "10"),
        ("enqueue", "1"),
        ("claim", "1"),
        ("full life", "1"),
    ]
    assert all(0 < float(ratio) < 10 for *_, ratio in rows)
    assert "Medians of 1 pair in" in result.stdout
    assert widest(result.stdout) <= COLUMNS


def test_json_has_figures_with_their_ratio_to_raw(tmp_path: Path) -> None:
    shown = json.loads(detent("bench", *QUICK, "--url", url_of(tmp_path / "jobs.db"), "--json").stdout)

    assert (shown["place"], shown["synchronous"], shown["pairs"]) == (str(tmp_path), "full", 1)
    assert shown["took_s"] > 0
    assert list(shown["figures"][0]) == ["what", "batch", "detent_per_s", "raw_per_s", "ratio"]
    for figure in shown["figures"]:
        assert figure["ratio"] == pytest.approx(figure["detent_per_s"] / figure["raw_per_s"], rel=0.05)


def test_batch_of_one_is_measured_once() -> None:
    shown = json.loads(detent("bench", "--pairs", "1", "--batch", "1", "--json").stdout)

    assert [figure["batch"] for figure in shown["figures"]] == [1, 1, 1]


def test_store_at_the_address_is_not_touched_and_nothing_is_left(tmp_path: Path) -> None:
    with connect(url_of(tmp_path / "jobs.db")) as client:
        succeed(client, "42")
    before = files(tmp_path)

    result = detent("bench", *QUICK, "--url", url_of(tmp_path / "jobs.db"))

    assert result.exit_code == 0
    assert files(tmp_path) == before


def test_store_at_the_address_is_not_made(tmp_path: Path) -> None:
    detent("bench", *QUICK, "--url", url_of(tmp_path / "jobs.db"))

    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_by_one_that_was_interrupted(tmp_path: Path, how: signal.Signals) -> None:
    command = [sys.executable, "-m", "detent", "bench", "--pairs", "1000", "--url", url_of(tmp_path / "jobs.db")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for(lambda: any(tmp_path.rglob("detent-100.db-wal")))
            process.send_signal(how)
            shown, said = process.communicate(timeout=30)
        finally:
            process.kill()

    assert (process.returncode, shown, said.strip()) == (130, "", "interrupted")
    assert list(tmp_path.iterdir()) == []


def test_durability_in_the_address_is_what_is_measured(tmp_path: Path) -> None:
    result = detent("bench", *QUICK, "--url", f"{url_of(tmp_path / 'jobs.db')}?synchronous=normal")

    assert "not synced at every commit" in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    ("url", "code", "said"),
    [
        ("mysql://db/jobs", 2, "names a store 'mysql' that this program does not have"),
        ("jobs.db", 2, "is no address"),
        ("sqlite:///:memory:", 1, "only a disk can be measured"),
        ("sqlite:////nowhere/jobs.db", 3, "there is no folder '/nowhere'"),
    ],
)
def test_address_that_cannot_be_measured_is_an_error(url: str, code: int, said: str) -> None:
    result = detent("bench", *QUICK, "--url", url)

    assert (result.exit_code, result.stdout) == (code, "")
    assert said in result.stderr


def test_error_is_json_if_json_was_asked_for() -> None:
    result = detent("bench", "--url", "mysql://db/jobs", "--json")

    assert json.loads(result.stderr)["error"]["code"] == "bad_url"


@pytest.mark.parametrize("arguments", [("--batch", "0"), ("--batch", "1001"), ("--pairs", "0")])
def test_bounds_are_wrong_usage(arguments: tuple[str, ...]) -> None:
    assert detent("bench", *arguments).exit_code == 2


def test_worker_is_measured_in_a_process_of_its_own(tmp_path: Path) -> None:
    shown = json.loads(detent("bench", *FEW, "--url", url_of(tmp_path / "jobs.db"), "--json").stdout)

    assert (shown["place"], shown["synchronous"], shown["figures"]) == (str(tmp_path), "full", [])
    worker = shown["worker"]
    assert (worker["jobs"], worker["whole"]) == (30, 30)
    assert 0 < worker["start_ms_p50"] <= worker["start_ms_p95"]
    assert worker["enqueue_ms_p50"] > 0
    assert 0 <= worker["idle_cpu_percent"] < 100
    assert all(worker[figure] > 0 for figure in ("jobs_per_s", "cpu_us"))
    assert list(tmp_path.iterdir()) == []


def test_figures_of_a_worker_have_their_units_and_say_what_is_in_the_log() -> None:
    result = detent("bench", *FEW)

    assert (result.exit_code, result.stderr) == (0, "")
    units = [line.split()[-1] for line in result.stdout.splitlines()[2:9]]
    assert units[:6] == ["/s", "µs", "ms", "ms", "ms", "%"]
    assert "Of 30 jobs that waited and do nothing, 30 have claim" in " ".join(result.stdout.split())
    assert widest(result.stdout) <= COLUMNS


def test_worker_that_cannot_run_is_an_error_in_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("detent.testing.bench_worker.WORKER", "detent.testing.bench_jobs:gone")

    result = detent("bench", *FEW)

    assert (result.exit_code, result.stdout) == (1, "")
    assert "the worker did nothing; it said: " in result.stderr
    assert "gone" in result.stderr


def test_help_says_that_the_store_is_not_touched() -> None:
    shown = " ".join(detent("bench", "--help", columns=80).stdout.split())

    assert "Measure how many jobs a second this machine can do." in shown
    assert "The store at URL is not touched" in shown
    assert "detent bench --url sqlite:////srv/jobs.db" in shown


def test_service_is_measured_in_a_process_of_its_own_beside_the_store(tmp_path: Path) -> None:
    shown = json.loads(detent("bench", *SERVED, "--url", url_of(tmp_path / "jobs.db"), "--json").stdout)

    assert (shown["place"], shown["synchronous"], shown["figures"], shown["worker"]) == (
        str(tmp_path),
        "full",
        [],
        None,
    )
    assert [each["what"] for each in shown["comparisons"]] == ["full life, 100 at a time", "full life, 500 at a time"]
    for each in shown["comparisons"]:
        assert each["ratio"] == pytest.approx(each["per_s"] / each["beside_per_s"], rel=0.05)
    assert list(tmp_path.iterdir()) == []


def test_figures_of_a_service_stand_beside_those_of_the_store() -> None:
    result = detent("bench", *SERVED)

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines()[0].split() == ["jobs", "a", "second", "http/s", "store/s", "ratio"]
    assert "A full life is three requests" in " ".join(result.stdout.split())
    assert widest(result.stdout) <= COLUMNS


def test_service_that_cannot_begin_is_an_error_in_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("detent.surfaces.cli.bench.http.PROGRAM", "detent.surfaces.cli.bench.gone")

    result = detent("bench", *SERVED)

    assert (result.exit_code, result.stdout) == (1, "")
    assert "the service did not begin; it said: " in result.stderr
    assert "gone" in result.stderr


@pytest.mark.parametrize("other", [("--worker",), ("--ended", "5")])
def test_a_service_is_measured_by_itself(other: tuple[str, ...]) -> None:
    assert detent("bench", "--http", *other).exit_code == 2


def test_service_is_no_store_to_measure() -> None:
    result = detent("bench", "--url", "http://127.0.0.1:1")

    assert result.exit_code == 1
    assert "is a service; give the address of a store" in " ".join(result.stderr.split())
