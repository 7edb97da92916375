"""What every process of a demo has besides its part: who it is, how it tells the others, and when it leaves."""

import os
import signal
import sys
from types import FrameType
from typing import Final

import msgspec
from msgspec import Struct

STDOUT: Final = 1


class Casting(Struct, frozen=True):
    """Given on the command line: the part that a process plays. `capacity`: how many jobs a worker holds at most."""

    name: str
    url: str
    parent_pid: int
    jobs: int
    seed: int
    capacity: int


class Told(Struct, frozen=True, omit_defaults=True):
    """Something that is not in the log, told to whoever watches: a refusal, or a repeat that was answered."""

    what: str
    who: str
    job_id: str
    code: str


def casting() -> Casting:
    return msgspec.json.decode(sys.argv[1], type=Casting)


def tell(told: Told) -> None:
    """A line in one write: short enough for a pipe to keep it whole, also if the process is killed."""
    os.write(STDOUT, msgspec.json.encode(told) + b"\n")


class Leaving:
    """`is_asked`: SIGTERM came, so finish what is under way. `is_orphaned`: the demo itself is gone, so go at once."""

    def __init__(self, parent_pid: int) -> None:
        self.is_asked = False
        self._parent_pid = parent_pid
        signal.signal(signal.SIGTERM, self._ask)
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # the one who is interrupted is the demo; it asks the others

    @property
    def is_orphaned(self) -> bool:
        return os.getppid() != self._parent_pid

    def _ask(self, _number: int, _frame: FrameType | None) -> None:
        self.is_asked = True
