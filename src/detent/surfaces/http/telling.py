"""What the service writes into its own log: a line for each request, and one for each fault of its own.

Nothing that somebody sent is in there but the method and the path, cut short and escaped, so that no line can be
forged. Neither headers nor queries nor bodies are, and so no token and no payload. A fault is told by its type and by
the places it came through: its message may quote what was sent.
"""

import logging
from traceback import extract_tb
from typing import Any, Final

from starlette.types import Scope

from detent.errors import DetentError, StoreError
from detent.telemetry.traceparent import trace_id_of, whole_of
from detent.wire.http.jobs import JobShape

ACCESS: Final = logging.getLogger("detent.http.access")
FAULTS: Final = logging.getLogger("detent.http")
ABOUT: Final = "detent.about"  # in the scope of a request: what its line in the log says beside
METHOD_CHARS_MAX: Final = 16
PATH_CHARS_MAX: Final = 400
_PLACES_MAX: Final = 12


def tell_request(scope: Scope, status: int, seconds: float) -> None:
    if ACCESS.isEnabledFor(logging.INFO):
        about = {name: value for name, value in scope[ABOUT].items() if value is not None}
        ACCESS.info("%s -> %d, %.1f ms", asked(scope), status, seconds * 1_000, extra=about)


def about_trace(scope: Scope) -> dict[str, Any]:
    """Of which trace a request is, if it says so; what it is about otherwise is learnt when it is answered."""
    given = next((value for name, value in scope["headers"] if name == b"traceparent"), b"")
    return {"job_trace_id": trace_id_of(whole_of(given.decode("latin-1")))}


def about_job(job: JobShape) -> dict[str, Any]:
    """As the lines of a worker name it."""
    return {
        "job_id": job.id, "job_kind": job.kind, "job_queue": job.queue, "job_attempt": job.attempt,
        "job_worker": job.owner, "job_correlation_id": job.correlation_id,
        **({} if job.trace_id is None else {"job_trace_id": job.trace_id}),
    }  # fmt: skip


def tell_fault(scope: Scope, error: BaseException, ref: str) -> None:
    FAULTS.error("a request failed (%s): %s: %s at %s", ref, asked(scope), type(error).__name__, place_of(error))


def place_of(error: BaseException) -> str:
    """The last places that it came through."""
    places = extract_tb(error.__traceback__)[-_PLACES_MAX:]
    return " > ".join(f"{place.filename}:{place.lineno} {place.name}" for place in places)


def tell_trouble_of(scope: Scope, error: StoreError) -> None:
    """The store could not do what was asked. What it says may name its place, which is for nobody else."""
    FAULTS.warning("a request could not be carried out: %s: %s: %s", asked(scope), error.code, error)


def tell_trouble(error: DetentError) -> None:
    """The tail of the log fails. It is tried again; readers hear of it only if that lasts."""
    FAULTS.warning("live events cannot be read: %s", error.code)


def asked(scope: Scope) -> str:
    return f"{escaped(scope['method'], METHOD_CHARS_MAX)} {escaped(scope['path'], PATH_CHARS_MAX)}"


def escaped(text: str, most: int) -> str:
    """In ASCII, without line breaks, blanks or anything that a terminal obeys."""
    shown = "".join(char if "!" <= char <= "~" else f"\\x{ord(char):02x}" for char in text[:most])
    return shown if len(text) <= most else f"{shown}…"
