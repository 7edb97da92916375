"""Dead letters: jobs that were set aside; found, run again, removed."""

from datetime import datetime
from typing import Any, Final

from msgspec import Struct, structs

from detent.client.arguments import bounded_ids
from detent.client.dead_letters import DeadLetter, redrive_id
from detent.errors import DetentError
from detent.kernel import Error
from detent.surfaces.http.ask import Ask
from detent.surfaces.http.operations.verbs import BatchAnswer, BatchShape, answer_of
from detent.surfaces.http.route import Route
from detent.wire.http.jobs import JobShape


class LettersQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which dead letters; what is not given does not matter."""

    reason_code: str | None = None
    stage: str | None = None
    error_type: str | None = None
    queue: str | None = None
    kind: str | None = None
    lifecycle: str | None = None
    correlation_id: str | None = None
    workflow_id: str | None = None
    ended_from: datetime | None = None
    ended_until: datetime | None = None
    limit: int = 100
    cursor: str | None = None


class LetterShape(Struct, frozen=True, kw_only=True):
    """A job that was set aside, and what to judge it by."""

    job: JobShape
    reason_code: str
    stage: str
    last_error: Error
    attempts: int
    last_owner: str | None
    last_lease_expires_at: datetime | None
    correlation_id: str


class LetterPage(Struct, frozen=True, kw_only=True):
    """A page may be shorter than its limit though more follow; only a cursor of null is the end."""

    dead_letters: list[LetterShape]
    cursor: str | None


class LettersBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which, by the ids of their jobs: up to 1,000. `is_dry_run`: nothing is done, only said."""

    job_ids: list[str]
    is_dry_run: bool = False


class RemovedShape(Struct, frozen=True, kw_only=True):
    jobs: int
    events: int = 0


async def dead_letters(ask: Ask, query: LettersQuery) -> LetterPage:
    """Jobs that were set aside, a page at a time."""
    given = {name: value for name, value in structs.asdict(query).items() if value is not None}
    page = await ask.client.dead_letters(**given)
    return LetterPage(dead_letters=[_shape(ask, each) for each in page], cursor=page.cursor)


async def dead_letter(ask: Ask, job_id: str) -> LetterShape:
    """One job's dead letter; `not_found` if it is not one."""
    return _shape(ask, await ask.client.dead_letter_for(job_id))


async def redrive(ask: Ask, body: LettersBody) -> BatchShape:
    """Run dead letters again, each as a new job that names the old one; the answers are the new jobs.

    In a dry run they are the old ones, and why one could not be. What was run again is not run again twice.
    """
    answers: list[BatchAnswer] = []
    for job_id in bounded_ids(body.job_ids):
        try:
            answers.append(answer_of(ask, await _redriven(ask, job_id, is_dry_run=body.is_dry_run)))
        except DetentError as error:
            answers.append(answer_of(ask, error))
    return BatchShape(answers=answers)


async def _redriven(ask: Ask, job_id: str, *, is_dry_run: bool) -> Any:
    letter = await ask.client.dead_letter_for(job_id)
    if is_dry_run:
        return letter.job
    given = ask.grant.asked("rerun", {"request_id": redrive_id(job_id), "reason": "redriven"})
    (answer,) = await ask.client.apply([given | {"verb": "rerun", "job_id": job_id}])
    return answer


async def purge_letters(ask: Ask, body: LettersBody) -> RemovedShape:
    """Remove dead letters for good, with all that is kept of them. Other jobs stay as they are."""
    found = []
    for job_id in bounded_ids(body.job_ids):
        try:
            found.append((await ask.client.dead_letter_for(job_id)).job.id)
        except DetentError as error:
            if error.code != "not_found":
                raise
    if body.is_dry_run or not found:
        return RemovedShape(jobs=len(found))
    removed = await ask.client.purge(found)
    return RemovedShape(jobs=removed.jobs, events=removed.events)


def _shape(ask: Ask, letter: DeadLetter) -> LetterShape:
    given = {name: getattr(letter, name) for name in LetterShape.__struct_fields__ if name != "job"}
    return LetterShape(job=ask.shown(letter.job.record), **given)


_OPERATE: Final = ("operate",)
ROUTES: Final = (
    Route(method="GET", path="/v1/dead-letters", handler=dead_letters, scopes=("read",), tag="dead letters"),
    Route(
        method="GET", path="/v1/dead-letters/{job_id}", handler=dead_letter, scopes=("read",), tag="dead letters",
        named="get_dead_letter",
    ),
    Route(method="POST", path="/v1/dead-letters/redrive", handler=redrive, scopes=_OPERATE, tag="dead letters"),
    Route(
        method="POST", path="/v1/dead-letters/purge", handler=purge_letters, scopes=("admin",), tag="dead letters"
    ),
)  # fmt: skip
