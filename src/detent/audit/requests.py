"""Request ids in one job's log: each has one effect (I12). An effect is one change, which may hold two moves."""

from typing import Final

from msgspec import Struct

from detent.kernel.event import Event

DAY_US: Final = 86_400_000_000
# Verbs whose request ids are kept by verb; those of every other verb are kept by job.
BY_VERB: Final = frozenset({"enqueue", "claim"})
# A move that may come along with another in one change. An implied start comes with whatever ended the attempt.
_BRINGS: Final = {"enqueue": "submit", "claim": "start", "schedule": "deny"}


class Doubled(Struct, frozen=True):
    """A request id that took effect again, at `rev`, after it had at `first_rev`."""

    tenant: str
    job_id: str
    scope: str
    request_id: str
    first_rev: int
    rev: int

    def __str__(self) -> str:
        return f"request {self.request_id!r} took effect at revision {self.first_rev} and again at {self.rev}"


class Requests:
    """The request ids of one job so far. After `kept_us` an id is forgotten and may be used again."""

    def __init__(self, kept_us: int) -> None:
        self._kept_us = kept_us
        self._first: dict[tuple[str, str], Event] = {}
        self._last: Event | None = None

    def event(self, event: Event) -> Doubled | None:
        last, self._last = self._last, event
        if event.request_id is None or (last is not None and _is_same_change(last, event)):
            return None
        scope = scope_of(event.verb)
        first = self._first.setdefault((scope, event.request_id), event)
        if first is event:
            return None
        if event.at - first.at >= self._kept_us:
            self._first[scope, event.request_id] = event
            return None
        return Doubled(event.tenant, event.job_id, scope, event.request_id, first.rev, event.rev)


def scope_of(verb: str) -> str:
    """What a request id is unique within, beside the tenant: the verb, or the job."""
    return verb if verb in BY_VERB else "job"


def _is_same_change(last: Event, event: Event) -> bool:
    if last.request_id != event.request_id or last.at != event.at or last.rev + 1 != event.rev:
        return False
    if last.verb == "start":
        return event.verb != "start"
    return _BRINGS.get(last.verb) == event.verb
