"""Which kinds of jobs a service knows, and what their payloads hold, by JSON Schema. What does not fit is no job.

Workers in Python check their payloads by the types of their functions. What engines, pools and workers in other
languages take, nobody else could tell before one of them has it.
"""

import json
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, NoReturn

import msgspec
from jsonschema_rs import ValidationError, Validator, validator_for
from msgspec import Struct

from detent.client.codec import Kept
from detent.errors import InvalidArgument

_MASK: Final = "it"  # for values in messages: they may be secrets, and as long as they like
_TOLD_CHARS_MAX: Final = 300
_NAMED_MAX: Final = 10
Schema = dict[str, Any] | bool


class _Declared(Struct, forbid_unknown_fields=True):
    """`schema` is a file's name, or the schema itself."""

    schema: str | Schema = True


class _File(Struct, forbid_unknown_fields=True):
    kinds: dict[str, _Declared]
    others: Literal["allow", "refuse"] = "allow"


class Kinds:
    """An `Admission`. Kinds that are not declared are refused only if `refuses_others`."""

    def __init__(self, schemas: Mapping[str, Schema], *, refuses_others: bool = False) -> None:
        self._validators = {kind: _validator(kind, schema) for kind, schema in schemas.items()}
        self.refuses_others = refuses_others

    @classmethod
    def read(cls, path: Path) -> "Kinds":
        """From a file in TOML. Schemas that it names are looked for beside it."""
        try:
            told = msgspec.convert(tomllib.loads(_text(path)), _File)
        except (tomllib.TOMLDecodeError, msgspec.ValidationError) as wrong:
            raise _bad(f"'{path}' declares no kinds: {wrong}") from None
        schemas = {kind: _schema(path.parent, each.schema) for kind, each in told.kinds.items()}
        return cls(schemas, refuses_others=told.others == "refuse")

    def __len__(self) -> int:
        return len(self._validators)

    def check(self, kind: str, payload: Any) -> None:
        validator = self._validators.get(kind)
        if validator is None:
            if self.refuses_others:
                raise InvalidArgument(f"no kind {kind[:64]!r} is known here; {self._known()}", code="unknown_kind")
            return
        why = "it is encrypted, and nobody here can look" if isinstance(payload, Kept) else _misfit(validator, payload)
        if why is not None:
            message = f"the payload of a '{kind[:64]}' job does not fit its schema: {why}"
            raise InvalidArgument(message, code="payload_misfit")

    def _known(self) -> str:
        names = sorted(self._validators)
        more = f" and {len(names) - _NAMED_MAX} more" if len(names) > _NAMED_MAX else ""
        return f"there are {', '.join(names[:_NAMED_MAX])}{more}"


def _validator(kind: str, schema: Schema) -> Validator:
    try:
        validator_for(schema, retriever=_not_fetched)  # with a mask it would not say what is wrong with the schema
        return validator_for(schema, mask=_MASK, retriever=_not_fetched)
    except (ValidationError, ValueError) as wrong:
        why = str(getattr(wrong, "message", wrong))[:_TOLD_CHARS_MAX]
        raise _bad(f"the schema of kind '{kind}' is none: {why}") from None


def _misfit(validator: Validator, payload: Any) -> str | None:
    try:
        wrong = next(validator.iter_errors(payload), None)
    except ValueError as unlike:  # no JSON as it is
        return str(unlike)[:_TOLD_CHARS_MAX]
    if wrong is None:
        return None
    where = "".join(f"/{step}" for step in wrong.instance_path)
    return f"{f'at {where[:64]}, ' if where else ''}{wrong.message[:_TOLD_CHARS_MAX]}"


def _not_fetched(address: str) -> NoReturn:
    raise ValueError(f"'{address}' is elsewhere, and nothing is fetched; put it into the schema, under $defs")


def _schema(folder: Path, declared: str | Schema) -> Schema:
    if not isinstance(declared, str):
        return declared
    try:
        schema = json.loads(_text(folder / declared))
    except ValueError as wrong:
        raise _bad(f"'{folder / declared}' is no JSON: {wrong}") from None
    if not isinstance(schema, dict | bool):
        raise _bad(f"'{folder / declared}' is no schema; give an object, true or false")
    return schema


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise _bad(f"'{path}' cannot be read: {error.strerror}") from None
    except UnicodeDecodeError as wrong:
        raise _bad(f"'{path}' is no text in UTF-8: {wrong}") from None


def _bad(why: str) -> InvalidArgument:
    return InvalidArgument(why, code="bad_kinds")
