"""The processes of a demo: started, heard, paused, killed, and in the end gone, whatever happened."""

import os
import signal
import subprocess
import sys
from types import TracebackType
from typing import Final, Self

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from detent.surfaces.cli.demo.child import Casting, Told
from detent.surfaces.cli.failure import Failure

PACKAGE: Final = "detent.surfaces.cli.demo"
CONTROL: Final = "control"
LEAVE_S: Final = 6.0  # for what is under way; then it is killed
HEARD_BYTES: Final = 65_536
STDERR_CHARS: Final = 2_000


class Member(Struct):
    name: str
    process: subprocess.Popen[bytes]

    @property
    def pid(self) -> int:
        return self.process.pid


class Cast:
    """All tell what they have to tell through one pipe. Leaving the `with` block leaves no process behind."""

    def __init__(self, *, url: str, jobs: int, seed: int, capacity: int) -> None:
        pid = os.getpid()
        self._casting = Casting(name="", url=url, parent_pid=pid, jobs=jobs, seed=seed, capacity=capacity)
        self.members: dict[str, Member] = {}
        self.killed: list[Member] = []
        self._workers = 0
        self._ear, self._mouth = os.pipe()
        os.set_blocking(self._ear, False)
        self._unheard = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end_all()
        os.close(self._ear)
        os.close(self._mouth)

    def start_control(self) -> None:
        self._start(CONTROL, "control")

    def start_worker(self) -> Member:
        self._workers += 1
        return self._start(f"w{self._workers}", "worker")

    @property
    def workers(self) -> list[Member]:
        return [member for name, member in self.members.items() if name != CONTROL]

    def hear(self) -> list[Told]:
        try:
            self._unheard += os.read(self._ear, HEARD_BYTES)
        except BlockingIOError:
            return []
        *lines, self._unheard = self._unheard.split(b"\n")
        return [msgspec.json.decode(line, type=Told) for line in lines]

    def check(self) -> None:
        """Nobody leaves before being asked to; who did had an error."""
        for member in self.members.values():
            code = member.process.poll()
            if code is not None:
                said = _last_words(member)
                raise Failure(f"the demo's process '{member.name}' ended by itself, with exit code {code}:\n{said}")

    def kill(self, member: Member) -> None:
        """For good, and at once: SIGKILL cannot be noticed by whom it hits."""
        member.process.kill()
        member.process.wait()
        del self.members[member.name]
        self.killed.append(member)

    def ask_to_leave(self) -> None:
        for member in self.members.values():
            member.process.terminate()

    def are_gone(self) -> bool:
        return all(member.process.poll() is not None for member in self.members.values())

    def _start(self, name: str, module: str) -> Member:
        part = msgspec.json.encode(replace(self._casting, name=name)).decode()
        process = subprocess.Popen(
            [sys.executable, "-m", f"{PACKAGE}.{module}", part],
            stdin=subprocess.DEVNULL,
            stdout=self._mouth,
            stderr=subprocess.PIPE,
            process_group=0,  # Ctrl-C is for the demo alone, which then ends the others
        )
        self.members[name] = Member(name, process)
        return self.members[name]

    def _end_all(self) -> None:
        for member in self.members.values():
            member.process.kill()
        for member in (*self.members.values(), *self.killed):
            member.process.wait()
            if member.process.stderr is not None:
                member.process.stderr.close()


def pause(member: Member) -> None:
    os.kill(member.pid, signal.SIGSTOP)


def resume(member: Member) -> None:
    os.kill(member.pid, signal.SIGCONT)


def _last_words(member: Member) -> str:
    said = member.process.stderr.read() if member.process.stderr is not None else b""
    return said.decode(errors="replace")[-STDERR_CHARS:]
