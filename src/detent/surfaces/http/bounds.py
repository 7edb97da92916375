"""The bounds of what may be asked, for the description: by the name of the field, as the checks themselves have them.

A schema says more than a type then: how long a name may be, from where to where a number goes, which words there are.
"""

from typing import Any, Final

from detent.client.arguments import BATCH_MAX, PURGED_MAX
from detent.client.reads import CURSOR_CHARS_MAX
from detent.client.upkeep import PRUNE_BATCH, RECONCILE_MAX
from detent.client.verbs import NAMES_MAX
from detent.client.workers import LANES_MAX, SLOTS_MAX
from detent.kernel.failure import MESSAGE_CHARS_MAX, REASON_CODES, STAGES
from detent.kernel.parse import COUNT_MAX, COUNTS, ENV_ENTRIES_MAX, NAMES, PRIORITY_MAX, REASON_CHARS_MAX, TEXTS
from detent.lifecycle.bounds import NAME_CHARS_MAX, NUMBER_MAX
from detent.lifecycle.words import OUTCOMES, PHASES
from detent.store.fleet import SCHEDULES_MAX
from detent.store.query import COUNTED_BY, PAGE_MAX
from detent.store.tokens import SCOPES
from detent.surfaces.http.settings import Settings

Bounds = dict[str, Any]
# `name` is a format of ours: printable characters, at most 640 bytes in UTF-8.
NAME: Final[Bounds] = {"minLength": 1, "maxLength": NAME_CHARS_MAX, "format": "name"}
CURSOR: Final[Bounds] = {"minLength": 1, "maxLength": CURSOR_CHARS_MAX}
_COUNT: Final[Bounds] = {"minimum": 0, "maximum": COUNT_MAX}
_SECONDS: Final[Bounds] = {"minimum": 0, "maximum": NUMBER_MAX}
_LASTING: Final[Bounds] = {"exclusiveMinimum": 0, "maximum": NUMBER_MAX}
_NAMES: Final[Bounds] = {"minItems": 1, "maxItems": NAMES_MAX, "items": NAME}
_NAMED: Final = (
    *NAMES, "lifecycle", "state", "owner", "error_type", "type", "verb", "host", "cron", "zone", "version",
)  # fmt: skip
# Of whatever asks for something; the last word is `_OF`, by the type in which the field is.
_BY_NAME: Final[dict[str, Bounds]] = {
    **dict.fromkeys(_NAMED, NAME),
    **{name: {"maxLength": most} for name, most in TEXTS.items()},
    **{name: _COUNT for name in COUNTS if name != "run_at"},
    **dict.fromkeys(("cursor", "after", "seen"), CURSOR),
    **dict.fromkeys(("delay_s", "within_s", "successes_s", "others_s"), _SECONDS),
    **dict.fromkeys(("lease_s", "expires_s"), _LASTING),
    **dict.fromkeys(("queues", "kinds", "adapters"), _NAMES),
    "every_s": {"minimum": 0, "maximum": 31_536_000},
    "wait_s": {"minimum": 0, "maximum": Settings().wait_s_max},
    "limit": {"minimum": 1, "maximum": PAGE_MAX},
    "job_ids": {"maxItems": PURGED_MAX, "items": NAME},
    "requests": {"maxItems": BATCH_MAX},
    "schedules": {"maxItems": SCHEDULES_MAX},
    "lifecycles": {"minItems": 1, "maxItems": 100},
    "spared": {"maxItems": 1_000},
    "lanes": {"maxItems": LANES_MAX},
    "priority": {"minimum": -PRIORITY_MAX, "maximum": PRIORITY_MAX},
    "env": {"maxProperties": ENV_ENTRIES_MAX},
    "lifecycle_version": _COUNT,
    "pid": _COUNT,
    "depth_max": _COUNT,
    "slots": {"minimum": 0, "maximum": SLOTS_MAX},
    "running": {"minimum": 0, "maximum": SLOTS_MAX},
    "reason_code": {"enum": sorted(REASON_CODES)},
    "stage": {"enum": sorted(STAGES)},
    "phase": {"enum": sorted(PHASES)},
    "outcome": {"enum": sorted(OUTCOMES)},
    "by": {"maxItems": len(COUNTED_BY), "uniqueItems": True, "items": {"enum": list(COUNTED_BY)}},
    "scopes": {"minItems": 1, "maxItems": len(SCOPES), "uniqueItems": True, "items": {"enum": list(SCOPES)}},
}
_OF: Final[dict[tuple[str, str], Bounds]] = {
    ("ReconcileBody", "limit"): {"minimum": 1, "maximum": RECONCILE_MAX},
    ("RetentionBody", "limit"): {"minimum": 1, "maximum": PRUNE_BATCH},
    ("VersionQuery", "version"): _COUNT,
    ("ArtifactBody", "pointer"): {"minLength": 1, "maxLength": TEXTS["pointer"]},
    ("Progress", "fraction"): {"minimum": 0, "maximum": 1},
    ("Progress", "message"): {"maxLength": REASON_CHARS_MAX},
    ("Error", "message"): {"maxLength": MESSAGE_CHARS_MAX},
    ("Error", "code"): NAME,
}
_MOMENTS: Final = frozenset({"at", "expected", "heartbeat_by", "cancel_by"})
_MOMENT_ENDS: Final = ("_at", "_from", "_until")
_NO_MOMENTS: Final = frozenset({"order_at"})


def bounded(name: str, schema: dict[str, Any]) -> dict[str, Any]:
    """What somebody may send, as an object: each of its fields within its bounds."""
    fields = schema.get("properties", {})
    return schema | {"properties": {field: _within(name, field, each) for field, each in fields.items()}}


def _within(name: str, field: str, schema: dict[str, Any]) -> dict[str, Any]:
    found = _OF.get((name, field), _BY_NAME.get(field))
    return schema if found is None else _narrowed(schema, found)


def _narrowed(schema: dict[str, Any], bounds: Bounds) -> dict[str, Any]:
    if "anyOf" in schema:
        return schema | {"anyOf": [_narrowed(each, bounds) for each in schema["anyOf"]]}
    if schema.get("type") == "null" or not _is_for(schema, bounds):
        return schema
    items = {"items": schema["items"] | bounds["items"]} if "items" in bounds else {}
    return schema | bounds | items


def _is_for(schema: dict[str, Any], bounds: Bounds) -> bool:
    """A name can stand for different things: a list of queues, and one of them."""
    kind = schema.get("type")
    is_list = "maxItems" in bounds
    is_number = "minimum" in bounds or "exclusiveMinimum" in bounds
    wanted = ("array",) if is_list else ("integer", "number") if is_number else ("string", "object")
    return kind in wanted


def timed(schema: dict[str, Any]) -> dict[str, Any]:
    """With a format wherever a moment is, also in what is answered."""
    fields = schema.get("properties", {})
    return schema | {"properties": {name: _moment(each) if _is_moment(name) else each for name, each in fields.items()}}


def _is_moment(name: str) -> bool:
    return name not in _NO_MOMENTS and (name in _MOMENTS or name.endswith(_MOMENT_ENDS))


def _moment(schema: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" in schema:
        return schema | {"anyOf": [_moment(each) for each in schema["anyOf"]]}
    return schema | {"format": "date-time"} if schema.get("type") == "string" else schema
