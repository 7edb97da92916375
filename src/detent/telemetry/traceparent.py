"""What a job's trace id may hold: any name, a trace id, or a whole W3C traceparent, which says which span made it."""

import re
from hashlib import sha256
from typing import Final

_WHOLE: Final = re.compile("00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})")
_TRACE: Final = re.compile("[0-9a-f]{32}")
WHOLE_CHARS: Final = 55
SPAN_CHARS: Final = 16
_NO_TRACE: Final = "0" * 32
_NO_SPAN: Final = "0" * SPAN_CHARS


def trace_id_of(kept: str | None) -> str | None:
    """The id that people search by; whatever is no traceparent is shown as it is."""
    if kept is None or len(kept) != WHOLE_CHARS or parts_of(kept) is None:
        return kept
    return kept[3:35]


def whole_of(kept: str | None) -> str | None:
    """The traceparent, if that is what is kept."""
    return None if parts_of(kept) is None else kept


def parts_of(traceparent: str | None) -> tuple[str, str, str] | None:
    """Trace id, span id and flags; None if it is no traceparent."""
    found = None if traceparent is None else _WHOLE.fullmatch(traceparent)
    if found is None or found[1] == _NO_TRACE or found[2] == _NO_SPAN:
        return None
    return found[1], found[2], found[3]


def traceparent_of(kept: str | None, job_id: str) -> str | None:
    """What calls on behalf of a job carry. To a bare trace id comes a span id that follows from the job's own."""
    if parts_of(kept) is not None:
        return kept
    if kept is None or kept == _NO_TRACE or not _TRACE.fullmatch(kept):
        return None
    return f"00-{kept}-{sha256(job_id.encode()).hexdigest()[:SPAN_CHARS]}-01"
