"""Programs for processes of their own: `python -m tests.postgres.children NAME ARGUMENTS`. Each answers in JSON."""

import json
import os
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from functools import partial
from typing import Any, Final

from tests.postgres.clients import opened
from tests.store.sqlite.children import code_of, in_fork
from tests.store.sqlite.files import CHILD_S_MAX, ROOT, ids

START_S: Final = 0.5  # until all of them are there


def told(program: str, *arguments: object) -> Any:
    """What a program answers."""
    command = [sys.executable, "-m", "tests.postgres.children", program, *map(str, arguments)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=CHILD_S_MAX)
    assert done.returncode == 0, done.stderr
    assert not done.stderr, done.stderr
    return json.loads(done.stdout)


def open_together(url: str, openers: str) -> object:
    """How so many processes ended that opened a store at the same moment, and wrote to it."""
    moment = time.monotonic() + START_S
    pids = [_forked(partial(_open_at, url, moment, f"job-{n}")) for n in range(int(openers))]
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids]


def fork(url: str) -> object:
    """What a forked child is told with its parent's client, and with one of its own; and whether its parent goes on."""
    with opened(url) as client:
        client.enqueue("scan", job_id="parent")
        told = in_fork(
            lambda: [
                code_of(lambda: client.enqueue("scan")),
                code_of(lambda: client.get("parent")),
                code_of(lambda: client.transaction().__enter__()),
                code_of(lambda: _enqueue(url, "child")),
            ]
        )
        client.enqueue("scan", job_id="parent again")
        return {"told": told, "ids": ids(client)}


def _forked(work: Callable[[], object]) -> int:
    """A process that ends with 0 if the work did not raise."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        except BaseException:
            traceback.print_exc()
            os._exit(1)
        os._exit(0)
    return pid


def _open_at(url: str, moment: float, job_id: str) -> None:
    while time.monotonic() < moment:
        pass
    _enqueue(url, job_id)


def _enqueue(url: str, job_id: str) -> None:
    with opened(url) as client:
        client.enqueue("scan", job_id=job_id)


PROGRAMS: Final[dict[str, Callable[..., object]]] = {program.__name__: program for program in (open_together, fork)}

if __name__ == "__main__":
    answer = PROGRAMS[sys.argv[1]](*sys.argv[2:])
    print(json.dumps(answer))  # noqa: T201 - the answer of a program
