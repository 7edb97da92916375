"""What a handler raised, as data that another process can send, and as the record keeps it."""

import traceback
from pathlib import Path
from types import TracebackType
from typing import Any, Final

from msgspec import Struct

from detent.client.arguments import error_of
from detent.errors import JobError, Stopped
from detent.kernel import Error
from detent.kernel.failure import REASON_CODES, STAGES, SYSTEM_TYPES
from detent.lifecycle import Policy
from detent.lifecycle.words import KNOWN_TYPES

_RUNTIME: Final = str(Path(__file__).parent)
TRACE_CHARS_MAX: Final = 16_384
_NO_CLASSES: Final = frozenset({"object", "BaseException"})


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
    named = tuple(each.__name__ for each in type(raised).__mro__ if each.__name__ not in _NO_CLASSES)
    kept = error_of(raised)
    return Fault(named, kept["message"], **said, trace=_trace(raised), is_stop=isinstance(raised, Stopped))


def error_for(fault: Fault, policy: Policy) -> Error:
    """By the first of its classes that the policy, or Detent itself, knows; else by its own name: retryable."""
    own = fault.names[0]
    known = next((name for name in fault.names if _is_known(name, policy)), own)
    message = fault.message if known == own else f"{own}: {fault.message}" if fault.message else own
    return Error(
        known,
        message,
        code=fault.code if isinstance(fault.code, str) else None,
        stage=fault.stage if fault.stage in STAGES else None,  # type: ignore[arg-type]
        reason_code=fault.reason_code if fault.reason_code in REASON_CODES else None,  # type: ignore[arg-type]
    )


def _is_known(name: str, policy: Policy) -> bool:
    return name in policy.error_classes or name in policy.retry.by_error or name in KNOWN_TYPES or name in SYSTEM_TYPES


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
