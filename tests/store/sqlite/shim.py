"""A file system that fails when it is told to: everything SQLite writes in this process goes through it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import apsw

Fault = Callable[[str, str], Exception | None]  # the operation and the name of the file → what goes wrong


class Shim(apsw.VFS):
    """The system's own, with a fault in the way. Takes the place of the default, so that the store needs no hook."""

    def __init__(self) -> None:
        self.fault: Fault = lambda operation, name: None
        self.beneath = apsw.vfs_names()[0]
        super().__init__("detent-shim", self.beneath, makedefault=True)

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> "ShimFile":  # noqa: N802 - SQLite's name
        return ShimFile(self, name, flags)


class ShimFile(apsw.VFSFile):
    def __init__(self, shim: Shim, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self._shim = shim
        self._name = name.filename() if isinstance(name, apsw.URIFilename) else name or ""
        super().__init__(shim.beneath, name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802
        self._fail("write")
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:  # noqa: N802
        self._fail("sync")
        super().xSync(flags)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802
        self._fail("truncate")
        super().xTruncate(newsize)

    def _fail(self, operation: str) -> None:
        fault = self._shim.fault(operation, self._name)
        if fault is not None:
            raise fault


@contextmanager
def shimmed() -> Iterator[Shim]:
    shim = Shim()
    try:
        yield shim
    finally:
        shim.unregister()


def full(operation: str, name: str) -> Exception | None:
    """No space: what there is can be read and synced, but nothing can be added."""
    return apsw.FullError("no space left") if operation == "write" else None


def unsynced(operation: str, name: str) -> Exception | None:
    return apsw.IOError("fsync failed") if operation == "sync" else None


def unwritable(operation: str, name: str) -> Exception | None:
    return apsw.IOError("write failed") if operation == "write" else None
