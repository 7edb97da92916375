"""`detent worker` as a person starts it, in a process of its own, until a test ends it by a signal."""

import os
import re
import signal
import subprocess
import sys
import tempfile
from types import TracebackType
from typing import Final, Self
from urllib.request import urlopen

from tests.surfaces.running import ROOT

TARGET: Final = "tests.paths.app:app"
WAIT_S: Final = 60.0


class WorkerProcess:
    """Leaving the block kills it, if it is still there. What it writes to its standard error is kept."""

    def __init__(self, url: str, name: str, *options: str) -> None:
        self.name = name
        self._written = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the process
        command = [sys.executable, "-m", "detent", "worker", TARGET, "--url", url, "--name", name, *options]
        streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": self._written}
        self._process = subprocess.Popen(command, cwd=ROOT, env=_environment(), **streams)  # type: ignore[call-overload]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(WAIT_S)
        self._written.close()

    def kill(self) -> None:
        """SIGKILL."""
        self._process.kill()
        self._process.wait(WAIT_S)

    def freeze(self) -> None:
        """SIGSTOP; returns when it stands still."""
        self._process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED)

    def thaw(self) -> None:
        self._process.send_signal(signal.SIGCONT)

    def drain(self) -> int:
        """SIGTERM, and its exit code."""
        self._process.send_signal(signal.SIGTERM)
        return int(self._process.wait(WAIT_S))

    def metrics(self) -> str:
        """What it has counted, from where its banner says that this is told."""
        address = re.search(r"http://\S+", self.said())
        assert address is not None, self.said()
        with urlopen(address[0], timeout=WAIT_S) as answer:
            return str(answer.read(), "utf-8")

    def said(self) -> str:
        self._written.seek(0)
        return self._written.read().decode(errors="replace")


def _environment() -> dict[str, str]:
    path = os.pathsep.join(each for each in (str(ROOT / "src"), os.environ.get("PYTHONPATH")) if each)
    return {**os.environ, "PYTHONPATH": path}
