"""Every statement of the SQLite store, by name, from the .sql files beside this."""

from functools import cache
from typing import Final

from detent.store.blocks import blocks

_FILES: Final = (
    "jobs.sql", "claims.sql", "log.sql", "definitions.sql", "finding.sql", "keeping.sql", "fleet.sql", "judging.sql",
    "limits.sql", "tokens.sql",
)  # fmt: skip


def _read() -> dict[str, str]:
    found: dict[str, str] = {}
    for file in _FILES:
        found |= blocks("detent.store.sqlite.sql", file)
    # In this order: the second is made of the third.
    parts = {name: found[name] for name in ("columns", "event_columns", "event_fields")}
    return {name: _filled(block, parts) for name, block in found.items()}


def _filled(block: str, parts: dict[str, str]) -> str:
    for name, part in parts.items():
        block = block.replace("{" + name + "}", part)
    return block


SQL: Final = _read()


@cache
def move_record(names: tuple[str, ...]) -> str:
    """The update of just these columns. There are a few dozen sets of them, each prepared once."""
    return SQL["move_record"].replace("{assignments}", ", ".join(f"{name} = ?" for name in names))


@cache
def insert_record(names: tuple[str, ...]) -> str:
    """The first row of a record: what its first event set, and nothing else."""
    marks = ", ".join("?" * len(names))
    return SQL["insert_record"].replace("{names}", ", ".join(names)).replace("{marks}", marks)


@cache
def say(names: tuple[str, ...]) -> str:
    assignments = ", ".join(f"{name} = excluded.{name}" for name in names)
    filled = SQL["say"].replace("{names}", ", ".join(names)).replace("{marks}", ", ".join("?" * len(names)))
    return filled.replace("{assignments}", assignments)


@cache
def with_filters(name: str, filters: tuple[str, ...], order: str = "asc") -> str:
    filled = SQL[name].replace("{filters}", " ".join(SQL[f"filter_{each}"] for each in filters))
    return filled.replace("{order}", order)


def counting(tables: str, filters: tuple[str, ...], by: tuple[str, ...]) -> str:
    """A count for each combination of these. Without any it is one number, also where nothing is found."""
    values = "".join(f", {SQL[f'count_by_{each}']}" for each in by)
    places = ", ".join(str(place) for place in range(2, len(by) + 2))
    grouping = f"group by {places}" if by else ""
    filled = with_filters("count", filters).replace("{tables}", SQL[f"counted_{tables}"])
    return filled.replace("{values}", values).replace("{grouping}", grouping)
