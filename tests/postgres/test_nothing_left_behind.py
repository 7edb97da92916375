"""However a test run ends, its server ends with it and its folders are gone."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres.server import Server
from tests.postgres.waiting import WAIT_S, until

ROOT = Path(__file__).resolve().parents[2]

# The line is written past pytest's own output, and the test then waits for a signal.
WAITING_TEST = """
import os, signal, sys

def test_waits(pg_server):
    facts = f"{pg_server.pid} {pg_server.folder} {pg_server.data_folder}\\n"
    os.write(int(os.environ["TOLD"]), facts.encode())
    signal.pause()
"""


@pytest.fixture
def run(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[bytes], list[str]]]:
    """A test run that has started its server, and its server's process id and folders."""
    (tmp_path / "test_waiting.py").write_text(WAITING_TEST)
    heard, told = os.pipe()
    command = [sys.executable, "-m", "pytest", "-p", "tests.postgres.fixtures", "--rootdir", str(tmp_path)]
    process = subprocess.Popen(
        [*command, "-c", os.devnull, "-s", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "TOLD": str(told)},
        pass_fds=[told],
        stdout=subprocess.DEVNULL,
    )
    os.close(told)
    with os.fdopen(heard) as line:
        yield process, line.readline().split()
    process.kill()
    process.wait()


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL], ids=lambda ending: ending.name)
def test_server_ends_with_a_run_that_is_ended_by(
    run: tuple[subprocess.Popen[bytes], list[str]], ending: signal.Signals
) -> None:
    process, (pid, *folders) = run
    assert is_running(pid)

    process.send_signal(ending)
    process.wait(WAIT_S)

    assert until(lambda: not is_running(pid))
    assert until(lambda: not any(Path(folder).exists() for folder in folders))


def test_closed_server_leaves_no_process_and_no_folder() -> None:
    with Server(in_memory=True) as server:
        pid = str(server.pid)
        assert is_running(pid)

    assert not is_running(pid)
    assert not server.folder.exists()
    assert not server.data_folder.exists()


def test_guardian_ends_when_the_server_ends_by_itself() -> None:
    with Server(in_memory=True) as server:
        pid = server.pid
        os.kill(pid, signal.SIGKILL)

        assert until(lambda: not server.is_running)


def is_running(pid: str) -> bool:
    return subprocess.run(["ps", "-p", pid], stdout=subprocess.DEVNULL).returncode == 0
