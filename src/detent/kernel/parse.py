"""From untrusted arguments to a command: types by msgspec, bounds here. `decide` can answer all that passes."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import msgspec

from detent.errors import InvalidArgument
from detent.kernel.command import (
    COMMANDS,
    VERDICTS,
    Claim,
    Command,
    DeadLetter,
    Enqueue,
    Fail,
    RegisterArtifact,
    Renew,
    ReportProgress,
    Rerun,
    Retry,
    Schedule,
)
from detent.kernel.failure import MESSAGE_CHARS_MAX, REASON_CODES, STAGES, Error
from detent.kernel.job import Progress
from detent.lifecycle.bounds import NAME_CHARS_MAX, check_at_least, check_lease, check_name, check_number
from detent.lifecycle.words import ROLES

LABEL_BYTES_MAX: Final = 4 * NAME_CHARS_MAX  # of what no index has: an exception may be called anything
REASON_CHARS_MAX: Final = 4_096
POINTER_CHARS_MAX: Final = 8_192
COUNT_MAX: Final = 2**63 - 1  # what every store's integer column holds
MOMENT_MAX: Final = 253_402_300_799_999_999  # the end of the year 9999, with room for every limit after it
CHOICES: Final = {
    "verdict": VERDICTS, "stage": STAGES, "reason_code": REASON_CODES, "role": ROLES, "mode": ("soft", "hard"),
    "used_up": ("dead_letter", "fail"),
}  # fmt: skip
PRIORITY_MAX: Final = 1_000
ENV_ENTRIES_MAX: Final = 64
# Fields that name something: short, printable, and safe in any store, log and bus subject.
NAMES: Final[tuple[str, ...]] = (
    "job_id", "new_job_id", "kind", "tenant", "queue", "actor", "worker", "request_id", "trace_id", "dedupe_key",
    "correlation_id", "parent_job_id", "workflow_id", "topic", "adapter_id", "rule", "value_digest",
    "name", "digest", "limit_key",
)  # fmt: skip
TEXTS: Final = {
    "reason": REASON_CHARS_MAX,
    **dict.fromkeys(("context_ptr", "result_ptr", "pointer"), POINTER_CHARS_MAX),
}
COUNTS: Final[tuple[str, ...]] = ("attempt", "expected_rev", "run_at", "step_index", "execution_ms", "size")


def parse(verb: str, arguments: dict[str, Any]) -> Command:
    """The command of that verb, or `InvalidArgument` with a stable code."""
    kind = COMMANDS.get(verb)
    if kind is None:
        raise InvalidArgument(f"there is no verb {verb!r}; use one of {', '.join(COMMANDS)}", code="unknown_verb")
    try:
        command = msgspec.convert(arguments, kind, builtin_types=(bytes,))
    except msgspec.ValidationError as wrong:
        raise InvalidArgument(f"{verb}: {wrong}{_choices(str(wrong))}") from wrong
    except (UnicodeError, RecursionError, OverflowError) as wrong:
        what = f"an argument that no store could keep ({type(wrong).__name__})"
        raise InvalidArgument(f"{verb}: {what}; mend it") from None
    check_command(command, arguments)
    return command


def _choices(message: str) -> str:
    field = message.rpartition(".")[2].rstrip("`")
    words = CHOICES.get(field) if "enum value" in message else None
    return f"; use one of {', '.join(words)}" if words else ""


def check_command(command: Command, fields: Iterable[str] | None = None) -> None:
    """Bounds on every field, or on those that were given: a default needs no look."""
    for field in command.__struct_fields__ if fields is None else fields:
        check = _CHECKS.get(field)
        value = None if check is None else getattr(command, field)
        if check is not None and value is not None:
            check(field, value)
    check_own_fields = _OWN_CHECKS.get(type(command))
    if check_own_fields is not None:
        check_own_fields(command)


def _check_count(field: str, value: int) -> None:
    count_max = MOMENT_MAX if field == "run_at" else COUNT_MAX
    if not 0 <= value <= count_max:
        raise InvalidArgument(f"{field} is {_shown(value)}; use 0 to {count_max}")


def _check_free_text(field: str, value: str) -> None:
    check_text(field, value, TEXTS[field])


def check_text(field: str, value: str, chars_max: int) -> None:
    """Free text: any characters that every store can keep, so no NUL and no half of a surrogate pair."""
    if len(value) > chars_max:
        raise InvalidArgument(f"{field} has {len(value)} characters; at most {chars_max} are kept")
    if "\0" in value or any("\ud800" <= char <= "\udfff" for char in value):
        raise InvalidArgument(f"{field} holds a NUL or a lone surrogate; remove it")


def _check_error(error: Error) -> None:
    check_name("error.type", error.type, bytes_max=LABEL_BYTES_MAX)
    check_text("error.message", error.message, MESSAGE_CHARS_MAX)
    if error.code is not None:
        check_name("error.code", error.code, bytes_max=LABEL_BYTES_MAX)


def _check_progress(progress: Progress) -> None:
    if not 0 <= check_number("progress", progress.fraction) <= 1:
        raise InvalidArgument(f"progress is {progress.fraction:g}; give a fraction from 0 to 1")
    check_text("progress.message", progress.message, REASON_CHARS_MAX)


def _check_enqueue(command: Enqueue) -> None:
    if abs(command.priority) > PRIORITY_MAX:
        raise InvalidArgument(f"priority is {_shown(command.priority)}; use {-PRIORITY_MAX} to {PRIORITY_MAX}")
    if command.env:
        _check_env(command.env)
    check_at_least("delay_s", command.delay_s, 0)


def _check_reported(command: Fail | Retry) -> None:
    _check_error(command.error)


def _check_dead_letter(command: DeadLetter) -> None:
    if command.error is not None:
        _check_error(command.error)


def _check_claim(command: Claim) -> None:
    if command.worker is None:
        raise InvalidArgument("claim names no worker; pass worker=, the name that will hold the lease")
    if command.lease_s is not None:
        check_lease(command.lease_s, allow_unusual=command.allow_unusual_lease)


def _check_delayed(command: Schedule | Rerun) -> None:
    check_at_least("delay_s", command.delay_s, 0)


def _check_artifact(command: RegisterArtifact) -> None:
    if not command.pointer:
        raise InvalidArgument("pointer is empty; say where the artifact is kept")


def _check_telling(command: Renew | ReportProgress) -> None:
    if command.progress is not None:
        _check_progress(command.progress)


# By the name of the field, whichever command has it.
_CHECKS: Final[dict[str, Callable[[str, Any], None]]] = {
    **dict.fromkeys(NAMES, check_name),
    **dict.fromkeys(COUNTS, _check_count),
    **dict.fromkeys(TEXTS, _check_free_text),
}
# What only some commands have. Each takes its own, which the key guarantees.
_OWN_CHECKS: Final[dict[type[Command], Callable[[Any], None]]] = {
    Enqueue: _check_enqueue,
    Fail: _check_reported,
    Retry: _check_reported,
    DeadLetter: _check_dead_letter,
    Claim: _check_claim,
    Schedule: _check_delayed,
    Rerun: _check_delayed,
    Renew: _check_telling,
    ReportProgress: _check_telling,
    RegisterArtifact: _check_artifact,
}


def _shown(number: int) -> str:
    return str(number) if abs(number) <= 2**64 else "far too large"


def _check_env(env: dict[str, str]) -> None:
    if len(env) > ENV_ENTRIES_MAX:
        raise InvalidArgument(f"env has {len(env)} entries; at most {ENV_ENTRIES_MAX} are kept")
    for name, value in env.items():
        check_name("env key", name)
        check_text(f"env[{name!r}]", value, POINTER_CHARS_MAX)
