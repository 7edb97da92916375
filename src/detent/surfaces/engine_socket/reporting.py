"""What an engine reports, as a verb with its arguments. Pure.

The same report again is the same request, and changes nothing: of a start by the same instance of the engine, of an end
by whoever it was that the job was given to.
"""

from typing import Any, Final

from detent.surfaces.engine_socket.engine import Engine
from detent.wire.engine_messages import JobCancelled, JobComplete, JobFailed, JobProgress, JobStarted

UNSPECIFIED: Final = "EngineError"
_PERCENT: Final = 100
Report = JobStarted | JobProgress | JobComplete | JobFailed | JobCancelled


def verb_of(said: Report, engine: Engine) -> dict[str, Any]:
    """All verbs of an owner have the fence: a job that this engine does not hold has none, and is refused for that."""
    attempt = engine.attempt_of(said.job_id, said.attempt)
    asked: dict[str, Any] = {"job_id": said.job_id, "worker": engine.name, "attempt": attempt}
    match said:
        case JobStarted():
            return asked | {"verb": "start", "request_id": f"{attempt}.start.{engine.instance}"[:255]}
        case JobProgress():
            return asked | {"verb": "progress", "progress": progress_of(said)}
        case JobComplete():
            return asked | {"verb": "complete", "result": said.result, "request_id": f"{attempt}.complete"}
        case JobFailed():
            return asked | {"verb": "fail", "error": error_of(said), "request_id": f"{attempt}.fail"}
        case JobCancelled():
            return asked | {"verb": "cancel", "role": "owner", "request_id": f"{attempt}.cancel"}


def progress_of(said: JobProgress) -> dict[str, Any]:
    return {"fraction": said.progress / _PERCENT, "message": said.message}


def error_of(said: JobFailed) -> dict[str, Any]:
    """`BAD_ASSET: corrupted_texture.png` has its name before the colon. A text without one is all message."""
    name, colon, message = said.error.partition(": ")
    is_named = name.isascii() and name.replace("_", "").isalnum()
    kind, text = (name, message) if is_named and (colon or not said.error.count(" ")) else (UNSPECIFIED, said.error)
    error = {"type": kind, "message": text, "code": kind}
    return error if said.category is None else error | {"category": said.category}
