"""What a call came to, so that two stores can be compared by it: without what each of them makes up for itself."""

import re
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict, replace

from detent.client.explaining import Explanation
from detent.client.views import View
from detent.errors import DetentError

Verdict = tuple[str, object]
MADE_UP: Final = re.compile(r"dt_[0-9a-f]{16}_[A-Za-z0-9_-]{43}|[0-9a-f]{32}|\b[0-9a-f]{16}\b")  # an id, a token
# What a store takes as a transaction is its own to say.
OWN_WORDS: Final = frozenset({"bad_transaction"})
# Answers that are cursors: how these look is each store's own affair.
CURSORS: Final = frozenset({"end"})


def answered(verb: str, answer: Any) -> Verdict:
    return "answered", type(answer).__name__ if verb in CURSORS else plain(answer)


def refused(error: DetentError) -> Verdict:
    """By its type, its code and its words."""
    said = {name: plain(value) for name, value in vars(error).items()}
    words = "…" if error.code in OWN_WORDS else MADE_UP.sub("…", str(error))
    return type(error).__name__, (error.code, words, said)


def plain(value: Any) -> Any:
    if isinstance(value, DetentError):
        return refused(value)  # in its place in a batch
    if isinstance(value, Explanation):
        value = replace(value, at=value.job.created_at)  # it names the moment at which it was asked for
    if isinstance(value, View):
        return type(value).__name__, _fields(asdict(value.record)), getattr(value, "answer", None)
    if isinstance(value, Struct):
        return type(value).__name__, _fields(asdict(value))
    if isinstance(value, dict):
        return {plain(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return tuple(plain(each) for each in value)
    return MADE_UP.sub("…", value) if isinstance(value, str) else value


def _fields(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value is None if name == "cursor" else plain(value) for name, value in fields.items()}
