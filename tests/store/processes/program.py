"""Other processes, as a test holds them: started afresh, spoken to in lines, stopped and killed by their own id.

Nothing here waits without a bound, and whoever fails shows what the program wrote to its standard error.
"""

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, ClassVar, Final, Self

import msgspec

ROOT: Final = Path(__file__).resolve().parents[3]
PACKAGE: Final = "tests.store.processes.programs"
WAIT_S: Final = 60.0  # for one line, or for the end: on a busy machine a start alone can take seconds
COMPLAINT_CHARS_MAX: Final = 4_000

Line = dict[str, Any]


class ProgramFailed(AssertionError):
    """A program ended badly, or did not say in time what it was to say."""


class Program:
    """One running program of `programs/`. `given` are its arguments; leaving the block ends it, whatever it does."""

    package: ClassVar[str] = PACKAGE

    def __init__(self, name: str, /, **given: object) -> None:
        self.name = name
        self._complaints = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the program
        self._process = subprocess.Popen(
            self._command(name, given),
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._complaints,
        )
        self._lines: SimpleQueue[bytes | None] = SimpleQueue()
        self._listener = threading.Thread(target=self._listen, name=f"listens to {name}", daemon=True)
        self._listener.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def complaints(self) -> str:
        """All that it wrote to its standard error so far. Its place in that file is its own: nothing is moved."""
        written = self._complaints.fileno()
        return os.pread(written, os.fstat(written).st_size, 0).decode(errors="replace")

    def say(self, **facts: object) -> None:
        """A line to its standard input."""
        assert self._process.stdin is not None
        self._process.stdin.write(msgspec.json.encode(facts) + b"\n")
        self._process.stdin.flush()

    def hear(self, wait_s: float = WAIT_S) -> Line:
        """The next line that it said."""
        line = self._next(time.monotonic() + wait_s)
        if line is None:
            raise self._failed("ended without a word")
        return line

    def ended(self, wait_s: float = WAIT_S) -> list[Line]:
        """All that it still said, once it ended as it should."""
        lines = self._rest(time.monotonic() + wait_s)
        if self._process.wait(wait_s) != 0:
            raise self._failed(f"ended with {self._process.returncode}")
        return lines

    def kill(self) -> list[Line]:
        """SIGKILL. What it said until then was said: the pipe outlives it."""
        self._process.kill()
        lines = self._rest(time.monotonic() + WAIT_S)
        if self._process.wait(WAIT_S) != -signal.SIGKILL:
            raise self._failed(f"had ended with {self._process.returncode} before it was killed")
        return lines

    def pause(self) -> None:
        """SIGSTOP; returns when it stands still."""
        os.kill(self._process.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, self._process.pid, os.WSTOPPED)

    def resume(self) -> None:
        os.kill(self._process.pid, signal.SIGCONT)

    def close(self) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait(WAIT_S)
        self._listener.join(WAIT_S)
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                _close(pipe)
        self._complaints.close()

    def _command(self, name: str, given: Mapping[str, object]) -> list[str]:
        return [sys.executable, "-m", f"{self.package}.{name}", msgspec.json.encode(given).decode()]

    def _listen(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self._lines.put(line)
        self._lines.put(None)

    def _rest(self, deadline: float) -> list[Line]:
        lines = []
        while (line := self._next(deadline)) is not None:
            lines.append(line)
        return lines

    def _next(self, deadline: float) -> Line | None:
        try:
            said = self._lines.get(timeout=max(deadline - time.monotonic(), 0))
        except Empty:
            raise self._failed("said nothing in time") from None
        if said is None or not said.endswith(b"\n"):  # a word that the kill cut off was not said
            return None
        line: Line = msgspec.json.decode(said)
        return line

    def _failed(self, what: str) -> ProgramFailed:
        complaint = self.complaints[-COMPLAINT_CHARS_MAX:]
        return ProgramFailed(f"{self.name} (process {self.pid}) {what}; it complained:\n{complaint}")


def _close(pipe: Any) -> None:
    try:
        pipe.close()
    except BrokenPipeError:
        return  # a last word that nobody was there to read
