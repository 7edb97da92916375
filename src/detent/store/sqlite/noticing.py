"""Hearing of a write to a file from the operating system, where it tells: on Linux, by inotify.

Python has no door to it but the C library's own. Nothing depends on it: whoever waits looks by itself, too.
"""

import os
import sys
from errno import ENOSYS
from typing import Final

_MODIFIED: Final = 0x2
_BYTES: Final = 65_536


class Notices:
    """`fd` can be read when the file was written to since it was last read."""

    def __init__(self, path: str) -> None:
        self.fd = _watching(path)

    def forget(self) -> None:
        """Those that have come so far."""
        try:
            while len(os.read(self.fd, _BYTES)) == _BYTES:
                continue
        except BlockingIOError:
            return  # somebody else was here first

    def close(self) -> None:
        os.close(self.fd)


def notices_of(path: str) -> Notices | None:
    """None where there are none to be had: on another system, or because too many are had already."""
    try:
        return Notices(path)
    except OSError:
        return None


def _watching(path: str) -> int:
    if not sys.platform.startswith("linux"):
        raise OSError(ENOSYS, "only Linux has inotify")
    import ctypes  # who does not wait for work does not need it

    library = ctypes.CDLL(None, use_errno=True)
    fd: int = library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
    if fd < 0:
        raise OSError(ctypes.get_errno(), "inotify_init1")
    if library.inotify_add_watch(fd, os.fsencode(path), _MODIFIED) < 0:
        os.close(fd)
        raise OSError(ctypes.get_errno(), "inotify_add_watch", path)
    return fd
