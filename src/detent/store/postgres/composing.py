"""The one statement that writes a batch, put together from the blocks it needs. Batches of a kind share one, which is
prepared once; a program makes a few dozen.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from detent.store.postgres.columns import Names, columns_of, optional
from detent.store.postgres.statements import SQL, compiled

COMPOSED_MAX: Final = 512
# What an ended record keeps of what it was, unless its last move says otherwise.
_KEPT: Final = (
    "tenant", "queue", "kind", "adapter", "dedupe_key", "lifecycle", "created_at", "rerun_of", "attempt", "owner",
    "lease_s", "lease_expires_at", "heartbeat_by", "last_owner", "last_lease_expires_at", "due_at", "claim_at",
    "wake_at", "order_at", "deadline_at", "cancel_by", "failures", "crashes", "interruptions", "retries", "verdict",
    "rule", "result_ptr", "payload_digest", "result_digest", "error_digest", "checkpoint_digest", "claimed_at",
    "started_at", "last_error", "checkpoint", "progress",
)  # fmt: skip


# The jobs, the group of each, and the group that each row is for.
_GROUPS: Final = ("members", "groups", "row_groups")
# What a statement may name beside its rows.
COMMON: Final = ("clock", "reckoned", "tolerance", "guarded_tenant", "guarded_queues", "wanted")
# How a column comes: different in each row, the same in all, or nothing in any; or rows are shared by groups of jobs.
Kind = Literal["array", "value", "null", "groups"]


class Part(NamedTuple):
    """Rows for one block. `names` are those columns of the record that it sets, `kinds` are of all of its columns."""

    block: str
    names: Names
    kinds: tuple[Kind, ...]


class Form(NamedTuple):
    """A statement, and which of the values it takes: by their places among `COMMON` and then those of its parts."""

    sql: str
    order: tuple[int, ...]


@lru_cache(COMPOSED_MAX)
def single(block: str, names: Names, given: tuple[bool, ...]) -> Part:
    """A part of one row, of which these columns are given."""
    kinds: list[Kind] = ["value" if each else "null" for each in given]
    return Part(block, names, _with_optional(block, names, kinds, "value"))


@lru_cache(COMPOSED_MAX)
def several(block: str, names: Names, kinds: tuple[Kind, ...]) -> Part:
    """A part of several rows. The first column always differs from row to row."""
    return Part(block, names, ("array", *_with_optional(block, names, kinds, "array")[1:]))


@lru_cache(COMPOSED_MAX)
def grouped(block: str, names: Names, kinds: tuple[Kind, ...]) -> Part:
    """A part whose rows are each for all jobs of a group."""
    return Part(block, names, ("groups", *kinds[1:]))


def _with_optional(block: str, names: Names, kinds: Sequence[Kind], how: Kind) -> tuple[Kind, ...]:
    """If one of the optional columns is there, all come: else each combination would be a statement of its own."""
    may_lack = optional(block, names)
    is_plain = all(kind == "null" for kind, is_optional in zip(kinds, may_lack, strict=True) if is_optional)
    others: Kind = "null" if is_plain else how
    return tuple([others if is_optional else kind for kind, is_optional in zip(kinds, may_lack, strict=True)])


@lru_cache(COMPOSED_MAX)
def composed(parts: tuple[Part, ...], *, is_guarded: bool) -> Form:
    made = [SQL["clock"], *(_filled(part, f"p{place}_", is_guarded) for place, part in enumerate(parts))]
    counts = " + ".join(f"(select count(*) from {name})" for name in _counted(parts)) or "0"
    begun = [place for place, part in enumerate(parts) if part.block == "insert_record"]
    written = SQL["written_guarded" if is_guarded else "written"].replace("{counts}", counts)
    written = written.replace("{unlimited}", SQL["unlimited"] if begun else "")
    numbers = f"array(select job from p{begun[0]}_begun order by place)" if begun else "null::bigint[]"
    statement = compiled(f"with {', '.join(made)}\n{written.replace('{begun}', numbers)}")
    places = {name: place for place, name in enumerate([*COMMON, *_labels(parts)])}
    return Form(statement.sql, tuple([places[name] for name in statement.names]))


def _labels(parts: Sequence[Part]) -> list[str]:
    """What the values of the parts are called, in the order in which they come."""
    return [
        f"p{place}_{label}"
        for place, part in enumerate(parts)
        for (name, _), how in zip(columns_of(part.block, part.names), part.kinds, strict=True)
        if how != "null"
        for label in (_GROUPS if how == "groups" else (name,))
    ]


def _counted(parts: Sequence[Part]) -> list[str]:
    """What must have happened as often as was asked for."""
    results = {"move_record": "moved", "end_records": "gone", "say": "said"}
    counted = [f"p{place}_{results[each.block]}" for place, each in enumerate(parts) if each.block in results]
    return counted + ["receipts" for each in parts if each.block == "keep_receipt"]


def _filled(part: Part, prefix: str, is_guarded: bool) -> str:
    block = SQL[part.block].replace("{rows}", _rows(part, prefix)).replace("{p}", prefix)
    block = block.replace("{in_order}", "order by place" if part.kinds[0] == "groups" else "")
    block = block.replace("{unsaid}", SQL["unsaid"] if is_guarded else "")
    names = part.names
    block = block.replace("{names}", ", ".join(names)).replace("{assignments}", assigned(names))
    if part.block != "end_records":
        return block
    kept = [name for name in _KEPT if name not in names]
    block = block.replace("{kept}", ", ".join(kept)).replace("{last}", _listed("k.{0} as last_{0}_", names))
    return block.replace("{last_names}", _listed("last_{0}_", names))


def _rows(part: Part, prefix: str) -> str:
    """Arrays that run side by side, and beside them what is the same in every row; or one row, if nothing differs."""
    named = [
        (name, kind, how) for (name, kind), how in zip(columns_of(part.block, part.names), part.kinds, strict=True)
    ]
    arrays = ", ".join(f":{prefix}{name}::{kind}[]" for name, kind, how in named if how == "array")
    aliases = ", ".join(name for name, _, how in named if how == "array")
    values = [f":{prefix}{name}::{kind} as {name}" for name, kind, how in named if how == "value"]
    nulls = [f"null::{kind} as {name}" for name, kind, how in named if how == "null"]
    listed = ", ".join(("u.*", *values, *nulls))
    if named[0][2] == "groups":
        more = {"arrays": f", {arrays}", "aliases": f", {aliases}"} if arrays else {"arrays": "", "aliases": ""}
        return SQL["for_groups"].replace("{p}", prefix).format(listed=listed, **more)
    if not arrays:
        return f"(select {', '.join((*values, *nulls))}, 1 as place)"
    return f"(select {listed} from unnest({arrays}) with ordinality as u ({aliases}, place))"


def assigned(names: Names) -> str:
    """Who looks at a record looks at wake_at, or before it: only what comes sooner moves the entry in the index."""
    assigned = [f"{name} = k.{name}" for name in names]
    if "wake_at" in names:
        assigned.append("look_at = case when k.wake_at is null then null else least(r.look_at, k.wake_at) end")
    return ", ".join(assigned)


def _listed(form: str, names: Iterable[str]) -> str:
    return ", ".join(form.format(name) for name in names)
