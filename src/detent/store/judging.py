"""Jobs that wait for a verdict: in which states they do, and how a rule spaces those that it lets through."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from detent.kernel import Job
from detent.kernel.clock import SECOND, micros
from detent.kernel.command import Schedule
from detent.lifecycle import Lifecycle
from detent.store.query import DAY_S, Page, number_of
from detent.store.request import Request

AHEAD_MAX_S: Final = 30 * DAY_S  # how far into the future a rate gives out moments


def unjudged_states(lifecycles: Iterable[Lifecycle]) -> list[tuple[Lifecycle, str]]:
    """Where jobs wait for `schedule`, in whichever lifecycle declares it."""
    return [
        (each, state.name)
        for each in lifecycles
        for state in each.states
        if state.phase == "parked" and "schedule" in each.table.routes[state.name]
    ]


def page_of(jobs: list[Job], numbers: Sequence[int], limit: int) -> Page[Job]:
    """The oldest first, so that the last one is where the next page begins: its moment, and its number."""
    return Page(jobs, f"{jobs[-1].created_at}:{numbers[-1]}" if len(jobs) >= limit else None)


def place_of(cursor: str | None) -> tuple[int, int]:
    moment, _, number = (cursor or "0:0").partition(":")
    return number_of(moment), number_of(number)


def spaced(
    requests: Sequence[Request], jobs: Sequence[Job | None], *, next_at: int, every: int, now: int
) -> tuple[list[Request], int]:
    """Each due so long after the one before, from the first moment that is free; and the next one that is.

    A request whose job has moved on since it was read uses up no moment. One for which there is none soon enough is
    left out: its job goes on waiting.
    """
    moment, last = max(next_at, now), now + micros(AHEAD_MAX_S)
    timed: list[Request] = []
    for request, job in zip(requests, jobs, strict=True):
        command = request.command
        assert isinstance(command, Schedule), "only verdicts are paced"
        if job is None or job.rev != command.expected_rev:
            timed.append(request)
        elif moment <= last:
            timed.append(replace(request, command=replace(command, delay_s=(moment - now) / SECOND)))
            moment += every
    return timed, moment
