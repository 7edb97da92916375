"""Dead letters: jobs that were set aside, found by why and where, whatever lifecycle they followed."""

from datetime import datetime
from typing import Final, TypedDict, Unpack

from msgspec import Struct

from detent.client.arguments import check_text_name, derived_name
from detent.client.moments import to_moment_or_none
from detent.client.reads import Reads, check_cursor, page_size
from detent.client.views import Job
from detent.errors import InvalidArgument, NotFound, shown
from detent.kernel import Error
from detent.kernel.dead_letter import dead_letter_of, dead_letter_states
from detent.kernel.failure import REASON_CODES, STAGES
from detent.lifecycle.bounds import is_short
from detent.store import Page

_CHOICES: Final = {"reason_code": REASON_CODES, "stage": STAGES}


class DeadLetter(Struct, frozen=True):
    """A job that was set aside, and what to judge it by."""

    job: Job
    reason_code: str
    stage: str
    last_error: Error
    attempts: int
    last_owner: str | None
    last_lease_expires_at: datetime | None
    correlation_id: str


class LetterFilters(TypedDict, total=False):
    """Which dead letters; what is not given does not matter."""

    reason_code: str
    stage: str
    error_type: str
    queue: str
    kind: str
    lifecycle: str
    correlation_id: str
    workflow_id: str
    ended_from: datetime
    ended_until: datetime


class DeadLetters(Reads):
    async def dead_letters(
        self, *, limit: int = 100, cursor: str | None = None, **filters: Unpack[LetterFilters]
    ) -> Page[DeadLetter]:
        """Jobs that were set aside: a page of them, and the cursor for the next.

        The newest first; those of lifecycles that call the state differently, one state after the other. A page may be
        shorter than its limit though more follow; only a cursor of None is the end.
        """
        _check(filters)
        own = {name: value for name, value in filters.items() if name in ("reason_code", "stage", "error_type")}
        others = {name: value for name, value in filters.items() if name not in own}
        states = await self._dead_letter_states()
        if not states:
            return Page([])
        place, after = _place(check_cursor(cursor), states)
        page = await self.find(limit=page_size(limit), cursor=after, state=states[place], outcome="failure", **others)  # type: ignore[arg-type]
        found = [letter for job in page if (letter := await self._letter(job)) and _is_meant(letter, own)]
        if page.cursor is not None:
            return Page(found, f"{page.cursor}.{states[place]}")
        return Page(found, f".{states[place + 1]}" if place + 1 < len(states) else None)

    async def dead_letter_for(self, job_id: str) -> DeadLetter:
        """One job's dead letter; `NotFound` if it is not one."""
        job = await self.get(job_id)
        letter = await self._letter(job)
        if letter is None:
            raise NotFound(f"job {job_id} is '{job.state}', and no dead letter; see: detent job explain {job_id}")
        return letter

    async def _dead_letter_states(self) -> list[str]:
        """The states that a verb dead_letter leads to, in any lifecycle that the store knows."""
        return dead_letter_states(await self.store.register())

    async def _letter(self, job: Job) -> DeadLetter | None:
        found = dead_letter_of(await self.lifecycle(job.lifecycle, job.lifecycle_version), job.record)
        if found is None:
            return None
        until = to_moment_or_none(found.last_lease_expires_at)
        return DeadLetter(
            job, found.reason_code, found.stage, found.last_error, found.attempts, found.last_owner, until,
            found.correlation_id,
        )  # fmt: skip


def redrive_id(job_id: str) -> str:
    """The request id of running a job again once: whoever does so at the same moment gets the same new job."""
    name = f"redrive:{job_id}"
    return name if is_short(name) else derived_name("redrive", job_id)


def _check(filters: LetterFilters) -> None:
    for name, choices in _CHOICES.items():
        given = filters.get(name)
        if given is not None and given not in choices:
            raise InvalidArgument(f"{name} is {shown(given)}; use one of {', '.join(choices)}")
    if filters.get("error_type") is not None:
        check_text_name("error_type", filters["error_type"])


def _is_meant(letter: DeadLetter, filters: dict[str, object]) -> bool:
    shows = {"reason_code": letter.reason_code, "stage": letter.stage, "error_type": letter.last_error.type}
    return all(value is None or shows[name] == value for name, value in filters.items())


def _place(cursor: str | None, states: list[str]) -> tuple[int, str | None]:
    """Which of the states, and where in its listing. By name: a lifecycle may be registered between two pages."""
    if cursor is None:
        return 0, None
    after, _, state = cursor.partition(".")
    if state not in states:
        raise InvalidArgument(f"cursor is {shown(cursor)}; give one that a listing returned", code="bad_cursor")
    return states.index(state), after or None
