"""A NATS server as a process: its folder, its port, its start and its end."""

import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Final, Self

from tests.postgres.ports import free_port

PROGRAM: Final = Path(sys.executable).with_name("nats-server")
WAIT_S: Final = 20.0
LOOK_AGAIN_S: Final = 0.01


class NatsServer:
    """With JetStream in a folder of its own, which outlasts a stop; leaving the block stops it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"nats://127.0.0.1:{self.port}"

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        command = [str(PROGRAM), "-js", "-sd", str(self._folder / "kept"), "-a", "127.0.0.1", "-p", str(self.port)]
        log = self._folder / "nats.log"
        self._process = subprocess.Popen([*command, "-l", str(log)])
        ends_s = time.monotonic() + WAIT_S
        while not self._is_there():
            assert self._process.poll() is None, log.read_text(encoding="utf-8")
            assert time.monotonic() < ends_s, "the server did not start"
            time.sleep(LOOK_AGAIN_S)

    def stop(self) -> None:
        """As a crash does: nothing is said to anybody."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait(WAIT_S)

    def restart(self) -> None:
        self.stop()
        self.start()

    def forget(self) -> None:
        """As a container does whose volume is gone."""
        shutil.rmtree(self._folder / "kept")

    def _is_there(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=1.0):
                return True
        except OSError:
            return False
