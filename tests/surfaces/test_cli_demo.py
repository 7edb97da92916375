"""`detent demo`, as a person, a pipe and a program see it, and what it leaves behind: a file, and no process."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner
from msgspec import Struct

import detent
from detent.client import SyncClient
from detent.lifecycles import BUILT_IN
from detent.surfaces.cli import main
from detent.surfaces.cli.demo import command, playing
from detent.surfaces.cli.demo.report import DemoReport
from detent.surfaces.cli.demo.scenes import SCENES
from tests.surfaces.demo_runs import DEMO, JOBS, environment, processes_of, start, wait_until

LINE = re.compile(r" *\d+\.\d s  \S.*")
LINES_MAX = 75
VERDICT = "every move was legal and on the record: 0 violations"


class Run(Struct, frozen=True):
    file: Path
    code: int
    out: str
    err: str


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """One in a pipe, one with --json, at the same time."""
    folder = tmp_path_factory.mktemp("demo")
    elsewhere = f"sqlite:///{folder}/production.db"
    asked = {"pipe": (), "json": ("--json",)}
    started = {name: start(folder / f"{name}.db", *options, DETENT_URL=elsewhere) for name, options in asked.items()}
    return {
        name: Run(folder / f"{name}.db", process.wait(), out, err)
        for name, process in started.items()
        for out, err in [process.communicate()]
    }


@pytest.fixture(scope="module")
def piped(runs: dict[str, Run]) -> Run:
    return runs["pipe"]


@pytest.fixture(scope="module")
def report(runs: dict[str, Run]) -> DemoReport:
    return msgspec.json.decode(runs["json"].out, type=DemoReport)


@pytest.fixture
def store(runs: dict[str, Run]) -> Iterator[SyncClient]:
    """What the run with --json left behind."""
    with detent.connect(f"sqlite:///{runs['json'].file}") as client:
        yield client


def test_a_pipe_gets_a_readable_log(piped: Run) -> None:
    lines = piped.out.splitlines()
    log = lines[3 : lines.index("The audit, from the file alone") - 1]

    assert piped.code == 0, piped.err
    assert piped.err == ""
    assert all(LINE.fullmatch(line) for line in log), log
    assert "\x1b" not in piped.out
    assert len(lines) <= LINES_MAX


def test_it_says_that_its_leases_are_unusual(piped: Run) -> None:
    assert "allow_unusual_lease=True" in piped.out.splitlines()[1]


def test_the_log_tells_of_the_killed_worker_and_of_the_recovery(piped: Run) -> None:
    told = [text for text in ("was killed with SIGKILL, holding", "takes its place", "recovered:") if text in piped.out]

    assert len(told) == 3, piped.out


def test_it_ends_with_the_audit_and_its_verdict(piped: Run) -> None:
    figures = dict(re.findall(r"^  ([a-z ]+?) +([\d,]+)  ", piped.out, flags=re.MULTILINE))

    assert figures["jobs"] == str(JOBS)
    assert figures["mutations"] == figures["events"]
    assert VERDICT in piped.out


def test_the_commands_to_try_next_work_as_they_are_printed(piped: Run) -> None:
    printed = [line.strip() for line in piped.out.splitlines() if f"--url sqlite:///{piped.file}" in line]

    ran = [subprocess.run(shlex.split(line), capture_output=True, text=True, env=environment()) for line in printed]

    assert [each.returncode for each in ran] == [0, 0, 0], [each.stderr for each in ran]
    assert re.search(r"\b[2-9] attempts", ran[0].stdout)
    assert "charge-001" in ran[1].stdout
    assert "gifts-need-a-person" in ran[2].stdout


def test_json_is_one_document_and_the_log_goes_to_stderr(runs: dict[str, Run], report: DemoReport) -> None:
    assert runs["json"].code == 0
    assert json.loads(runs["json"].out)["violations"] == []
    assert "was killed with SIGKILL" in runs["json"].err
    assert (report.jobs, report.mutations) == (JOBS, report.events)
    assert report.file == str(runs["json"].file)


def test_the_report_counts_what_the_demo_is_to_show(report: DemoReport) -> None:
    counted = (report.retries, report.recoveries, report.dead_letters, report.late_results, report.repeats)

    assert min(counted) > 0, report
    assert report.attempts > report.jobs


def test_every_scene_of_every_lifecycle_was_played(store: SyncClient) -> None:
    played = store.count(by=["lifecycle", "kind"])

    assert set(played) == {(lifecycle, scene.kind) for lifecycle, scenes in SCENES.items() for scene in scenes}
    assert sum(played.values()) == JOBS


def test_the_file_stands_up_to_the_audit(store: SyncClient) -> None:
    assert store.verify(all_tenants=True).is_clean
    assert store.replay().is_same


def test_jobs_of_the_killed_worker_were_recovered_by_others(store: SyncClient, report: DemoReport) -> None:
    assert report.killed is not None
    recovered = [job_id for job_id in report.killed.jobs if was_recovered(store, job_id, report.killed.worker)]

    assert recovered, report.killed


def was_recovered(store: SyncClient, job_id: str, worker: str) -> bool:
    """The reconciler took it from the worker, and then somebody else claimed it."""
    events = [(event.verb, event.role, event.worker) for event in store.history(job_id)]
    taken = next((place for place, (verb, role, _) in enumerate(events) if verb in ("expire", "stall")), None)
    if taken is None or events[taken][1] != "reconciler":
        return False
    return any(verb == "claim" and other != worker for verb, _, other in events[taken:])


def test_the_killed_worker_did_nothing_after_its_death(store: SyncClient, report: DemoReport) -> None:
    assert report.killed is not None
    for job_id in report.killed.jobs:
        last = store.history(job_id)[-1]
        assert last.worker != report.killed.worker, job_id


@pytest.mark.parametrize(
    ("verb", "role"),
    [
        ("retry", "reconciler"),
        ("dead_letter", "owner"),
        ("release", "owner"),
        ("stall", "owner"),
        ("stall", "reconciler"),
        ("expire", "reconciler"),
        ("time_out", "reconciler"),
        ("requeue", "operator"),
        ("cancel", "owner"),
        ("cancel", "operator"),
        ("cancel", "reconciler"),
        ("schedule", "scheduler"),
        ("deny", "scheduler"),
        ("deny", "operator"),
        ("approve", "operator"),
        ("submit", "client"),
    ],
)
def test_the_record_shows_who_did_what(verb: str, role: str, store: SyncClient) -> None:
    done = {(event.verb, event.role) for event in store.events(limit=1_000)}

    assert (verb, role) in done


def test_a_late_result_is_kept_as_a_note(store: SyncClient) -> None:
    jobs = [job.id for job in store.find(limit=1_000)]

    assert "late_result" in {note.kind for job_id in jobs for note in store.notes(job_id)}


def test_there_is_a_tree_of_jobs(store: SyncClient) -> None:
    tree = store.tree("chapter-001")

    assert tree.job.id == "book-001"
    assert tree.size() >= 2


def test_the_address_in_the_environment_is_not_touched(piped: Run) -> None:
    assert not (piped.file.parent / "production.db").exists()


def test_no_process_is_left_when_it_is_over(runs: dict[str, Run]) -> None:
    assert [processes_of(run.file) for run in runs.values()] == [[], []]


@pytest.fixture(scope="module")
def early(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """Runs whose reader stops after a line, or was never there."""
    folder = tmp_path_factory.mktemp("early")
    ends = {"head": "| head -1; exit ${PIPESTATUS[0]}", "closed": ">&-"}
    files = {name: folder / f"{name}.db" for name in ends}
    lines = {name: f"{shlex.join([*DEMO, '--file', str(files[name])])} {end}" for name, end in ends.items()}
    pipe = subprocess.PIPE
    started = {
        name: subprocess.Popen(["bash", "-c", line], stdout=pipe, stderr=pipe, text=True, env=environment())
        for name, line in lines.items()
    }
    told = {name: process.communicate() for name, process in started.items()}
    return {name: Run(files[name], started[name].returncode, out, err) for name, (out, err) in told.items()}


@pytest.mark.parametrize("name", ["head", "closed"])
def test_a_reader_that_stops_early_does_not_stop_the_demo(name: str, early: dict[str, Run]) -> None:
    run = early[name]

    assert (run.code, run.err) == (0, "")
    with detent.connect(f"sqlite:///{run.file}") as client:
        assert len(client.find(phase="ended", limit=1_000)) == JOBS - 1
        assert client.verify().is_clean


def wait_for_news(process: subprocess.Popen[str]) -> None:
    """Until it is in the middle of things."""
    assert process.stdout is not None
    assert any(LINE.fullmatch(line.rstrip()) for line in process.stdout)


def test_an_interrupt_ends_every_process_and_says_where_the_file_is(tmp_path: Path) -> None:
    file = tmp_path / "demo.db"
    process = start(file)
    wait_for_news(process)
    assert len(processes_of(file)) >= 6

    process.send_signal(signal.SIGINT)
    _, err = process.communicate()

    assert process.returncode == 130
    assert str(file) in err
    assert processes_of(file) == []


def test_processes_leave_when_the_demo_itself_is_killed(tmp_path: Path) -> None:
    file = tmp_path / "demo.db"
    process = start(file)
    wait_for_news(process)
    assert len(processes_of(file)) >= 6

    process.kill()
    process.communicate()

    assert wait_until(lambda: processes_of(file) == [])


def test_it_fails_when_one_of_its_processes_fails(tmp_path: Path) -> None:
    file = tmp_path / "demo.db"
    process = start(file)
    control = "detent.surfaces.cli.demo.control"
    assert wait_until(lambda: any(control in args for _, args in processes_of(file)))

    os.kill(next(pid for pid, args in processes_of(file) if control in args), signal.SIGKILL)
    _, err = process.communicate()

    assert process.returncode == 1
    assert "the demo's process 'control' ended by itself" in err
    assert processes_of(file) == []


def test_it_stops_by_itself_when_it_takes_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "LIMIT_S", 0.3)
    file = tmp_path / "demo.db"

    shown = CliRunner().invoke(main, ["demo", "--file", str(file)])

    assert shown.exit_code == 1
    assert "the demo is not done after 0.3 s" in shown.output
    assert f"What was done so far is in {file}" in shown.output
    assert processes_of(file) == []


def test_a_file_with_jobs_in_it_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "mine.db"
    with detent.connect(f"sqlite:///{file}", tenant="somebody") as client:
        client.enqueue("precious")

    shown = CliRunner().invoke(main, ["demo", "--file", str(file)])

    assert shown.exit_code == 1
    assert f"'{file}' has jobs in it already" in shown.output
    assert "leave --file out" in shown.output


def test_a_missing_folder_is_not_found(tmp_path: Path) -> None:
    shown = CliRunner().invoke(main, ["demo", "--file", str(tmp_path / "nowhere" / "demo.db"), "--json"])

    assert shown.exit_code == 3
    assert json.loads(shown.output)["error"]["code"] == "not_found"


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    shown = CliRunner().invoke(main, ["demo", "--file", str(tmp_path)])

    assert shown.exit_code == 1
    assert f"such as '{tmp_path / 'demo.db'}'" in shown.output


def test_fewer_jobs_than_scenes_are_wrong_usage() -> None:
    shown = CliRunner().invoke(main, ["demo", "--jobs", "5"])

    assert shown.exit_code == 2


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["for a person", "as JSON"])
def test_a_violation_is_shown_and_is_exit_code_1(
    options: list[str], report: DemoReport, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wrong = msgspec.structs.replace(report, violations=["I4 film-001 rev 9: an end that was none"])
    monkeypatch.setattr(command, "play", lambda *_: wrong)

    shown = CliRunner().invoke(main, ["demo", "--file", str(tmp_path / "demo.db"), *options])

    assert shown.exit_code == 1
    assert "I4 film-001 rev 9: an end that was none" in shown.output
    assert VERDICT not in shown.output


def test_help_says_what_it_is_in_a_sentence_and_by_example() -> None:
    shown = CliRunner().invoke(main, ["demo", "--help"])

    assert "Watch hundreds of jobs" in shown.output
    assert "detent demo --file demo.db" in shown.output


def test_it_runs_as_a_module_and_as_a_program() -> None:
    shown = subprocess.run([sys.executable, "-m", "detent", "demo", "--help"], capture_output=True, text=True)

    assert shown.returncode == 0
    assert "Watch hundreds of jobs" in shown.stdout
    assert set(SCENES) == set(BUILT_IN)
