"""A terminal with a command in it: what it shows, and what a person types."""

import os
import pty
import select
import struct
import subprocess
import termios
from fcntl import ioctl
from types import TracebackType
from typing import Final, Self

from tests.surfaces.running import Site

PATIENCE_S: Final = 30.0
INTERRUPT_S: Final = 5.0  # one that comes while Python is on its way out would kill it
INTERRUPTS_MAX: Final = 6


def _take_over() -> None:
    """In the child, once its streams are the terminal: from now on the terminal sends it signals."""
    ioctl(0, termios.TIOCSCTTY, 0)


class Terminal:
    """The command sees a terminal at all three of its streams. `exit_code` is known once the rest was read."""

    def __init__(self, site: Site, *arguments: str, columns: int = 80, **env: str) -> None:
        self._ours, theirs = pty.openpty()
        ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        streams = dict.fromkeys(("stdin", "stdout", "stderr"), theirs)
        self._process = site.process(
            *arguments, env={"TERM": "xterm-256color"} | env, start_new_session=True, preexec_fn=_take_over, **streams
        )
        os.close(theirs)
        self._seen = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._ours)
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()

    @property
    def exit_code(self) -> int:
        return self._process.wait(PATIENCE_S)

    def expect(self, text: str) -> None:
        """Read on until the terminal has shown it."""
        while text.encode() not in self._seen:
            more = self._more()
            assert more, f"'{text}' was not shown, only: {self._seen!r}"
            self._seen += more

    def type(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def interrupt(self) -> None:
        """Ctrl-C, of which the terminal makes a signal, until the command has ended.

        More than once: Python does not notice one that comes in just before it begins to wait for a line.
        """
        for _ in range(INTERRUPTS_MAX):
            self.type("\x03")
            try:
                self._process.wait(INTERRUPT_S)
            except subprocess.TimeoutExpired:
                continue
            return

    def rest(self) -> str:
        """All that it has shown, to the end of the command."""
        while more := self._more():
            self._seen += more
        return self._seen.decode().replace("\r\n", "\n")

    def _more(self) -> bytes:
        ready, _, _ = select.select([self._ours], [], [], PATIENCE_S)
        assert ready, f"nothing was shown for {PATIENCE_S} s after: {self._seen!r}"
        try:
            return os.read(self._ours, 65_536)
        except OSError:  # how Linux says that the other side is closed
            return b""
