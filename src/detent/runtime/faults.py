"""What a handler raised, as data that another process can send, and as the record keeps it."""

import traceback
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from msgspec import Struct

from detent.client.raising import message_of, names_of, told
from detent.errors import JobError, Stopped
from detent.kernel import Error
from detent.kernel.failure import REASON_CODES, STAGES, known_type
from detent.lifecycle import Policy

_RUNTIME: Final = str(Path(__file__).parent)
TRACE_CHARS_MAX: Final = 16_384


class Fault(Struct, frozen=True):
    """`names` are those of its class and of the classes it comes from, its own first."""

    names: tuple[str, ...]
    message: str = ""
    code: str | None = None
    stage: str | None = None
    reason_code: str | None = None
    trace: str = ""
    is_stop: bool = False  # raised because the handler was told to stop


def fault_of(raised: BaseException, *, stage: str | None = None) -> Fault:
    """`stage`: where it came up, unless the error itself says so."""
    said: dict[str, Any] = {"stage": stage}
    if isinstance(raised, JobError):
        said = {name: getattr(raised, name, None) for name in ("code", "stage", "reason_code")}
        said["stage"] = said["stage"] or stage
    message, is_stop = message_of(raised), isinstance(raised, Stopped)
    return Fault(names_of(raised), message, **said, trace=_trace(raised), is_stop=is_stop)


def error_for(fault: Fault, policy: Policy) -> Error:
    """By the first of its classes that the policy, or Detent itself, knows; else by its own name: retryable."""
    own = fault.names[0]
    known = known_type(fault.names, policy)
    return Error(
        known,
        told(own, known, fault.message),
        code=fault.code if isinstance(fault.code, str) else None,
        stage=fault.stage if fault.stage in STAGES else None,  # type: ignore[arg-type]
        reason_code=fault.reason_code if fault.reason_code in REASON_CODES else None,  # type: ignore[arg-type]
    )


def _trace(raised: BaseException) -> str:
    """The end of it, where the error is. One that cannot be shown is no reason to lose the rest."""
    try:
        told = traceback.format_exception(type(raised), raised, _of_the_handler(raised.__traceback__))
        return "".join(told)[-TRACE_CHARS_MAX:]
    except Exception as error:  # a __str__ or a __cause__ of somebody's own
        return f"(no trace: {type(error).__name__})"


def _of_the_handler(trace: TracebackType | None) -> TracebackType | None:
    """Without the frames through which the worker called it: they tell nothing to whoever wrote the handler."""
    inner = trace
    while inner is not None and inner.tb_frame.f_code.co_filename.startswith(_RUNTIME):
        inner = inner.tb_next
    return inner or trace
