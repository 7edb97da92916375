"""What SQLite and the operating system complain of, in Detent's words: what happened, to which file, what to do."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import apsw

from detent.errors import StoreError

# The kind of apsw's error → our code, and what to do about it.
_MEANINGS: Final[tuple[tuple[type[Exception], str, str], ...]] = (
    (
        apsw.BusyError,
        "store_locked",
        "another program keeps it locked; end its transaction, or wait longer with busy_s",
    ),
    (apsw.LockedError, "store_locked", "another connection keeps it locked; end its transaction"),
    (apsw.ReadOnlyError, "store_read_only", "it cannot be written; mend the permissions of the file and its folder"),
    (apsw.PermissionsError, "store_read_only", "access was denied; mend the permissions of the file and its folder"),
    (
        apsw.FullError,
        "store_full",
        "no space is left; free some, then read the job to see whether the call took effect",
    ),
    (apsw.CorruptError, "store_corrupt", "it is damaged; keep a copy and restore a backup"),
    (apsw.NotADBError, "store_corrupt", "it is no SQLite database; give another path, or restore a backup"),
    (apsw.CantOpenError, "store_unavailable", "it cannot be opened; look at the path and its permissions"),
    (apsw.IOError, "store_io", "the operating system failed; read the job to see whether the call took effect"),
    (apsw.ConstraintError, "guard_refused", "nothing was written; please report this"),
    (OSError, "store_unavailable", "it cannot be opened or created; look at the path and its permissions"),
)
_DENIED: Final = ("store_read_only", "access was denied; mend the permissions of the file and its folder")
_NO_SPACE: Final = ("store_full", "no space is left; free some")
_BY_NUMBER: Final = {
    **dict.fromkeys((errno.EACCES, errno.EPERM, errno.EROFS), _DENIED),
    **dict.fromkeys((errno.ENOSPC, errno.EDQUOT), _NO_SPACE),
}


@contextmanager
def translated(path: str) -> Iterator[None]:
    try:
        yield
    except (apsw.Error, OSError) as error:
        raise store_error(path, error) from error


def store_error(path: str, error: Exception) -> StoreError:
    if isinstance(error, OSError) and error.errno in _BY_NUMBER:
        code, remedy = _BY_NUMBER[error.errno]
        return StoreError(f"store {path}: {remedy} ({error})", code=code)
    for kind, code, remedy in _MEANINGS:
        if isinstance(error, kind):
            return StoreError(f"store {path}: {remedy} ({error})", code=code)
    return StoreError(f"store {path}: SQLite failed ({type(error).__name__}: {error})", code="store_io")
