"""The engines in docs/examples do real jobs, stop when they are told to, and go on when the service is killed; and who
watches them sees all of it.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from tests.engines.playing import FOLDER, node, scene
from tests.surfaces.http.process import WAIT_S, Service, Services, until
from tests.surfaces.running import ROOT

EXAMPLES: Final = ROOT / "docs" / "examples"
# A client that was cut off takes its time until it connects again.
LIMITS: Final = {"queued": 120, "dispatched": 120, "running": 120}
PATIENT: Final[dict[str, Any]] = {"timeouts": LIMITS, "lease_s": 120.0, "heartbeat_s": 30.0}
LONG: Final = {"steps": 2_000}


class Program:
    """One that runs. All that it says goes to a file."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self.process = process
        self._log = log

    def said(self) -> str:
        return self._log.read_text(encoding="utf-8")

    def ended(self) -> tuple[int, str]:
        return self.process.wait(WAIT_S), self.said()


def command(language: str, name: str, folder: Path) -> list[str]:
    """Packages of Node are looked for beside a program, and so it is run from where there are some."""
    if language == "python":
        return [sys.executable, str(EXAMPLES / f"{name}.py")]
    if not (folder / "node_modules").exists():
        (folder / "node_modules").symlink_to(FOLDER / "node_modules")
    return [node(), str(shutil.copy(EXAMPLES / f"{name}.mjs", folder))]


@contextmanager
def started(asked: list[str], service: Service, token: str, folder: Path) -> Iterator[Program]:
    env = {**os.environ, "DETENT_URL": service.url, "DETENT_TOKEN": token}
    log = folder / f"program-{len(list(folder.glob('program-*.log')))}.log"
    with log.open("w", encoding="utf-8") as said:
        process = subprocess.Popen(asked, env=env, stdout=said, stderr=said)
    with process:
        try:
            yield Program(process, log)
        finally:
            process.kill()


@contextmanager
def at_work(
    language: str, service: Service, folder: Path, *, name: str = "forge", token: str | None = None
) -> Iterator[Program]:
    token = service.token_for("forge", "work") if token is None else token
    with started([*command(language, "engine", folder), name], service, token, folder) as program:
        yield program


@contextmanager
def watching(service: Service, folder: Path, *kinds: str, token: str | None = None) -> Iterator[Program]:
    token = service.token_for("screen", "read") if token is None else token
    with started([*command("node", "watcher", folder), *kinds], service, token, folder) as program:
        yield program


@pytest.fixture(params=["node", "python"])
def program(request: pytest.FixtureRequest, service: Service, tmp_path: Path) -> Iterator[Callable[..., Program]]:
    """Starts the example in either language; each ends with the test."""
    with ExitStack() as stack:
        yield lambda **more: stack.enter_context(at_work(request.param, service, tmp_path, **more))


def running(service: Service) -> str:
    """A long job that the example has begun. Whoever is told to stop it has longer than this test waits."""
    job_id = scene(service, payload=LONG, policy=PATIENT | {"grace_s": 2 * WAIT_S})
    until(lambda: service.state(job_id) == "running")
    return job_id


@pytest.mark.requirement("ENG-07")
@pytest.mark.parametrize("language", ["node", "python"])
@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_example_does_jobs_to_the_end_though_the_service_is_restarted(language: str, how: str, tmp_path: Path) -> None:
    services = Services(tmp_path)
    with services.running() as first, at_work(language, first, tmp_path):
        done = [scene(first, payload={"steps": 2}) for _ in range(4)]
        until(lambda: {first.state(each) for each in done} == {"completed"})
        left = [scene(first, policy=PATIENT, payload={"steps": 40}) for _ in range(4)]
        until(lambda: "running" in {first.state(each) for each in left})
        first.kill() if how == "killed" else first.stopped()
        with services.running(port=first.port) as second:
            until(lambda: {second.state(each) for each in left} <= {"completed", "failed"})
            states = {second.state(each) for each in left}
            results = [second.ask("GET", f"/v1/jobs/{each}")[1]["result"] for each in left]

    assert states == {"completed"}
    assert results == [{"steps": 40}] * 4


