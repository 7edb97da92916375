"""A worker in a process of its own, as a test holds it."""

import os
import signal
from typing import ClassVar

from tests.store.processes.program import Program


class WorkerProgram(Program):
    """`say`, `hear`, `pause`, `resume` and `kill` as any program; and SIGTERM, on which it drains."""

    package: ClassVar[str] = "tests.runtime.programs"

    def terminate(self) -> None:
        os.kill(self._process.pid, signal.SIGTERM)
