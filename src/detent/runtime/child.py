"""One child process, as its worker holds it: started afresh, spoken to over a pipe, killed by its own group.

It is spawned, not forked: it inherits no connection, no thread and no lock, and only its end of the pipe.
"""

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from multiprocessing import Pipe
from typing import Any, Final

END_S: Final = 2.0
GOODBYE: Final = pickle.dumps(None)
_PROGRAM: Final = "import sys; sys.path[:] = {path!r}; from detent.runtime.child_main import main; main({fd})"


class Child:
    """`heard` is called with each message and, at the end, with None; both on a thread of the child's own."""

    def __init__(self, heard: Callable[["Child", Any], None], luggage: bytes) -> None:
        ours, theirs = Pipe()
        self._pipe = ours
        self._heard = heard
        self._speaking = threading.Lock()
        self.run: Any = None
        self.is_ready = False
        program = _PROGRAM.format(path=sys.path, fd=theirs.fileno())
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-c", program],
                stdin=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,  # a kill takes along what the handler has started; Ctrl-C does not reach it
            )
        finally:
            theirs.close()
        self._listener = threading.Thread(target=self._listen, name=f"detent-child-{self.pid}", daemon=True)
        self._listener.start()
        self.say(luggage)

    @property
    def pid(self) -> int:
        return self._process.pid

    def say(self, message: Any) -> None:
        """To a child that is gone nothing can be said; its listener says that it is."""
        data = message if isinstance(message, bytes) else pickle.dumps(message)
        try:
            with self._speaking:
                self._pipe.send_bytes(data)
        except OSError:
            return

    def kill(self) -> None:
        """With all that it has started. From any thread, and more than once."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            return  # it ended by itself

    def close(self) -> None:
        """Let it go. One that is busy is killed."""
        if self.run is not None:
            self.kill()
        self.say(GOODBYE)
        try:
            self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self.kill()
        self._listener.join()
        self._pipe.close()

    def how_it_ended(self) -> str:
        code = self._process.wait()
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    def _listen(self) -> None:
        while True:
            try:
                message = pickle.loads(self._pipe.recv_bytes())
            except (EOFError, OSError):
                self._process.wait()
                self._heard(self, None)
                return
            self._heard(self, message)
