"""From what a handler returns, or raises, to a response."""

import hashlib
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from detent.errors import STORE_ERRORS, DetentError, StoreError
from detent.surfaces.http.ask import Ask
from detent.surfaces.http.matching import etag
from detent.surfaces.http.telling import ABOUT, about_job
from detent.wire.http.jobs import JobShape
from detent.wire.http.problems import MEDIA_TYPE, RETRY_AFTER_S, Problem, problem_of
from detent.wire.moments import micros_of

JSON: Final = "application/json"
_encode: Final = msgspec.json.Encoder().encode
# Nothing here is a page: no browser is to run, frame, sniff or keep any of it.
SECURITY_HEADERS: Final = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


def answer(ask: Ask, value: Any) -> Response:
    """With an ETag on what was read, and nothing but that if the asker has it already."""
    if type(value) is Response:
        return _unless_known(ask, value)
    if isinstance(value, Response):
        return value
    if value is None:
        return Response(status_code=204, headers=ask.headers)
    body = _encode(value)
    headers = ask.headers
    if isinstance(value, JobShape):
        headers["etag"] = job_etag(value)
        ask.request.scope[ABOUT] |= about_job(value)
    elif ask.is_looking:
        headers["etag"] = f'W/"{_digest(body)}"'
    if ask.is_looking and _has_it(ask.request, headers["etag"]):
        return Response(status_code=304, headers=headers)
    return Response(body, status_code=ask.status, headers=headers, media_type=JSON)


def _unless_known(ask: Ask, response: Response) -> Response:
    """A document that is written already."""
    response.headers["etag"] = f'W/"{_digest(bytes(response.body))}"'
    if _has_it(ask.request, response.headers["etag"]):
        return Response(status_code=304, headers={"etag": response.headers["etag"]})
    return response


def job_etag(job: JobShape) -> str:
    said = None if job.progress is None else _digest(_encode(job.progress))
    return etag(job.rev, micros_of(job.created_at), said)


def _digest(body: bytes) -> str:
    return hashlib.blake2b(body, digest_size=12).hexdigest()


def _has_it(request: Request, etag: str) -> bool:
    given = request.headers.get("if-none-match", "")
    return given == "*" or etag.removeprefix("W/") in {each.strip().removeprefix("W/") for each in given.split(",")}


def refusal(error: DetentError) -> Response:
    return problem_response(problem_of(error))


def without_places(error: StoreError) -> StoreError:
    """Where the store is, and what its driver says, is for those who run it: they have it in the log."""
    return StoreError(f"{STORE_ERRORS[error.code]}; the service's log has more", code=error.code)


def problem_response(problem: Problem) -> Response:
    headers: dict[str, str] = {}
    if problem.status == 401:
        headers["www-authenticate"] = 'Bearer realm="detent"'
    if problem.code in RETRY_AFTER_S:
        headers["retry-after"] = str(RETRY_AFTER_S[problem.code])
    return Response(_encode(problem), status_code=problem.status, headers=headers, media_type=MEDIA_TYPE)
