"""What PostgreSQL and the network complain of, in Detent's words: what happened, to which store, what to do."""

from typing import Final

import psycopg

from detent.errors import StoreError

_LOST: Final = "the connection was lost; see whether the server runs and can be reached"
_POOLED: Final = "a pooler in between lends its connections for one transaction at a time; connect with prepare=off"
# The SQLSTATE, or how it begins → our code, and what to do about it. The longest that fits counts.
_MEANINGS: Final[dict[str, tuple[str, str]]] = {
    "08": ("store_unavailable", _LOST),
    "08P01": ("store_unavailable", _POOLED),
    "26000": ("store_unavailable", _POOLED),
    "42P05": ("store_unavailable", _POOLED),
    "57P": ("store_unavailable", "the server is going down or coming up; try again when it is there"),
    "57014": ("store_locked", "it took too long and was cancelled; see what blocks it, or allow more with busy_s"),
    "55P03": ("store_locked", "another transaction keeps it locked; end that, or wait longer with busy_s"),
    "40": ("store_locked", "the transaction lost against another and is rolled back; run it again"),
    "53": ("store_unavailable", "the server has run out of memory or connections; give it more, or open fewer"),
    "53100": ("store_full", "no space is left; free some, then read the job to see whether the call took effect"),
    "25006": (
        "store_read_only",
        "it cannot be written; connect to the primary, or to a database that is not read-only",
    ),
    "42501": (
        "store_read_only",
        "this role may not do that; use the role that may, see docs/how-to/run-on-postgres.md",
    ),
    "42P01": ("store_missing", "it lacks a table of Detent's; run `detent migrate` as its owner"),
    "3D000": ("store_missing", "there is no such database; create it, or give the right --url"),
    "3F000": ("store_missing", "there is no such schema; create it, or give the right --url"),
    "28": ("store_unavailable", "the server refused this user or password; mend the address or pg_hba.conf"),
    "23": ("guard_refused", "nothing was written; please report this"),
    "DT": ("guard_refused", "nothing was written; please report this"),
    "XX": ("store_corrupt", "it is damaged; keep a copy and restore a backup"),
    "58": ("store_io", "the operating system failed; read the job to see whether the call took effect"),
}
# Shutting down, crashed, starting up; idle for too long, in a transaction or not; no connection left.
_LOST_STATES: Final = frozenset({"57P01", "57P02", "57P03", "57P04", "57P05", "25P03", "53300"})
# Told by the server, of a transaction that did not happen: it can be asked for once more.
_AGAIN: Final = frozenset({"40001", "40P01", "23505", "DT001"})


def store_error(where: str, error: BaseException, state: str | None = None) -> StoreError:
    """`state`: the SQLSTATE, where the error itself does not have it."""
    state = state or getattr(error, "sqlstate", None)
    if state is None and is_lost(error):
        return StoreError(f"store {where}: {_LOST} ({said(error)})", code="store_unavailable")
    state = state or "?????"
    for length in (5, 3, 2):
        if state[:length] in _MEANINGS:
            code, remedy = _MEANINGS[state[:length]]
            return StoreError(f"store {where}: {remedy} ({said(error)})", code=code)
    return StoreError(f"store {where}: PostgreSQL failed ({state}: {said(error)})", code="store_io")


def is_lost(error: BaseException) -> bool:
    """Whether the connection is gone or could not be had, so that nobody can say whether the last of it was done."""
    state = getattr(error, "sqlstate", None)
    if state is None:
        return isinstance(error, OSError | psycopg.OperationalError | psycopg.InterfaceError)
    return state[:2] == "08" or state in _LOST_STATES


def is_locked(error: BaseException) -> bool:
    """Whether somebody's transaction kept a lock for too long."""
    return getattr(error, "sqlstate", None) == "55P03"


def is_again(error: BaseException) -> bool:
    """Whether somebody else was in the way, and it is worth trying once more."""
    return getattr(error, "sqlstate", None) in _AGAIN


def said(error: BaseException) -> str:
    return " ".join(str(error).split()) or type(error).__name__
