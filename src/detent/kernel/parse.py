"""From untrusted arguments to a command: types by msgspec, bounds here. `decide` can answer all that passes."""

from typing import Any, Final

import msgspec

from detent.errors import InvalidArgument
from detent.kernel.command import COMMANDS, Claim, Command, Enqueue, Renew, ReportProgress, Rerun, Schedule
from detent.lifecycle.bounds import check_at_least, check_lease, check_number

NAME_CHARS_MAX: Final = 255
REASON_CHARS_MAX: Final = 4_096
PRIORITY_MAX: Final = 1_000
ENV_ENTRIES_MAX: Final = 64
# Fields that name something: short, printable, and safe in any store, log and bus subject.
NAMES: Final = (
    "job_id", "new_job_id", "kind", "tenant", "queue", "actor", "worker", "request_id", "trace_id", "dedupe_key",
    "correlation_id", "parent_job_id", "workflow_id", "topic", "adapter_id", "rule",
)  # fmt: skip
COUNTS: Final = ("attempt", "expected_rev", "run_at", "step_index", "execution_ms")


def parse(verb: str, arguments: dict[str, Any]) -> Command:
    """The command of that verb, or `InvalidArgument` with a stable code."""
    kind = COMMANDS.get(verb)
    if kind is None:
        raise InvalidArgument(f"there is no verb {verb!r}; use one of {', '.join(COMMANDS)}", code="unknown_verb")
    try:
        command = msgspec.convert(arguments, kind, builtin_types=(bytes,))
    except msgspec.ValidationError as wrong:
        raise InvalidArgument(f"{verb}: {wrong}") from wrong
    check_command(command)
    return command


def check_command(command: Command) -> None:
    for name in NAMES:
        value = getattr(command, name, None)
        if value is not None:
            check_name(name, value)
    for name in COUNTS:
        value = getattr(command, name, None)
        if value is not None:
            check_at_least(name, value, 0)
    if command.reason is not None and len(command.reason) > REASON_CHARS_MAX:
        raise InvalidArgument(f"reason has {len(command.reason)} characters; at most {REASON_CHARS_MAX} are kept")
    _check_own_fields(command)


def check_name(field: str, value: str) -> None:
    if not value:
        raise InvalidArgument(f"{field} is empty; give it a name")
    if len(value) > NAME_CHARS_MAX:
        raise InvalidArgument(f"{field} has {len(value)} characters; a name has at most {NAME_CHARS_MAX}")
    if not value.isprintable():
        raise InvalidArgument(f"{field} is {value!r}; a name holds printable characters only")


def _check_own_fields(command: Command) -> None:
    match command:
        case Enqueue():
            if abs(command.priority) > PRIORITY_MAX:
                raise InvalidArgument(f"priority is {command.priority}; use {-PRIORITY_MAX} to {PRIORITY_MAX}")
            if len(command.env) > ENV_ENTRIES_MAX:
                raise InvalidArgument(f"env has {len(command.env)} entries; at most {ENV_ENTRIES_MAX} are kept")
        case Claim():
            if command.worker is None:
                raise InvalidArgument("claim names no worker; pass worker=, the name that will hold the lease")
            if command.lease_s is not None:
                check_lease(command.lease_s, allow_unusual=command.allow_unusual_lease)
        case Schedule() | Rerun():
            check_at_least("delay_s", command.delay_s, 0)
        case Renew() | ReportProgress():
            if command.progress is not None and not 0 <= check_number("progress", command.progress.fraction) <= 1:
                raise InvalidArgument(f"progress is {command.progress.fraction:g}; give a fraction from 0 to 1")
        case _:
            pass
