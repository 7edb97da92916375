"""The statements that read, each put together from the blocks of what was asked for."""

from collections.abc import Iterable
from functools import cache
from typing import Final

from detent.store.asked import LINKS
from detent.store.postgres.statements import SQL

_LINKED: Final = frozenset({*LINKS, "own_correlation_id"})
_BEYOND: Final = {"asc": ">=", "desc": "<="}
Names = tuple[str, ...]


def walked_max(limit: int) -> int:
    """How many rows are walked over for a page before an index is asked."""
    return 1_000 + 4 * limit


@cache
def found(records: str, asked: tuple[Names, ...]) -> str:
    """Jobs for which one of these sets of filters holds. `records`: where to look for them."""
    pages = [_for_jobs("find_linked" if _LINKED.intersection(names) else "find", records, names) for names in asked]
    return _filled(SQL["found"], asked=" union all ".join(pages))


@cache
def counted(records: str, asked: tuple[Names, ...], by: Names) -> str:
    """How many of them, for each combination of these. Without any it is one number, also where nothing is found."""
    values = "".join(f", {SQL[f'count_by_{each}']}" for each in by)
    grouping = f"group by {', '.join(f'r.{each}' for each in by)}" if by else ""
    counts = [_for_jobs("count", records, names) for names in asked]
    return _filled(" union all ".join(counts), values=values, grouping=grouping)


@cache
def page_of_events(name: str, filters: Names, order: str, *, has_late: bool) -> str:
    """Those that this statement leads to, with what may have come late since."""
    late = {part: SQL[part] if has_late else "" for part in ("late_events", "or_late")}
    asked = _filled(SQL[name], **late, is_late=SQL["is_late"], filters=_filters("filter", filters))
    return _filled(SQL["page_of_events"], present=SQL["present"], asked=asked, order=order, beyond=_BEYOND[order])


@cache
def beyond() -> str:
    """Whether anything is."""
    return _filled(SQL["is_beyond"], is_late=SQL["is_late"])


def _for_jobs(name: str, records: str, names: Names) -> str:
    """What an index of the spec finds leads; the other filters look at the record."""
    is_linked = bool(_LINKED.intersection(names))
    block = _filled(SQL[name], tables=SQL["counted_links" if is_linked else "counted_records"])
    links = _filters("filter_find", [name for name in names if name in _LINKED])
    filters = _filters("filter_find", [name for name in names if name not in _LINKED])
    return _filled(block, records=SQL[f"{records}_records"], links=links, filters=filters)


def _filters(prefix: str, names: Iterable[str]) -> str:
    return " ".join(SQL[f"{prefix}_{name}"] for name in names)


def _filled(block: str, **parts: str) -> str:
    for name, part in parts.items():
        block = block.replace("{" + name + "}", part)
    return block
