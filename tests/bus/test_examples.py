"""The worker and the client in docs/examples do a real job, and go on when the bus was away."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.bus.playing import TOPIC
from tests.bus.server import NatsServer
from tests.bus.site import BusSite
from tests.surfaces.http.process import until
from tests.surfaces.running import ROOT

pytestmark = pytest.mark.requirement("DSP-09")
EXAMPLES = ROOT / "docs" / "examples"
WAIT_S = 40
Ask = Callable[..., tuple[int, str]]


@contextmanager
def at_work(url: str, folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    command = [sys.executable, str(EXAMPLES / "pool_worker.py"), TOPIC, "chat-1"]
    with (folder / "worker.log").open("wb") as said:
        process = subprocess.Popen(command, env=os.environ | {"NATS_URL": url}, stdout=said, stderr=said)
    with process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture
def ask(site: BusSite) -> Ask:
    """What the client prints, and its exit code."""

    def asked(job_id: str, topic: str = TOPIC) -> tuple[int, str]:
        command = [sys.executable, str(EXAMPLES / "pool_client.py"), topic, job_id]
        env = os.environ | {"NATS_URL": site.nats_url}
        done = subprocess.run(command, env=env, capture_output=True, text=True, timeout=WAIT_S, check=False)
        return done.returncode, done.stdout + done.stderr

    return asked


def test_examples_do_a_job_before_and_after_the_bus_was_away(
    site: BusSite, nats_server: NatsServer, ask: Ask, tmp_path: Path
) -> None:
    def listed() -> object:
        assert site.service is not None
        return [each for each in site.service.ask("GET", "/v1/workers")[1]["workers"] if each["name"] == "chat-1"]

    with at_work(site.nats_url, tmp_path):
        until(listed)
        first = ask("q1")
        nats_server.stop()
        until(lambda: "is lost" in site.log())
        nats_server.start()
        until(lambda: site.log().count("on the bus") == 2)
        second = ask("q2")

    assert (first, second) == (
        (0, "q1 JOB_STATUS_SUCCEEDED s3://answers/q1\n"),
        (0, "q2 JOB_STATUS_SUCCEEDED s3://answers/q2\n"),
    )


def test_client_says_why_its_job_was_refused(ask: Ask) -> None:
    code, told = ask("q1", "nowhere")

    assert code == 1
    assert told.startswith("q1 refused: ")
    assert "is no pool of this bus" in told
