"""Arguments as callers give them: looked at, named, cut to size. What cannot be meant is refused here."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final, TypeVar

from detent.errors import InvalidArgument, shown
from detent.kernel.digest import derived_id
from detent.kernel.parse import COUNT_MAX, REASON_CHARS_MAX, check_text
from detent.lifecycle.bounds import check_name, check_whole

Item = Mapping[str, Any]
Given = TypeVar("Given")
BATCH_MAX: Final = 10_000
PURGED_MAX: Final = 1_000  # jobs in one call: each goes with its whole log, and others wait meanwhile


def bounded(items: Iterable[Item]) -> list[Item]:
    return listed("a batch", items, of="dicts", most=BATCH_MAX)


def bounded_ids(job_ids: Iterable[str]) -> list[str]:
    given = listed("job_ids", job_ids, of="ids", most=PURGED_MAX)
    return [check_text_name("job_ids", job_id) for job_id in given]


def listed(name: str, given: Iterable[Given], *, of: str, most: int) -> list[Given]:
    if not isinstance(given, Iterable) or isinstance(given, str | bytes | Mapping):
        raise InvalidArgument(f"{name} is {shown(given)}; give a list of {of}")
    items = list(islice(given, most + 1))
    if len(items) > most:
        raise InvalidArgument(f"{name} has at most {most} {of}; send them in several calls")
    return items


def check_version(version: object) -> int | None:
    return None if version is None else check_whole("lifecycle_version", version, least=0, most=COUNT_MAX)


def derived_name(*parts: object) -> str:
    """An id that follows from names, which have to be names."""
    for part in parts:
        check_text_name("request_id", part)
    return derived_id(*parts)


def check_choices(field: str, names: object, choices: Sequence[str]) -> tuple[str, ...]:
    """Some of these, each once, in an order of the caller's own."""
    listed = tuple(names) if isinstance(names, list | tuple) and len(names) <= len(choices) else None
    if listed is None or not all(isinstance(name, str) for name in listed) or len(set(listed)) < len(listed):
        raise InvalidArgument(f"{field} is {shown(names)}; give a list of {', '.join(choices)}, each at most once")
    for name in listed:
        if name not in choices:
            raise InvalidArgument(f"{field} names {shown(name)}; the choices are {', '.join(choices)}")
    return listed


def is_name(given: object) -> bool:
    try:
        check_text_name("name", given)
    except InvalidArgument:
        return False
    return True


def check_text_name(field: str, name: object) -> str:
    if not isinstance(name, str):
        raise InvalidArgument(f"{field} is {shown(name)}; give a string")
    check_name(field, name)
    return name


def check_actor(actor: object) -> str:
    """Who did it, for the record. Somebody did, also where nobody says who."""
    return check_text_name("actor", "client" if actor is None else actor)


def check_reason(reason: object) -> str | None:
    if reason is None:
        return None
    if not isinstance(reason, str):
        raise InvalidArgument(f"reason is {shown(reason)}; give a string")
    check_text("reason", reason, REASON_CHARS_MAX)
    return reason
