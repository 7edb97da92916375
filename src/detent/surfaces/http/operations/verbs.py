"""The verbs: making a job, moving one, many at once, and taking work."""

from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

from msgspec import Struct, structs

from detent.client import Job
from detent.client.arguments import check_text_name, listed
from detent.errors import DetentError
from detent.kernel.command import COMMANDS
from detent.store import ClaimRequest, Reply
from detent.surfaces.http.ask import Ask
from detent.surfaces.http.bodies import BODIES, arguments_of, opened
from detent.surfaces.http.grants import VERB_SCOPES
from detent.surfaces.http.route import Route
from detent.wire.http.jobs import JobShape
from detent.wire.http.problems import Problem, problem_of

BATCH_MAX: Final = 10_000
SPARED_MAX: Final = 1_000


class BatchBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Verbs of any kind, each with its `verb`, its `job_id` and its arguments, as the route of that verb takes them."""

    requests: list[dict[str, Any]]


class BatchAnswer(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The job as it is now, or why not."""

    job: JobShape | None = None
    problem: Problem | None = None


class BatchShape(Struct, frozen=True, kw_only=True):
    """An answer to each of the requests, in their order. All that was accepted was written in one transaction."""

    answers: list[BatchAnswer]


class ClaimBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is wanted. `wait_s`: how long to wait for it if there is nothing yet. `start`: it also begins, in the same
    move. `worker` is the token's own if none is named. `spared`: lanes of queue, kind and adapter to leave to others.
    """

    queues: tuple[str, ...] = ("default",)
    kinds: list[str] | None = None
    adapters: list[str] | None = None
    limit: int = 1
    lease_s: float | None = None
    allow_unusual_lease: bool = False
    start: bool = False
    wait_s: float = 0.0
    worker: str | None = None
    request_id: str | None = None
    actor: str | None = None
    role: str | None = None
    reason: str | None = None
    trace_id: str | None = None
    spared: list[tuple[str, str, str]] = []


class LookBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a claim would ask for."""

    queues: tuple[str, ...] = ("default",)
    kinds: list[str] | None = None
    adapters: list[str] | None = None
    limit: int = 1
    spared: list[tuple[str, str, str]] = []


class LookShape(Struct, frozen=True, kw_only=True):
    """The jobs that such a claim would take now, the first in order first."""

    jobs: list[JobShape]


class ClaimShape(Struct, frozen=True, kw_only=True):
    """The jobs that are now the worker's, each until its `lease_expires_at`; none, if there was nothing to take."""

    jobs: list[JobShape]


_HOW: Final = (
    "lease_s", "allow_unusual_lease", "start", "worker", "request_id", "actor", "role", "reason", "trace_id",
)  # fmt: skip


async def claim(ask: Ask, body: ClaimBody) -> ClaimShape:
    """Take jobs that are due, the first in order, and wait for some if there are none.

    Send an Idempotency-Key along: should the answer get lost, the same request again is answered with the jobs that it
    took, as far as they are still held.
    """
    wait_s, request = ask.service.wait_s_of(body.wait_s), _claim_request(ask, body)
    key = (request.tenant, request.queues, request.kinds, request.adapters, request.spared)
    if wait_s == 0 or request.command.request_id is not None:
        known = await _taken(ask, request)  # what a repeat took is its own, whoever stands before it in the line
        if known or wait_s == 0:
            return ClaimShape(jobs=known)
    with ask.service.waiting.taken(request.tenant):
        waiting = ask.service.lines.claim(key, lambda: _taken_in_turn(ask, request), wait_s)
        taken = await ask.taken_unless_gone(waiting)
    return ClaimShape(jobs=taken or [])


async def claimable(ask: Ask, body: LookBody) -> LookShape:
    """Look at what a claim would take now. Nothing is taken."""
    jobs = await ask.client.store.claimable(_asked_for(ask, {"worker": "nobody"}, body))
    return LookShape(jobs=[ask.shown(job) for job in jobs])


def _claim_request(ask: Ask, body: ClaimBody) -> ClaimRequest:
    given = {name: value for name in _HOW if (value := getattr(body, name)) is not None}
    return _asked_for(ask, ask.asked("claim", given), body)


def _asked_for(ask: Ask, how: dict[str, Any], body: ClaimBody | LookBody) -> ClaimRequest:
    asked = ask.client.claim_request(
        how, queues=body.queues, kinds=body.kinds, adapters=body.adapters, limit=body.limit
    )
    return structs.replace(asked, spared=frozenset(listed("spared", body.spared, of="lanes", most=SPARED_MAX)))


