"""What the service writes into its own log: a line for each request, and one for each fault of its own.

Nothing that somebody sent is in there but the method and the path, cut short and escaped, so that no line can be
forged. Neither headers nor queries nor bodies are, and so no token and no payload. A fault is told by its type and by
the places it came through: its message may quote what was sent.
"""

import logging
from traceback import extract_tb
from typing import Final

from starlette.types import Scope

from detent.errors import DetentError

ACCESS: Final = logging.getLogger("detent.http.access")
FAULTS: Final = logging.getLogger("detent.http")
METHOD_CHARS_MAX: Final = 16
PATH_CHARS_MAX: Final = 400
_PLACES_MAX: Final = 12


def tell_request(scope: Scope, status: int, seconds: float) -> None:
    if ACCESS.isEnabledFor(logging.INFO):
        ACCESS.info("%s -> %d, %.1f ms", asked(scope), status, seconds * 1_000)


def tell_fault(scope: Scope, error: BaseException, ref: str) -> None:
    places = extract_tb(error.__traceback__)[-_PLACES_MAX:]
    told = " > ".join(f"{place.filename}:{place.lineno} {place.name}" for place in places)
    FAULTS.error("a request failed (%s): %s: %s at %s", ref, asked(scope), type(error).__name__, told)


def tell_trouble(error: DetentError) -> None:
    """The tail of the log fails. It is tried again; readers hear of it only if that lasts."""
    FAULTS.warning("live events cannot be read: %s", error.code)


def asked(scope: Scope) -> str:
    return f"{escaped(scope['method'], METHOD_CHARS_MAX)} {escaped(scope['path'], PATH_CHARS_MAX)}"


def escaped(text: str, most: int) -> str:
    """In ASCII, without line breaks, blanks or anything that a terminal obeys."""
    shown = "".join(char if "!" <= char <= "~" else f"\\x{ord(char):02x}" for char in text[:most])
    return shown if len(text) <= most else f"{shown}…"
