"""Errors over HTTP: problem documents (RFC 9457) with the stable code, and back to the error they were made from."""

from typing import Any, Final

from msgspec import Struct

from detent.errors import (
    ARGUMENT_ERRORS,
    DENIALS,
    REFUSALS,
    SERVICE_ERRORS,
    STORE_ERRORS,
    TOKEN_ERRORS,
    DetentError,
    Forbidden,
    InvalidArgument,
    LifecycleError,
    NotFound,
    Refused,
    ServiceError,
    StoreError,
    Unauthorized,
)

MEDIA_TYPE: Final = "application/problem+json"
_TYPE: Final = "urn:detent:problem:"
# Whoever asks again at once makes it worse; these say when it may help.
RETRY_AFTER_S: Final = dict.fromkeys(
    (
        "too_many_requests",
        "too_many_connections",
        "too_much_arriving",
        "too_many_waiting",
        "too_many_streams",
        "closing",
        "not_ready",
    ),
    1,
)


class Problem(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What happened, to what, and what would be accepted. `code` is stable; `detail` is for people.

    Of a refused move: `job_id`, `verb`, the `state` the job is in, and `allowed`, the verbs declared from there.
    """

    type: str
    title: str
    status: int
    detail: str
    code: str
    job_id: str | None = None
    verb: str | None = None
    state: str | None = None
    allowed: list[str] | None = None
    lifecycle: str | None = None
    reason: str | None = None
    problems: list[list[str]] | None = None


_STATUS: Final[dict[str, int]] = {
    **dict.fromkeys(TOKEN_ERRORS, 401),
    **dict.fromkeys(DENIALS, 403),
    "not_found": 404, "bad_json": 400, "not_http": 400, "message_too_large": 413, "value_too_large": 413,
    "stale_rev": 412, "fence_required": 428, "rev_required": 428, "queue_full": 429, "limit_reached": 429,
    "lifecycle_conflict": 409,
    "no_such_path": 404, "method_not_allowed": 405, "not_acceptable": 406, "unsupported_media": 415,
    "receipt_timed_out": 408, "too_many_requests": 429, "read_only": 403, "foreign_origin": 403,
    "internal_error": 500,
    **dict.fromkeys(
        (
            "too_many_connections", "too_much_arriving", "too_many_waiting", "too_many_streams", "closing", "not_ready",
        ),
        503,
    ),
}  # fmt: skip
TITLES: Final[dict[int, str]] = {
    400: "The request is not understood", 401: "Not authenticated", 403: "Not allowed", 404: "Not found",
    405: "No such method here", 406: "No such form of answer", 408: "The request took too long to arrive",
    409: "Refused", 412: "The job has moved on", 413: "Too large", 415: "Not JSON", 422: "Not valid",
    428: "The fence is missing", 429: "Too much", 500: "A fault of the service", 503: "Not now",
}  # fmt: skip


def status_of(error: DetentError) -> int:
    known = _STATUS.get(error.code)
    if known is not None:
        return known
    match error:
        case Refused():
            return 409
        case InvalidArgument() | LifecycleError():
            return 422
        case StoreError():
            return 503
        case _:
            return 500


def status_of_code(code: str) -> int:
    """For those who know the code alone."""
    if code in _STATUS:
        return _STATUS[code]
    return 409 if code in REFUSALS else 503 if code in STORE_ERRORS else 422


def problem_of(error: DetentError) -> Problem:
    status = status_of(error)
    more: dict[str, Any] = {}
    if isinstance(error, Refused):
        more = {
            "job_id": error.job_id, "verb": error.verb, "state": error.state, "allowed": list(error.allowed),
            "lifecycle": error.lifecycle, "reason": error.detail,
        }  # fmt: skip
    if isinstance(error, LifecycleError):
        more = {"lifecycle": error.lifecycle, "problems": [list(each) for each in error.problems]}
    return Problem(
        type=_TYPE + error.code, title=TITLES[status], status=status, detail=str(error), code=error.code, **more
    )


def error_of(problem: Problem) -> DetentError:
    """As the client of a store would have raised it."""
    code = problem.code
    if problem.verb is not None:
        return Refused(
            code, job_id=problem.job_id or "", verb=problem.verb, state=problem.state,
            allowed=tuple(problem.allowed or ()), lifecycle=problem.lifecycle or "", detail=problem.reason or "",
        )  # fmt: skip
    if problem.problems is not None:
        return LifecycleError(problem.lifecycle or "", [(code, message) for code, message in problem.problems])
    if code == "not_found":
        return NotFound(problem.detail)
    if problem.status == 422 or code in ARGUMENT_ERRORS or code == "invalid_argument":
        return InvalidArgument(problem.detail, code=code)
    if code in TOKEN_ERRORS:
        return Unauthorized(problem.detail, code=code)
    if code in DENIALS:
        return Forbidden(problem.detail, code=code)
    if code in SERVICE_ERRORS:
        return ServiceError(code, problem.detail)
    return StoreError(problem.detail, code=code)