async def _taken_in_turn(ask: Ask, request: ClaimRequest) -> list[JobShape]:
    """The turn may come a minute after the asker was let in, and its token may have been revoked since."""
    await ask.look_again()
    return await _taken(ask, request)


async def _taken(ask: Ask, request: ClaimRequest) -> list[JobShape]:
    replies = await ask.client.store.claim(request)
    for refused in replies:
        if isinstance(refused, DetentError):
            raise refused
    return [ask.shown(reply.job, reply.answer) for reply in replies if isinstance(reply, Reply)]


async def enqueue(ask: Ask, body: Struct) -> JobShape:
    """Make a job.

    With a dedupe key, or an Idempotency-Key that was used before, it may be one that exists: `answer` says so, and the
    status is 200.
    """
    job = await carried_out(ask, "enqueue", arguments_of(body))
    ask.headers["location"] = f"{ask.service.prefix_of(ask.request)}/v1/jobs/{quote(job.id, safe='')}"
    ask.status = 201 if job.answer == "applied" else 200
    return job


async def act(ask: Ask, job_id: str, body: Struct, *, verb: str) -> JobShape:
    """One verb on one job: the job as it is then."""
    return await carried_out(ask, verb, {"job_id": job_id} | arguments_of(body))


async def batch(ask: Ask, body: BatchBody) -> BatchShape:
    """Carry out verbs of any kind in one transaction, each answered by itself.

    What is refused changes nothing, and keeps nothing else from being done.
    """
    requests = listed("requests", body.requests, of="requests", most=BATCH_MAX)
    made = [let_through(ask, request) for request in requests]
    allowed = [each for each in made if isinstance(each, dict)]
    answers = iter(await ask.client.apply(allowed) if allowed else ())
    return BatchShape(answers=[_answered(ask, each, answers) for each in made])


async def carried_out(ask: Ask, verb: str, arguments: dict[str, Any]) -> JobShape:
    """One verb, as the headers and the grant have it: the job as it is then, or the refusal raised."""
    (answer,) = await ask.client.apply([ask.asked(verb, arguments) | {"verb": verb}])
    if isinstance(answer, DetentError):
        raise answer
    return ask.shape_of(answer.record, answer.answer, verb)


def let_through(ask: Ask, request: dict[str, Any]) -> dict[str, Any] | DetentError:
    """A request of a batch as the grant lets it through, or why not."""
    arguments = dict(request)
    verb = arguments.pop("verb", None)
    try:
        given = ask.let_through(check_text_name("verb", verb), opened(arguments, ask.inflating))
    except DetentError as denied:
        return denied
    return given | {"verb": verb}


def _answered(ask: Ask, made: dict[str, Any] | DetentError, answers: Iterator[Job | DetentError]) -> BatchAnswer:
    return answer_of(ask, next(answers), made["verb"]) if isinstance(made, dict) else answer_of(ask, made)


def reply_shape(ask: Ask, reply: Reply | DetentError, verb: str = "") -> BatchAnswer:
    if isinstance(reply, DetentError):
        return BatchAnswer(problem=problem_of(reply))
    return BatchAnswer(job=ask.shape_of(reply.job, reply.answer, verb))


def answer_of(ask: Ask, answer: Job | DetentError, verb: str = "") -> BatchAnswer:
    if isinstance(answer, DetentError):
        return BatchAnswer(problem=problem_of(answer))
    return BatchAnswer(job=ask.shape_of(answer.record, answer.answer, verb))


_MOVING: Final = tuple(verb for verb in COMMANDS if verb not in ("enqueue", "claim"))
_NOTES: Final = {"progress": "Say how far along a job is; no move.", "artifact": "Register something a job has made."}

ROUTES: Final = (
    Route(
        method="POST", path="/v1/jobs", handler=enqueue, scopes=VERB_SCOPES["enqueue"], tag="jobs", status=201,
        idempotent=True, body_type=BODIES["enqueue"],
    ),
    *(
        Route(
            method="POST", path=f"/v1/jobs/{{job_id}}/{verb}", handler=act, scopes=VERB_SCOPES[verb], tag="jobs",
            preconditions=True, idempotent=True, named=verb, fixed={"verb": verb}, body_type=BODIES[verb],
            summary_text=_NOTES.get(verb, f"Ask for the move `{verb}`: the job as it is then, or why not."),
        )
        for verb in _MOVING
    ),
    Route(method="POST", path="/v1/batch", handler=batch, scopes=("submit", "work", "operate"), tag="jobs"),
    Route(method="POST", path="/v1/claimable", handler=claimable, scopes=("read",), tag="work", is_reading=True),
    Route(method="POST", path="/v1/claims", handler=claim, scopes=VERB_SCOPES["claim"], tag="work", idempotent=True),
)  # fmt: skip
