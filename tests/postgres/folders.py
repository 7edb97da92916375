"""Temporary folders that the user of the server can reach: root's own are often closed to everybody else."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.postgres.programs import User, succeeds

ON_DISK: Final = ("/tmp", "/var/tmp")
IN_MEMORY: Final = "/dev/shm"
FREE_BYTES_MIN: Final = 2 * 1024**3  # a container may have as little as 64 MB there; the log alone can be 1 GB


def new_folder(user: User | None, *, in_memory: bool = False) -> Path:
    """A folder that `user` owns and can reach; in memory if that was wanted and there is room for it."""
    tried = []
    for parent in _parents(in_memory):
        folder = _made_in(parent, user)
        if folder is not None:
            return folder
        tried.append(parent)
    raise RuntimeError(
        f"PostgreSQL has nowhere to keep its files: {user} reaches none of {', '.join(tried)}. "
        "Point TMPDIR at a folder that everybody may enter."
    )


def _parents(in_memory: bool) -> Iterator[str]:
    if in_memory and Path(IN_MEMORY).is_dir() and shutil.disk_usage(IN_MEMORY).free >= FREE_BYTES_MIN:
        yield IN_MEMORY
    yield tempfile.gettempdir()
    yield from ON_DISK


def _made_in(parent: str, user: User | None) -> Path | None:
    folder = Path(tempfile.mkdtemp(prefix="detent-pg-", dir=parent))
    if user is None:
        return folder
    os.chown(folder, user.uid, user.gid)
    if succeeds(["test", "-w", str(folder)], user):
        return folder
    folder.rmdir()
    return None
