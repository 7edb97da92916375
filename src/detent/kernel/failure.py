"""What went wrong with a job: the error on the record, its class, and what the class means for a retry."""

from collections.abc import Sequence
from typing import Final, Literal, get_args

from msgspec import Struct
from msgspec.structs import replace

from detent.lifecycle.policy import Policy
from detent.lifecycle.words import KNOWN_TYPES

ReasonCode = Literal[
    "parse_error", "validation_failed", "dependency_unavailable", "timeout", "exhausted_retries",
    "policy_violation", "infrastructure_failure", "compensation_failed",
]  # fmt: skip
Stage = Literal["fetch", "input", "exec", "output", "commit"]
Category = Literal["validation", "queue", "engine", "system", "cancelled", "denied"]

REASON_CODES: Final[tuple[str, ...]] = get_args(ReasonCode)
STAGES: Final[tuple[str, ...]] = get_args(Stage)
TYPE_CHARS_MAX: Final = 255
MESSAGE_CHARS_MAX: Final = 8_192
# What a worker may say of its own failure; the other categories are the kernel's to give.
REPORTABLE: Final = frozenset({"validation", "engine", "system"})

FINAL_CLASSES: Final = frozenset({"ValidationError", "PermanentError"})
EXPIRED: Final = "LeaseExpired"  # the error of an attempt whose worker was not heard of any more
# Faults of the machine or the network rather than of the work itself.
SYSTEM_TYPES: Final = frozenset(
    {
        "NetworkError",
        "ConnectionError",
        "OutOfMemory",
        "MemoryError",
        "EngineCrash",
        "TransientSystemError",
        EXPIRED,
        "ProcessCrashed",
    }
)
# What a worker reports when the process that ran the handler died, and it did not: a crash, though no lease ran out.
CRASHED: Final = "ProcessCrashed"
DEFAULT_STAGE: Final[dict[str, Stage]] = {"parked": "fetch", "ready": "fetch", "held": "input", "active": "exec"}


class Error(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the record says of a failure. `reason_code` and `stage` are there once it is final."""

    type: str
    message: str = ""
    code: str | None = None
    category: Category | None = None
    stage: Stage | None = None
    reason_code: ReasonCode | None = None


def bounded(error: Error) -> Error:
    """An error as reported, cut to what the record keeps."""
    if len(error.message) <= MESSAGE_CHARS_MAX and len(error.type) <= TYPE_CHARS_MAX and error.category is None:
        return error
    return replace(
        error,
        type=error.type[:TYPE_CHARS_MAX],
        message=error.message[:MESSAGE_CHARS_MAX],
        category=error.category if error.category in REPORTABLE else None,
    )


def class_of(error_type: str, mapped: dict[str, str]) -> str:
    """The user's mapping wins over ours; an unmapped type is transient."""
    known = mapped.get(error_type)
    if known is not None:
        return KNOWN_TYPES[known]
    return KNOWN_TYPES.get(error_type, "TransientError")


def known_type(names: Sequence[str], policy: Policy) -> str:
    """Of an exception's classes, its own first, the first that the policy or Detent itself knows; else its own."""
    for name in names:
        if name in policy.error_classes or name in policy.retry.by_error or name in KNOWN_TYPES or name in SYSTEM_TYPES:
            return name
    return names[0]


def is_retryable(error_type: str, mapped: dict[str, str]) -> bool:
    return class_of(error_type, mapped) not in FINAL_CLASSES


def category_of(error_type: str, mapped: dict[str, str]) -> Category:
    """A failure reported by whoever ran the job: bad input, a broken machine, or the work itself."""
    if class_of(error_type, mapped) == "ValidationError":
        return "validation"
    return "system" if error_type in SYSTEM_TYPES else "engine"


def reason_of(error_type: str, mapped: dict[str, str]) -> ReasonCode:
    """The dead-letter reason of an error that nobody gave a reason for."""
    if class_of(error_type, mapped) == "ValidationError":
        return "validation_failed"
    return "dependency_unavailable" if error_type == "DependencyUnavailable" else "infrastructure_failure"