@pytest.mark.requirement("ENG-07", "ALL-17")
def test_example_stops_a_job_that_is_to_be_cancelled_and_says_so(
    service: Service, program: Callable[..., Program]
) -> None:
    engine = program()
    job_id = running(service)
    service.ask("POST", f"/v1/jobs/{job_id}/cancel", {"actor": "ops"})
    until(lambda: f"{job_id}: cancelled" in engine.said())
    until(lambda: service.state(job_id) == "failed")

    assert service.ask("GET", f"/v1/jobs/{job_id}")[1]["error"]["category"] == "cancelled"


@pytest.mark.requirement("ENG-07")
def test_example_stops_a_job_that_it_has_lost(service: Service, program: Callable[..., Program]) -> None:
    engine = program()
    job_id = running(service)
    service.ask("POST", f"/v1/jobs/{job_id}/cancel", {"actor": "ops", "mode": "hard"})

    until(lambda: f"{job_id}: lost" in engine.said())


@pytest.mark.requirement("ENG-07")
def test_example_that_is_superseded_ends_and_says_why(service: Service, program: Callable[..., Program]) -> None:
    first = program()
    running(service)
    second = program()

    assert first.ended() == (1, "engine forge is superseded: it has registered on another connection\n")
    assert second.process.poll() is None


@pytest.mark.requirement("ENG-07")
@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"name": "mill"}, "token 'forge' acts as worker 'forge', or 'forge/…', and not as worker 'mill'"),
        ({"token": "nonsense"}, "what was presented is no token"),
    ],
)
def test_example_that_is_not_let_in_says_so_in_one_line_and_ends(
    program: Callable[..., Program], how: dict[str, str], said: str
) -> None:
    code, printed = program(**how).ended()

    assert (code, printed.count("\n")) == (1, 1)
    assert said in printed


def lives(*watchers: Program) -> list[list[tuple[str, str]]]:
    """What each printed: the names of the messages, and of which jobs."""
    told = [[line.split(" ", 1) for line in each.said().splitlines() if line.startswith("JOB_")] for each in watchers]
    return [[(name, json.loads(data)["jobId"]) for name, data in lines] for lines in told]


@pytest.mark.requirement("ENG-05")
def test_example_that_watches_prints_every_step_once_though_the_service_is_restarted(tmp_path: Path) -> None:
    services, marks = Services(tmp_path), list[str]()

    def is_seen(watcher: Program, name: str, job_id: str) -> bool:
        return (name, job_id) in lives(watcher)[0]

    def is_heard(service: Service) -> bool:
        """It watches from some moment on: jobs are made until one of them is seen."""
        marks.append(service.enqueue("MARK", lifecycle="engine"))
        return any(is_seen(watcher, "JOB_QUEUED", each) for each in marks)

    with services.running() as first, watching(first, tmp_path) as watcher, at_work("node", first, tmp_path):
        until(lambda: is_heard(first))
        one = scene(first, payload={"steps": 2})
        until(lambda: is_seen(watcher, "JOB_COMPLETED", one))
        first.kill()
        with services.running(port=first.port) as second:
            two = scene(second, payload={"steps": 2}, policy=PATIENT)
            until(lambda: is_seen(watcher, "JOB_COMPLETED", two))
            (told,) = lives(watcher)

    steps = ["JOB_QUEUED", "JOB_DISPATCHED", "JOB_RUNNING", "JOB_COMPLETED"]
    for job_id in (one, two):
        assert [name for name, of in told if of == job_id and name != "JOB_PROGRESS"] == steps
    assert ("JOB_PROGRESS", one) in told


@pytest.mark.requirement("ENG-05")
def test_example_that_watches_may_be_told_of_one_kind_alone(service: Service, tmp_path: Path) -> None:
    with watching(service, tmp_path, "MINE") as watcher:
        ids: dict[str, list[str]] = {"OTHER": [], "MINE": []}

        def is_heard() -> bool:
            for kind, made in ids.items():
                made.append(service.enqueue(kind, lifecycle="engine"))
            return bool(watcher.said())

        until(is_heard)
        (told,) = lives(watcher)

    assert {job_id for _, job_id in told} <= set(ids["MINE"])


@pytest.mark.requirement("ENG-07")
def test_example_that_may_not_watch_says_so_in_one_line_and_ends(service: Service, tmp_path: Path) -> None:
    with watching(service, tmp_path, token=service.token_for("forge", "work")) as watcher:
        code, printed = watcher.ended()

    assert (code, printed.count("\n")) == (1, 1)
    assert "needs the scope 'read'" in printed
