"""What a query asks for, whichever SQL answers it: its filters, the tables it needs, and the pages of the answer."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import Any, Final

from detent.kernel import Event, Job, Note
from detent.lifecycle import Lifecycle
from detent.store.query import EventQuery, JobQuery, Page, Story, number_of
from detent.store.rows import Row, event_of, note_of

EVENTS_MAX: Final = 10_000  # in a page of stories
# What an index of the spec finds; the first that is asked for leads.
LINKS: Final = ("correlation_id", "parent_job_id", "workflow_id")
# A job and the number that the store has given it.
Numbered = tuple[int, Job]


def given(query: JobQuery | EventQuery) -> dict[str, Any]:
    return {name: value for name in query.__struct_fields__ if (value := getattr(query, name)) is not None}


def is_linked(query: JobQuery) -> bool:
    return any(getattr(query, name) is not None for name in LINKS)


def filters(query: JobQuery) -> list[list[str]]:
    """Whatever matches one of these was asked for. A correlation id is also that of the job whose own id it is."""
    names = [name for name in given(query) if name != "tenant"]
    if query.correlation_id is None:
        return [names]
    return [names, ["own_correlation_id" if name == "correlation_id" else name for name in names]]


def needs_lifecycles(query: JobQuery) -> bool:
    """Whether only the definitions can tell if the jobs that are meant have ended."""
    return query.state is not None and query.phase is None and query.owner is None


def is_live(query: JobQuery, known: Sequence[Lifecycle]) -> bool:
    """Whether only jobs that have not ended can answer: then the others need not be looked at."""
    if query.phase is not None:
        return query.phase != "ended"
    if query.owner is not None:
        return True
    phases = _phases(query, known)
    return bool(phases) and "ended" not in phases


def is_over(query: JobQuery, known: Sequence[Lifecycle]) -> bool:
    """Whether only jobs that have ended can answer."""
    if query.outcome is not None or query.ended_from is not None or query.ended_until is not None:
        return True
    return query.phase == "ended" or _phases(query, known) == {"ended"}


def _phases(query: JobQuery, known: Sequence[Lifecycle]) -> set[str]:
    """Those of the state that is asked for, in whichever lifecycle has it."""
    if query.state is None:
        return set()
    return {lifecycle.by_name[query.state].phase for lifecycle in known if query.state in lifecycle.by_name}


def page(jobs: list[Job], numbers: list[int], limit: int) -> Page[Job]:
    return Page(jobs, str(min(numbers)) if len(jobs) >= limit else None)


def span(cursor: str) -> tuple[int, int]:
    """Where a walk goes on, and where it ends: with what there was when it began, however much comes after."""
    after, _, last = cursor.partition(":")
    return number_of(after), number_of(last)


def bounded(jobs: list[Numbered]) -> list[Numbered]:
    """As many as have so many events together, and one at least."""
    events = list(accumulate(job.rev for _, job in jobs))
    return jobs[: max(bisect_right(events, EVENTS_MAX), 1)]


def onwards(told: list[Numbered], found: list[Numbered], limit: int, last: int) -> str | None:
    """The cursor after these, of all that were found."""
    return None if len(told) == len(found) < limit else f"{told[-1][0]}:{last}"


def stories_of(jobs: list[Numbered], logged: Iterable[Row], noted: Iterable[Row]) -> list[Story]:
    """Jobs with what was written of them; each row begins with the number of its job."""
    ids = {number: job.id for number, job in jobs}
    logs: dict[int, list[Event]] = defaultdict(list)
    for number, *row in logged:
        logs[number].append(event_of(tuple(row)))
    notes: dict[int, list[Note]] = defaultdict(list)
    for number, *row in noted:
        notes[number].append(note_of(tuple(row), ids[number]))
    return [Story(job, logs[number], notes[number]) for number, job in jobs]


def leading(query: EventQuery) -> tuple[str, frozenset[str]]:
    """The statement whose index leads to the fewest events, and the filters it has built in; else the log itself."""
    if query.job_id is not None:
        return "events_of_job", frozenset({"job_id"})
    if query.correlation_id is not None:
        return "events_by_correlation", frozenset({"correlation_id"})
    return "events", frozenset()


def event_filters(query: EventQuery, by_index: frozenset[str]) -> tuple[str, ...]:
    """What is asked for beside the tenant, and beside what an index has found already."""
    return tuple(name for name in given(query) if name != "tenant" and name not in by_index)
