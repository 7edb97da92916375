"""The engines in docs/examples do real jobs, and go on when the service is killed under them."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.engines.playing import FOLDER, node, scene
from tests.surfaces.http.process import Service, Services, until
from tests.surfaces.running import ROOT

EXAMPLES = ROOT / "docs" / "examples"


@contextmanager
def at_work(language: str, service: Service, folder: Path) -> Iterator[None]:
    """Packages of Node are looked for beside a program, and so it is run from where there are some."""
    if language == "node":
        (folder / "node_modules").symlink_to(FOLDER / "node_modules")
        program = [node(), shutil.copy(EXAMPLES / "engine.mjs", folder)]
    else:
        program = [sys.executable, str(EXAMPLES / "engine.py")]
    env = {**os.environ, "DETENT_URL": service.url, "DETENT_TOKEN": service.token_for("forge", "work")}
    with (folder / "engine.log").open("w", encoding="utf-8") as said:
        process = subprocess.Popen([*program, "forge"], env=env, stdout=said, stderr=said)
    with process:
        try:
            yield
        finally:
            process.kill()


@pytest.mark.requirement("ENG-07")
@pytest.mark.parametrize("language", ["node", "python"])
@pytest.mark.parametrize("how", ["killed", "stopped"])
def test_example_does_jobs_to_the_end_though_the_service_is_restarted(language: str, how: str, tmp_path: Path) -> None:
    services = Services(tmp_path)
    with services.running() as first, at_work(language, first, tmp_path):
        done = [scene(first, payload={"steps": 2}) for _ in range(4)]
        until(lambda: {first.state(each) for each in done} == {"completed"})
        # A client that was cut off takes its time until it connects again.
        limits = {"queued": 120, "dispatched": 120, "running": 120}
        patient = {"timeouts": limits, "lease_s": 120.0, "heartbeat_s": 30.0}
        left = [scene(first, policy=patient, payload={"steps": 40}) for _ in range(4)]
        until(lambda: "running" in {first.state(each) for each in left})
        first.kill() if how == "killed" else first.stopped()
        with services.running(port=first.port) as second:
            until(lambda: {second.state(each) for each in left} <= {"completed", "failed"})
            states = {second.state(each) for each in left}
            results = [second.ask("GET", f"/v1/jobs/{each}")[1]["result"] for each in left]

    assert states == {"completed"}
    assert results == [{"steps": 40}] * 4
