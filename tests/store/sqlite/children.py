"""Programs for processes of their own: `python -m tests.store.sqlite.children NAME ARGUMENTS`. Each answers in JSON."""

import fcntl
import json
import os
import resource
import signal
import sqlite3
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import apsw

from detent import DetentError, connect
from detent.client.sync import run
from tests.store.sqlite.files import ids, opened

NOBODY: Final = 65_534
VISITS: Final = 60
FILE_BYTES_MAX: Final = 6 * 1024 * 1024
# Where SQLite holds the lock that says "this file is in use".
SHARED_FIRST: Final = 0x4000_0002
SHARED_BYTES: Final = 510


def enqueue(path: str, job_id: str) -> object:
    with opened(Path(path)) as client:
        return client.enqueue("scan", job_id=job_id).state


def listed(path: str) -> object:
    with opened(Path(path)) as client:
        return ids(client)


def open_at(path: str, moment: str, job_id: str) -> object:
    """Open a store at an agreed moment, together with others."""
    while time.time() < float(moment):
        pass
    return enqueue(path, job_id)


def enqueue_and_die(path: str, job_id: str) -> object:
    with opened(Path(path)) as client:
        client.enqueue("scan", job_id=job_id)
        os.kill(os.getpid(), signal.SIGKILL)
    return None


def die_in_transaction(path: str, job_id: str) -> object:
    with opened(Path(path)) as client, client.transaction() as tx:
        client.enqueue("scan", job_id=job_id, tx=tx)
        os.kill(os.getpid(), signal.SIGKILL)
    return None


def hold_transaction(path: str) -> object:
    """Keep the write lock, as one of Detent's own, until told to go on."""
    with opened(Path(path)) as client, client.transaction():
        _wait()
    return None


def come_and_go(path: str) -> object:
    """Open the store, write and close it, again and again; the last to close it takes its log away."""
    print("ready", flush=True)  # noqa: T201 - what the test waits for
    for _ in range(VISITS):
        with opened(Path(path), synchronous="normal") as client:
            client.enqueue_many([{"kind": "scan", "payload": "x" * 1_000}] * 50)
    return None


def hold_lock(path: str) -> object:
    """Keep the write lock, as a tool that knows nothing of Detent, until told to go on."""
    connection = apsw.Connection(path)
    connection.execute("begin immediate")
    _wait()
    connection.execute("rollback")
    return None


def is_in_use(path: str) -> object:
    """Whether another process holds SQLite's lock on the file."""
    with Path(path).open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, SHARED_BYTES, SHARED_FIRST)
        except OSError:
            return True
        return False


def fill(path: str, relief: str) -> object:
    """Enqueue until there is no more room."""
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES_MAX, hard))
    acknowledged: list[str] = []
    with opened(Path(path), synchronous="normal") as client:
        while True:
            try:
                acknowledged.append(client.enqueue("scan", "x" * 4000).id)
            except DetentError as trouble:
                code = trouble.code
                break
        if relief == "space again":
            resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
            acknowledged.append(client.enqueue("scan").id)
    return {"code": code, "acknowledged": acknowledged}


def open_as_nobody(path: str) -> object:
    """Open and write as a user whom permissions bind, and say which error it was."""
    with connect("sqlite:///:memory:"):
        pass  # all code is read before: the folder it lies in may be closed to others
    if os.getuid() == 0:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
    return code_of(lambda: enqueue(path, "job"))


def modes(path: str) -> object:
    """What the files of an open store may be, where the mask forbids nothing."""
    os.umask(0)
    with opened(Path(path)) as client, client.transaction() as tx:
        client.enqueue("scan", tx=tx)
        return {file.name: oct(file.stat().st_mode & 0o777) for file in Path(path).parent.iterdir()}


def sqlite3_first(path: str) -> object:
    """Python's own library has the file open, and has used it, before Detent comes."""
    other = sqlite3.connect(path)
    other.execute("create table if not exists mine (x)")
    refused = code_of(lambda: enqueue(path, "job"))
    other.close()
    return [refused, code_of(lambda: enqueue(path, "job"))]


def look_beside_sqlite3(path: str) -> object:
    """What is said of a file's migrations while Python's own library has it open."""
    other = sqlite3.connect(path)
    other.execute("create table if not exists mine (x)")
    refused = code_of(lambda: look(path))
    other.close()
    return refused


def look_after_fork(path: str) -> object:
    """What a forked child is told of the migrations of a file that its parent has open."""
    with opened(Path(path)):
        return in_fork(lambda: code_of(lambda: look(path)))


def look(path: str) -> object:
    return len(run(opened(Path(path)).store.migrations()))


def fork(path: str, other: str) -> object:
    """What a forked child is told: with its parent's client, with a new one of that file, and with another file."""
    with opened(Path(path)) as client:
        client.enqueue("scan", job_id="parent")
        told = in_fork(
            lambda: [
                code_of(lambda: client.enqueue("scan")),
                code_of(lambda: client.get("parent")),
                code_of(lambda: client.transaction().__enter__()),
                code_of(lambda: enqueue(path, "child")),
                code_of(lambda: enqueue(other, "child")),
            ]
        )
        client.enqueue("scan", job_id="parent again")
        return {"told": told, "ids": ids(client)}


def fork_after_close(path: str) -> object:
    enqueue(path, "parent")
    return in_fork(lambda: code_of(lambda: enqueue(path, "child")))


def in_fork(work: Callable[[], Any]) -> Any:
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, json.dumps(work()).encode())
        os._exit(0)
    os.close(write)
    os.waitpid(child, 0)
    with os.fdopen(read) as answer:
        return json.load(answer)


def code_of(work: Callable[[], object]) -> str:
    try:
        work()
    except DetentError as refused:
        return refused.code
    return "ok"


def _wait() -> None:
    print("ready", flush=True)  # noqa: T201 - what the test waits for
    sys.stdin.read()


PROGRAMS: Final[dict[str, Callable[..., object]]] = {
    program.__name__: program
    for program in (
        enqueue, listed, open_at, enqueue_and_die, die_in_transaction, hold_transaction, come_and_go, hold_lock,
        is_in_use, fill, open_as_nobody, modes, sqlite3_first, look_beside_sqlite3, look_after_fork, fork,
        fork_after_close,
    )
}  # fmt: skip

if __name__ == "__main__":
    answer = PROGRAMS[sys.argv[1]](*sys.argv[2:])
    print(json.dumps(answer))  # noqa: T201 - the answer of a program
