"""Why a connection was refused. libpq passes on what the server said, but not its SQLSTATE: it is told from the text.

A server that speaks another language is not understood. Then it is asked again for a while, and in the end its own
words are passed on, as they always are.
"""

import re
from typing import Final

from detent.errors import StoreError
from detent.store.postgres.failing import said, store_error

_NOT_READY: Final = ("57P03", "53300")
_STATES: Final = (
    (re.compile(r'database ".*" does not exist'), "3D000"),
    (re.compile(r'role ".*" does not exist|authentication failed|no password|pg_hba\.conf'), "28000"),
    (re.compile(r"unsupported startup parameter"), "08P01"),
    (re.compile(r"starting up|shutting down|recovery|not (yet )?accepting connections"), "57P03"),
    (re.compile(r"too many (clients|connections)|connection slots are reserved|no more connections"), "53300"),
)
_NOBODY: Final = re.compile(r"refused|resolve host|No such file|SSL|timeout")
_SETTING: Final = re.compile(r"configuration parameter|invalid value for parameter")


def may_come(error: BaseException) -> bool:
    """Whether the server may only not be ready: it starts, or has no connection to spare."""
    state, text = _state(error), said(error)
    if state is not None:
        return state in _NOT_READY
    return not _NOBODY.search(text) and not _SETTING.search(text)


def refused(where: str, error: BaseException) -> StoreError:
    state, text = _state(error), said(error)
    if state is not None:
        return store_error(where, error, state)
    if _SETTING.search(text):
        remedy = "the server knows no such setting; mend `options` in the address"
    elif _NOBODY.search(text):
        remedy = "no server answers there; see whether it runs, can be reached, and the address is right"
    else:
        remedy = "the server gives no connection; see what it says, and mend the address or its settings"
    return StoreError(f"store {where}: {remedy} ({text})", code="store_unavailable")


def _state(error: BaseException) -> str | None:
    text = said(error)
    return getattr(error, "sqlstate", None) or next((state for form, state in _STATES if form.search(text)), None)
