"""What somebody's code raised, as the record keeps it: by the first of its classes that means something there."""

from typing import Any, TypeGuard

from detent.errors import JobError
from detent.kernel.failure import MESSAGE_CHARS_MAX, REASON_CODES, STAGES, TYPE_CHARS_MAX, known_type
from detent.lifecycle import Policy
from detent.lifecycle.words import KNOWN_TYPES

_NO_CLASSES = frozenset({"object", "BaseException"})


def is_unknown(given: object) -> TypeGuard[BaseException]:
    """Whether only the policy of the job, or a class that it comes from, can say what it counts as."""
    return isinstance(given, BaseException) and type(given).__name__ not in KNOWN_TYPES


def names_of(raised: BaseException) -> tuple[str, ...]:
    """Of its class, and of those that it comes from."""
    named = [each.__name__[:TYPE_CHARS_MAX] for each in type(raised).__mro__ if each.__name__ not in _NO_CLASSES]
    return tuple(named) or (type(raised).__name__,)


def message_of(raised: BaseException) -> str:
    """Cut to size, and cleaned of what no store could hold."""
    try:
        message = str(raised)
    except Exception:  # an exception of somebody's own; that it was raised is worth reporting all the same
        return ""
    return message[:MESSAGE_CHARS_MAX].replace("\0", "\ufffd").encode("utf-8", "replace").decode()


def error_of(raised: BaseException, policy: Policy | None = None) -> dict[str, Any]:
    """As a worker would report it for a job of this policy."""
    names = names_of(raised)
    known = known_type(names, policy or Policy())
    return {"type": known, "message": told(names[0], known, message_of(raised)), **_said(raised)}


def told(own: str, known: str, message: str) -> str:
    """What is counted as something else still says what it was."""
    if known == own:
        return message
    return f"{own}: {message}"[:MESSAGE_CHARS_MAX] if message else own


def _said(raised: BaseException) -> dict[str, str]:
    """What it says of itself, as far as the record knows such a thing."""
    if not isinstance(raised, JobError):
        return {}
    said = {"code": raised.code, "stage": raised.stage, "reason_code": raised.reason_code}
    choices = {"stage": STAGES, "reason_code": REASON_CODES}
    return {
        name: value
        for name, value in said.items()
        if isinstance(value, str) and value and value in choices.get(name, (value,))
    }
