"""A command as the service takes it in a batch: its verb, its job and what it says, in JSON."""

from base64 import b64encode
from functools import cache
from typing import Any, Final

import msgspec
from msgspec import NODEFAULT, Raw

from detent.errors import InvalidArgument
from detent.kernel.command import Command
from detent.kernel.job import NULL
from detent.lifecycle import Lifecycle
from detent.wire.http.jobs import VALUES
from detent.wire.moments import to_rfc3339

_SEALED: Final = b"\x00"  # no JSON text begins like this
# What the service says itself: whose jobs they are, by the tenant that is asked for, and what a token grants.
_LEFT_OUT: Final = frozenset({"granted", "tenant", "job_id"})


def item_of(job_id: str, command: Command, lifecycle: Lifecycle | None = None, *, is_fresh: bool = False) -> Any:
    """What is not as it is by default. An id that was made up for this very request is left to the service."""
    item: dict[str, Any] = {"verb": command.verb}
    if not is_fresh:
        item["job_id"] = job_id
    if lifecycle is not None:
        item |= {"lifecycle": lifecycle.name, "lifecycle_version": lifecycle.version}
    for name, default in _defaults(type(command)).items():
        value = getattr(command, name)
        if value != default:
            item[name] = value
    return _written(item)


@cache
def _defaults(command: type[Command]) -> dict[str, Any]:
    """What each argument is if nothing is said; of one that is needed, nothing that anybody could say."""
    fields = [each for each in msgspec.structs.fields(command) if each.name not in _LEFT_OUT]
    return {each.name: each.default if each.default_factory is NODEFAULT else each.default_factory() for each in fields}


def _written(item: dict[str, Any]) -> dict[str, Any]:
    """Values as JSON texts, or in base64 where a codec has sealed them; moments as RFC 3339."""
    if item.get("run_at") is not None:
        item["run_at"] = to_rfc3339(item["run_at"])
    sealed = {}
    for name in VALUES:
        kept = item.get(name)
        if kept is None:
            continue
        if kept.startswith(_SEALED):
            sealed[name] = b64encode(item.pop(name)).decode()
        else:
            item[name] = text_of(name, kept)
    return item | {"sealed": sealed} if sealed else item


def text_of(name: str, kept: bytes) -> Raw:
    """The bytes of a value, which have to be JSON to stand in JSON."""
    try:
        if kept != NULL:
            msgspec.json.decode(kept)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as wrong:
        message = f"{name} is not JSON ({wrong}), and a service takes nothing else"
        raise InvalidArgument(message, code="value_not_json") from None
    return Raw(kept)
