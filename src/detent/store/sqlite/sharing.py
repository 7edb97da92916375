"""Who else has the file open: other processes, another SQLite library in this one, this one before a fork."""

import os
import sys
import threading
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

import apsw

from detent.errors import StoreError
from detent.store.sqlite.gate import Gate
from detent.store.waiting import pause

# Earlier libraries can corrupt a write-ahead log that has two writers.
SQLITE_OLDEST: Final = (3, 51, 3)

LOOKS_MAX: Final = 5
LOOK_S: Final = 0.01

Identity = tuple[int, int]  # of a file: device and inode
_gates: Final[dict[Identity, Gate]] = {}
_inherited: Final[set[Identity]] = set()  # open in the process that this one was forked from
_lock: Final = threading.Lock()
_is_watching = False


def check_library() -> None:
    number = apsw.sqlite_lib_version()
    if tuple(int(part) for part in number.split(".")) < SQLITE_OLDEST:
        raise StoreError(
            f"the SQLite library is {number}, which can corrupt a file that has two writers; "
            "install apsw 3.51.3 or later",
            code="library_too_old",
        )


def join(path: str) -> tuple[Gate, bool]:
    """This process's gate of the file, and whether it was left unclean: open nowhere, yet with a log to recover."""
    identity = identity_of(path)
    with _lock:
        check_safe(path, identity)
        gate = _gates.get(identity)
        is_unclean = False
        if gate is None:
            gate = _gates[identity] = Gate(path)
            is_unclean = gate.is_alone() and _has_log(path)
            gate.join()
            _watch()
        gate.users += 1
        return gate, is_unclean


def check_safe(path: str, identity: Identity) -> None:
    """Whether SQLite may touch the file in this process, if only to read it."""
    if identity in _inherited:
        raise forked(path)
    refuse_second_library(path, identity)


def forked(path: str) -> StoreError:
    return StoreError(
        f"store {path}: it was open when this process was forked, and SQLite does not survive that. Close it before "
        "forking, or start processes by spawn (multiprocessing.set_start_method('spawn'))",
        code="forked",
    )


def leave(gate: Gate) -> None:
    with _lock:
        gate.users -= 1
        if gate.users == 0:
            for identity in [known for known, other in _gates.items() if other is gate]:
                del _gates[identity]
            gate.close()


def identity_of(path: str) -> Identity:
    status = os.stat(path)  # noqa: PTH116 - asked for every write, and a Path costs 10 µs
    return status.st_dev, status.st_ino


def identity_or_none(path: str) -> Identity | None:
    try:
        return identity_of(path)
    except (OSError, ValueError):  # there is no such file, or no such path
        return None


def refuse_second_library(path: str, identity: Identity) -> None:
    """Two libraries in one process do not see each other's locks, and closing a file drops the locks of both.

    Looked at more than once: a connection of our own that another thread opens or closes just then looks like one.
    """
    for _ in range(LOOKS_MAX):
        if not _seems_second(path, identity):
            return
        pause(LOOK_S)
    raise _second(path)


def _seems_second(path: str, identity: Identity) -> bool:
    is_foreign = identity not in _gates and _is_open_here(identity) and not _is_apsw_on(identity)
    return is_foreign or _times_open(path + "-shm") > 1


def _second(path: object) -> StoreError:
    return StoreError(
        f"store {path}: another SQLite library in this process has it open, such as Python's sqlite3. Their locks do "
        "not see each other, and the file can be corrupted. Use client.transaction() for your own tables, or a "
        "process or a file of their own",
        code="second_library",
    )


def _watch() -> None:
    """Refuse Python's own sqlite3 on a file that is open here. A hook stays for good, so there is one, when needed."""
    global _is_watching
    if not _is_watching:
        _is_watching = True
        sys.addaudithook(_on_event)


def _on_event(event: str, arguments: tuple[Any, ...]) -> None:
    if event != "sqlite3.connect" or not _gates or not isinstance(arguments[0], str | bytes | os.PathLike):
        return
    for path in _meant(os.fsdecode(arguments[0])):
        if identity_or_none(path) in _gates:
            raise _second(path)


def _meant(given: str) -> list[str]:
    """The files that an argument of sqlite3 may mean: itself and, if it may be an address, the path in that."""
    if not given.startswith("file:"):
        return [given]
    bare = given.removeprefix("file:").partition("?")[0].partition("#")[0]
    if bare.startswith("//"):
        bare = "/" + bare[2:].partition("/")[2]  # the host can only be this one
    return [given, unquote(bare)]


def _is_apsw_on(identity: Identity) -> bool:
    """Whether a connection of apsw's own, the user's perhaps, accounts for the open file."""
    for connection in apsw.connections():
        try:
            name = connection.filename
        except (apsw.ThreadingViolationError, apsw.ConnectionClosedError):
            return True  # busy in another thread, so that it cannot be asked; it may be the one
        if name and identity_or_none(name) == identity:
            return True
    return False


def _is_open_here(identity: Identity) -> bool:
    return any(found == identity for found in _open_files())


def _times_open(path: str) -> int:
    identity = identity_or_none(path)  # whoever closes the store last removes it, perhaps just now
    return 0 if identity is None else sum(1 for found in _open_files() if found == identity)


def _open_files() -> list[Identity]:
    """What this process has open, by device and inode."""
    found = []
    for entry in Path("/dev/fd").iterdir():
        try:
            status = os.fstat(int(entry.name))
        except OSError:
            continue  # the descriptor that listed the folder is closed by now
        found.append((status.st_dev, status.st_ino))
    return found


def _has_log(path: str) -> bool:
    log = Path(path + "-wal")
    return log.exists() and log.stat().st_size > 0


def _after_fork() -> None:
    """The locks stayed with the parent, and SQLite's own memory of them is wrong here."""
    _inherited.update(_gates)
    _gates.clear()


os.register_at_fork(after_in_child=_after_fork)
