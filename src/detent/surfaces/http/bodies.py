"""What the verbs take over HTTP, made from the kernel's own commands: a new argument of a verb is here at once."""

from datetime import datetime
from typing import Any, Final

import msgspec
from msgspec import UNSET, Struct, UnsetType

from detent.client.codec import BYTES_MAX, Kept
from detent.errors import InvalidArgument
from detent.kernel.command import COMMANDS, Command
from detent.kernel.job import Blob
from detent.wire.dispatch import PRIORITIES, PriorityName
from detent.wire.http.jobs import SEALED, VALUES, is_compressed, opened_of, unsealed
from detent.wire.moments import LAST, from_rfc3339, micros_of, to_moment

# What is not for an asker to say: the grant says it, or the path, or the store.
_LEFT_OUT: Final = frozenset({"granted", "job_id"})
_MORE: Final[dict[str, tuple[tuple[str, Any, Any], ...]]] = {
    "enqueue": (
        ("job_id", str | None | UnsetType, UNSET),
        ("lifecycle", str | None | UnsetType, UNSET),
        ("lifecycle_version", int | None | UnsetType, UNSET),
    ),
}
# Needed by the kernel, and made by the service if nobody gives it.
_OPTIONAL: Final = frozenset({"new_job_id"})


def _body(verb: str, command: type[Command]) -> type[Struct]:
    fields: list[tuple[str, Any, Any] | tuple[str, Any]] = []
    for each in msgspec.structs.fields(command):
        if each.name in _LEFT_OUT:
            continue
        kind = _kind(each.name, each.type)
        is_needed = each.required and each.name not in _OPTIONAL
        fields.append((each.name, kind) if is_needed else (each.name, kind | None | UnsetType, UNSET))
    fields += _MORE.get(verb, ())
    fields.append(("sealed", dict[str, str] | None | UnsetType, UNSET))
    name = "".join(word.title() for word in verb.split("_"))
    made = msgspec.defstruct(
        f"{name}Body", fields, kw_only=True, frozen=True, forbid_unknown_fields=True, module=__name__
    )
    made.__doc__ = f"What `{verb}` takes. {' '.join((command.__doc__ or '').split())}".strip()
    return made


def _kind(name: str, kind: Any) -> Any:
    """Values are JSON here, and moments RFC 3339."""
    if kind in (Blob, Blob | None):
        return Any
    if name == "priority":
        return int | PriorityName
    return datetime if name == "run_at" else kind


INFLATED_MAX: Final = 64 * 1_048_576
BODIES: Final[dict[str, type[Struct]]] = {
    verb: _body(verb, command) for verb, command in COMMANDS.items() if verb != "claim"
}


def arguments_of(body: Struct) -> dict[str, Any]:
    """A body as the client takes arguments."""
    given = {name: value for name in body.__struct_fields__ if (value := getattr(body, name)) is not UNSET}
    return opened(given)


class Inflating:
    """How much one request may have inflated, all its values together."""

    def __init__(self, left: int = INFLATED_MAX) -> None:
        self._left = left

    def inflated(self, name: str, kept: bytes) -> bytes:
        opened = opened_of(kept, BYTES_MAX + 1)  # no value may be longer than that, so no more of one is looked at
        if opened.startswith(SEALED) or len(opened) > BYTES_MAX:
            message = f"sealed.{name} cannot be inflated to at most {BYTES_MAX} bytes"
            raise InvalidArgument(f"{message}; keep it elsewhere and pass a pointer", code="value_too_large")
        self._left -= len(opened)
        if self._left < 0:
            raise InvalidArgument(
                "the values of this request are too large together; send fewer", code="value_too_large"
            )
        return opened


def opened(given: dict[str, Any], inflating: Inflating | None = None) -> dict[str, Any]:
    """With sealed values in their places, and moments as datetimes."""
    if "granted" in given:
        raise InvalidArgument("there is no argument 'granted'; a token says what it grants")
    sealed = given.pop("sealed", None)
    if given.get("value_digest") is not None and not sealed:
        raise InvalidArgument("value_digest stands for values that are sealed, and none is; leave it out")
    priority = given.get("priority")
    if isinstance(priority, str) and priority in PRIORITIES:
        given["priority"] = PRIORITIES[given["priority"]]
    if isinstance(given.get("run_at"), str):
        given["run_at"] = _moment(given["run_at"])
    if not sealed:
        return given
    for name, text in _sealed(sealed).items():
        if name not in VALUES or given.get(name) is not None:
            raise InvalidArgument(f"sealed.{name[:64]} has no place; it is for {', '.join(VALUES)}, each said once")
        given[name] = kept_of(name, unsealed(name, text), inflating)
    return given


def _sealed(given: Any) -> dict[str, str]:
    try:
        return msgspec.convert(given, dict[str, str])
    except msgspec.ValidationError as wrong:
        raise InvalidArgument(f"sealed is not as it should be: {wrong}") from None


def kept_of(name: str, kept: bytes, inflating: Inflating | None = None) -> Any:
    """What is encrypted stays as it is. What is only compressed is read like any other value: it is handed out as JSON,
    so it has to be some, and within the same bounds.
    """
    if not is_compressed(kept):
        return Kept(kept)
    try:
        return msgspec.json.decode((inflating or Inflating()).inflated(name, kept))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        raise InvalidArgument(f"sealed.{name} holds no JSON", code="value_unreadable") from None


def _moment(text: str) -> datetime:
    """As the route of the verb itself would read it: nothing is moved to where the calendar ends."""
    micros = from_rfc3339(text)
    if not 0 <= micros <= micros_of(LAST):
        raise InvalidArgument(f"run_at is {text}; use 1970 to 9999", code="bad_moment")
    return to_moment(micros)
