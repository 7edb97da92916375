"""A job's payload: the arguments of its function as a JSON object, made at enqueue and read by the worker."""

import inspect
from typing import Any, Final

import msgspec

from detent.app.hints import Signature, bad
from detent.app.values import UNWRITABLE, Value, validated
from detent.errors import InvalidArgument, PermanentError, ValidationError

_LEFT_OUT: Final = object()  # an argument that was not given: the function has a default of its own


class Payload:
    """How the arguments of one function are written and read."""

    def __init__(self, kind: str, signature: Signature) -> None:
        self.kind = kind
        self.signature = signature.parameters
        self._values = {name: _value(kind, name, hint) for name, hint in signature.hints.items()}
        self._shape = msgspec.defstruct("Payload", self._fields(), kw_only=True, forbid_unknown_fields=True)

    def of_call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call by name, or an error that names the one that is wrong."""
        try:
            return self.signature.bind(*args, **kwargs).arguments
        except TypeError as wrong:
            raise self._refused(str(wrong)) from None

    def to_json(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """What is kept. Each argument has to be of its type, so that the worker will read the same again."""
        return {name: self._written(name, value) for name, value in arguments.items()}

    def arguments(self, payload: Any) -> dict[str, Any]:
        """The worker's side: keyword arguments for the function. A payload may come from anywhere."""
        if not payload and (payload is None or payload == {}) and not self._values:
            return {}
        try:
            read = msgspec.convert({} if payload is None else payload, self._shape, str_keys=True, dec_hook=validated)
        except (msgspec.ValidationError, RecursionError) as wrong:
            raise ValidationError(self._wrong(_placed(str(wrong))), stage="input") from wrong
        given = ((name, getattr(read, name)) for name in self._values)
        return {name: value for name, value in given if value is not _LEFT_OUT}

    def with_defaults(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """As the function will see them."""
        return {name: arguments.get(name, each.default) for name, each in self.signature.parameters.items()}

    def _written(self, name: str, value: Any) -> Any:
        try:
            return self._values[name].checked(value, name)
        except InvalidArgument as wrong:
            raise self._refused(str(wrong)) from wrong
        except (msgspec.ValidationError, *UNWRITABLE) as wrong:
            raise self._refused(_placed(str(wrong), name)) from wrong

    def _fields(self) -> list[Any]:
        """Every default is the same mark: those of the function may be anything, and belong to the function."""
        empty = inspect.Parameter.empty
        return [
            (name, value.hint) if self.signature.parameters[name].default is empty else (name, value.hint, _LEFT_OUT)
            for name, value in self._values.items()
        ]

    def _refused(self, what: str) -> InvalidArgument:
        return InvalidArgument(self._wrong(what), code="bad_payload")

    def _wrong(self, what: str) -> str:
        return f"job '{self.kind}': {what}. It takes {self.signature}"


class Result:
    """How what one function returns is written, and read by whoever waits for it."""

    def __init__(self, kind: str, hint: Any) -> None:
        self._kind = kind
        self._value = _value(kind, "return", hint)

    def to_json(self, returned: Any) -> Any:
        if returned is None:
            return None
        try:
            return self._value.dumped(returned, "the result")
        except (InvalidArgument, *UNWRITABLE) as wrong:
            message = f"job '{self._kind}' returned what cannot be kept: {wrong}"
            raise PermanentError(message, stage="output") from wrong

    def from_json(self, kept: Any) -> Any:
        """As it was returned. One that does not fit, of an older program perhaps, is an error and no surprise later."""
        try:
            return self._value.from_json(kept)
        except (msgspec.ValidationError, RecursionError) as wrong:
            message = f"the result of job '{self._kind}' is not what its function says it returns: {wrong}"
            raise InvalidArgument(
                f"{message}. Read it as it is: handle.job().result", code="value_unreadable"
            ) from wrong


def _value(kind: str, name: str, hint: Any) -> Value:
    """Whatever no payload can hold is refused when the job is declared, and not when the first one is made."""
    where = "what it returns" if name == "return" else f"parameter '{name}'"
    try:
        value = Value(hint)
    except TypeError as wrong:
        raise bad(kind, f"{where} has a type that no payload can hold: {wrong}") from wrong
    if value.strangers:
        names = ", ".join(sorted({each.__qualname__ for each in value.strangers}))
        remedy = "use a dataclass, a TypedDict, a msgspec Struct, a pydantic model, or what JSON has"
        raise bad(kind, f"{where} has a type that no payload can hold ({names}); {remedy}")
    return value


def _placed(message: str, name: str = "") -> str:
    """msgspec writes "Expected `int`, got `str` - at `$.pages`"; a reader wants the name first."""
    what, _, path = message.partition(" - at `$")
    where = (name + path.rstrip("`")).lstrip(".")
    return f"{where}: {what}" if where else what
