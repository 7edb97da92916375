"""Every statement of the PostgreSQL store, by name, from the .sql files beside this.

In the files a value is `:name` with its type after it: `:ids::text[]`. All values travel as text (`values.py`).
"""

import re
from functools import lru_cache
from typing import Final, NamedTuple

from detent.store.blocks import blocks

COMPILED_MAX: Final = 1_024
_FILES: Final = (
    "jobs.sql", "claims.sql", "log.sql", "definitions.sql", "finding.sql", "keeping.sql", "fleet.sql", "judging.sql",
    "limits.sql", "tokens.sql",
)  # fmt: skip
# Parts of others, in this order: what is made of another stands before it.
_SHARED: Final[tuple[str, ...]] = (
    "columns", "live_columns", "spec_columns", "event_columns", "event_fields", "is_paused",
)  # fmt: skip
_NUMBERED: Final = re.compile(r"(\$\d+)::")
_VALUE: Final = re.compile(r"(?<!:):([a-z][a-z0-9_]*)")


class Statement(NamedTuple):
    """As PostgreSQL takes it, and the names of its values in their order."""

    sql: str
    names: tuple[str, ...]


def _read() -> dict[str, str]:
    found: dict[str, str] = {}
    for file in _FILES:
        found |= blocks("detent.store.postgres.sql", file)
    parts = {name: found[name] for name in _SHARED if name in found}
    return {name: _filled(block, parts) for name, block in found.items()}


def _filled(block: str, parts: dict[str, str]) -> str:
    for name, part in parts.items():
        block = block.replace("{" + name + "}", part)
    return block


SQL: Final = _read()


@lru_cache(COMPILED_MAX)
def text_first(sql: str) -> str:
    """For a driver that would take numbers for numbers: the server reads each value as text, and then as what it is."""
    return _NUMBERED.sub(r"\1::text::", sql)


@lru_cache(COMPILED_MAX)
def compiled(sql: str) -> Statement:
    """Names become numbers. Each value is read once, as what the block says it is, when it arrives."""
    names: list[str] = []

    def numbered(match: re.Match[str]) -> str:
        name = match[1]
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    return Statement(_VALUE.sub(numbered, sql), tuple(names))
