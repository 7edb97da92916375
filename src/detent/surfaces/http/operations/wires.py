"""Jobs in the words of two of the built-in lifecycles: the requests and results of `dispatch`, the telemetry of
`engine`.
"""

from typing import Any, Final

from msgspec import Struct, structs, to_builtins

from detent.errors import DetentError, InvalidArgument
from detent.kernel import Event, Job, Note
from detent.kernel.command import Cancel, Command
from detent.store import Request
from detent.surfaces.http.ask import Ask
from detent.surfaces.http.grants import VERB_SCOPES
from detent.surfaces.http.operations.verbs import carried_out
from detent.surfaces.http.route import Route
from detent.wire.dispatch import JobRequest, JobResult, enqueue_of, result_of
from detent.wire.http.jobs import JobShape
from detent.wire.reporting import command_for
from detent.wire.telemetry import telemetry_of

_DISPATCH: Final = "dispatch"
_ENGINE: Final = "engine"
_NOT_SAID: Final = ("tenant", "payload")  # which a JobRequest does not have: the token says whose it is


class ResultQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`worker`: who holds the lease, where that is not who sends the result. `attempt`: the fence; that of the last
    claim, if it is left out.
    """

    worker: str | None = None
    attempt: int | None = None


class TelemetryQuery(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`legacy`: what used to have another name is told under both."""

    legacy: bool = False


class TelemetryItem(Struct, frozen=True, kw_only=True):
    """`name`: JOB_QUEUED, JOB_DISPATCHED, JOB_RUNNING, JOB_PROGRESS, JOB_COMPLETED or JOB_FAILED. `data` is what that
    event has: always `jobId`, and the moments in milliseconds since 1970.
    """

    name: str
    data: dict[str, Any]


class TelemetryShape(Struct, frozen=True, kw_only=True):
    """In the order in which it happened."""

    telemetry: list[TelemetryItem]


async def request_job(ask: Ask, body: JobRequest) -> JobShape:
    """Make a job of `dispatch` from a JobRequest. It waits for the policy's verdict before anything runs it."""
    given = structs.asdict(enqueue_of(body))
    said = {name: value for name, value in given.items() if value is not None and name not in _NOT_SAID}
    return await carried_out(ask, "enqueue", said | {"lifecycle": _DISPATCH})


async def report_result(ask: Ask, body: JobResult, query: ResultQuery) -> JobShape:
    """What a JobResult says of a job of `dispatch`: its status is the move that is asked for.

    One for a job that has ended is refused, kept as a note, and changes nothing.
    """
    job = (await ask.client.get(body.job_id)).record
    _check_lifecycle(job, _DISPATCH)
    ask.compare(job)
    command = _command(ask, body, query, job)
    (answer,) = await ask.client.store.apply([Request(ask.grant.tenant, body.job_id, _granted(ask, command))])
    if isinstance(answer, DetentError):
        raise answer
    return ask.shape_of(answer.job, answer.answer, command.verb)


def _command(ask: Ask, body: JobResult, query: ResultQuery, job: Job) -> Command:
    """Who names no worker is the token's own. One that was asked to stop says so as the owner that it is."""
    result = body if body.worker_id is not None else structs.replace(body, worker_id=ask.grant.worker)
    fence: dict[str, Any] = {
        "attempt": job.attempt if query.attempt is None else query.attempt, "expected_rev": ask.expected_rev,
        "request_id": ask.request_id,
    }  # fmt: skip
    worker = query.worker or result.worker_id
    if body.status == "CANCELLED" and job.cancel_by is not None and worker is not None and worker == job.owner:
        return Cancel(**fence, worker=worker, role="owner", reason=body.error_message)
    return command_for(result, worker=query.worker, **fence)


async def job_result(ask: Ask, job_id: str) -> JobResult:
    """How a job of `dispatch` stands, as a JobResult."""
    job = (await ask.client.get(job_id)).record
    _check_lifecycle(job, _DISPATCH)
    story = (await ask.client.store.stories(ask.grant.tenant, 1, job_id=job_id)).items[0]
    return result_of(story.job, story.events[-1])


async def job_telemetry(ask: Ask, job_id: str, query: TelemetryQuery) -> TelemetryShape:
    """What `engine` tells the world of a job: queued, dispatched, running, progress, and how it ended."""
    job = (await ask.client.get(job_id)).record
    _check_lifecycle(job, _ENGINE)
    lifecycle = await ask.client.lifecycle(job.spec.lifecycle, job.spec.lifecycle_version)
    story = (await ask.client.store.stories(ask.grant.tenant, 1, job_id=job_id)).items[0]
    said: list[Event | Note] = [*story.events, *story.notes]
    said.sort(key=lambda each: (each.at, each.rev))
    told = [item for each in said for item in telemetry_of(lifecycle, each, story.job, legacy=query.legacy)]
    words = ask.service.showing.words
    items = [TelemetryItem(name=each.name, data=words(to_builtins(each.data))) for each in told]
    return TelemetryShape(telemetry=items)


def _granted(ask: Ask, command: Command) -> Command:
    """With what the grant makes of who asks. The role follows from the status, and has to be one that is granted."""
    asked: dict[str, Any] = {"worker": command.worker, "role": command.role, "actor": command.actor}
    let_through = ask.grant.asked(command.verb, {name: value for name, value in asked.items() if value is not None})
    return structs.replace(command, **{name: let_through.get(name) for name in ("worker", "role", "actor", "granted")})


def _check_lifecycle(job: Job, wanted: str) -> None:
    if job.spec.lifecycle != wanted:
        message = f"job {job.id} follows '{job.spec.lifecycle}', and this is for jobs of '{wanted}'"
        raise InvalidArgument(f"{message}; see it under /v1/jobs", code="wrong_lifecycle")


_RESULT_SCOPES: Final = tuple(dict.fromkeys((*VERB_SCOPES["complete"], *VERB_SCOPES["cancel"], *VERB_SCOPES["deny"])))
_READ: Final = ("read",)
ROUTES: Final = (
    Route(
        method="POST", path="/v1/job-requests", handler=request_job, scopes=VERB_SCOPES["enqueue"], tag="dispatch",
        idempotent=True,
    ),
    Route(
        method="POST", path="/v1/job-results", handler=report_result, scopes=_RESULT_SCOPES, tag="dispatch",
        preconditions=True, idempotent=True,
    ),
    Route(method="GET", path="/v1/jobs/{job_id}/result", handler=job_result, scopes=_READ, tag="dispatch"),
    Route(method="GET", path="/v1/jobs/{job_id}/telemetry", handler=job_telemetry, scopes=_READ, tag="engine"),
)  # fmt: skip
