"""Jobs: making them, finding them, and looking at one with its story."""

from typing import Final

from detent.client import Job
from detent.client.arguments import check_text_name, listed
from detent.client.reads import JobFilters, page_size
from detent.store import Page
from detent.surfaces.http.ask import Ask
from detent.surfaces.http.budget import ANSWER_BYTES_MAX, FIRST, fitting, job_bytes, page_within
from detent.surfaces.http.operations.job_shapes import (
    ArtifactsShape,
    BranchShape,
    CountShape,
    CountsQuery,
    CountsShape,
    EventsShape,
    ExplanationShape,
    JobPage,
    JobsPageQuery,
    JobsQuery,
    JobsShape,
    LookupBody,
    LookupShape,
    NotesShape,
    TreeShape,
    WaitQuery,
)
from detent.surfaces.http.route import Route
from detent.wire.http.jobs import JobShape

LOOKUP_MAX: Final = 1_000


async def find_jobs(ask: Ask, query: JobsPageQuery) -> JobPage:
    """Jobs, newest first, a page at a time."""
    filters = _filters(query)

    async def read(limit: int, cursor: str | None) -> Page[Job]:
        return await ask.client.find(limit=limit, cursor=cursor, **filters)

    page = await page_within(read, page_size(query.limit), query.cursor, lambda job: job_bytes(job.record))
    return JobPage(jobs=[ask.shown(job.record) for job in page], cursor=page.cursor)


async def count_jobs(ask: Ask, query: CountsQuery) -> CountsShape:
    """How many jobs there are, by any of lifecycle, state, phase, outcome, queue and kind."""
    counts = await ask.client.count(by=query.by, **_filters(query))
    shapes = [CountShape(values=list(values), jobs=jobs) for values, jobs in counts.items()]
    return CountsShape(by=query.by, counts=shapes)


async def look_up(ask: Ask, body: LookupBody) -> LookupShape:
    """Jobs by their ids. A token of scope work alone sees those that its worker has, or had last."""
    ids = [check_text_name("job_ids", each) for each in listed("job_ids", body.job_ids, of="ids", most=LOOKUP_MAX)]
    shapes: list[JobShape | None] = []
    spent, asked = 0, FIRST
    while len(shapes) < len(ids) and spent < ANSWER_BYTES_MAX:
        found = await ask.client.store.get(ask.grant.tenant, ids[len(shapes) : len(shapes) + asked])
        shapes += [ask.shown(job) if job is not None and ask.may_see(job) else None for job in found]
        spent += sum(job_bytes(job) for job in found if job is not None)
        asked = fitting(spent, len(shapes))
    return LookupShape(jobs=shapes)


async def get_job(ask: Ask, job_id: str, query: WaitQuery) -> JobShape:
    """A job as it is now, or when it has ended. Its ETag is for If-Match: its revision, and which job it is.

    A token of scope work alone sees those that its worker has, or had last.
    """
    wait_s, job = ask.service.wait_s_of(query.wait_s), await ask.client.get(job_id)
    if wait_s > 0 and not job.is_ended:
        job = await ask.service.ended(ask, job_id, wait_s) or job
    if not ask.may_see(job.record):
        raise ask.client.not_found(job_id)  # in the same words as for one that is not there
    return ask.shown(job.record)


async def job_events(ask: Ask, job_id: str) -> EventsShape:
    """Every mutation of a job, in order."""
    return EventsShape(events=[ask.service.showing.event(event.record) for event in await ask.client.history(job_id)])


async def job_notes(ask: Ask, job_id: str) -> NotesShape:
    """What was said of a job without moving it: late results, amendments, compensation, progress, artifacts."""
    return NotesShape(notes=[ask.service.showing.note(note.record) for note in await ask.client.notes(job_id)])


async def job_artifacts(ask: Ask, job_id: str) -> ArtifactsShape:
    """What the handler of a job has made and registered. Pointers are for whoever has to do with them: nothing here
    follows one.
    """
    return ArtifactsShape(artifacts=await ask.client.artifacts(job_id))


async def job_tree(ask: Ask, job_id: str) -> TreeShape:
    """The whole tree that a job belongs to, from the first of its parents down."""
    tree = await ask.client.tree(job_id)
    return TreeShape(jobs=[BranchShape(depth=depth, job=ask.shown(job.record)) for depth, job in tree.walk()])


async def job_reruns(ask: Ask, job_id: str) -> JobsShape:
    """The jobs that run this one again, the newest first."""
    return JobsShape(jobs=[ask.shown(job.record) for job in await ask.client.reruns(job_id)])


async def explain_job(ask: Ask, job_id: str) -> ExplanationShape:
    """Why a job is where it is, and what would move it."""
    told = await ask.client.explain(job_id)
    return ExplanationShape(
        job=ask.shown(told.job.record), at=told.at, reasons=told.reasons, ways=told.ways, budget=told.budget,
        reruns=told.reruns,
    )  # fmt: skip


def _filters(query: JobsQuery) -> JobFilters:
    given = {name: getattr(query, name) for name in JobsQuery.__struct_fields__}
    return {name: value for name, value in given.items() if value is not None}  # type: ignore[return-value]


_READ: Final = ("read",)
ROUTES: Final = (
    Route(method="GET", path="/v1/jobs", handler=find_jobs, scopes=_READ, tag="jobs"),
    Route(method="GET", path="/v1/counts", handler=count_jobs, scopes=_READ, tag="jobs"),
    Route(
        method="POST", path="/v1/lookups", handler=look_up, scopes=("read", "work"), tag="jobs", is_reading=True
    ),
    Route(method="GET", path="/v1/jobs/{job_id}", handler=get_job, scopes=("read", "work"), tag="jobs"),
    Route(method="GET", path="/v1/jobs/{job_id}/events", handler=job_events, scopes=_READ, tag="jobs"),
    Route(method="GET", path="/v1/jobs/{job_id}/notes", handler=job_notes, scopes=_READ, tag="jobs"),
    Route(method="GET", path="/v1/jobs/{job_id}/artifacts", handler=job_artifacts, scopes=_READ, tag="jobs"),
    Route(method="GET", path="/v1/jobs/{job_id}/tree", handler=job_tree, scopes=_READ, tag="jobs"),
    Route(method="GET", path="/v1/jobs/{job_id}/reruns", handler=job_reruns, scopes=_READ, tag="jobs"),
    Route(method="GET", path="/v1/jobs/{job_id}/explanation", handler=explain_job, scopes=_READ, tag="jobs"),
)  # fmt: skip
