"""The one statement that writes a batch, put together from the blocks it needs. Batches of a kind share one, which is
prepared once; a program makes a few dozen.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Final, Literal, NamedTuple

from detent.store.postgres.columns import Names, columns_of
from detent.store.postgres.statements import SQL

COMPOSED_MAX: Final = 512
# What an ended record keeps of what it was, unless its last move says otherwise.
_KEPT: Final = (
    "tenant", "queue", "kind", "adapter", "dedupe_key", "lifecycle", "created_at", "rerun_of", "attempt", "owner",
    "lease_s", "lease_expires_at", "heartbeat_by", "last_owner", "last_lease_expires_at", "due_at", "claim_at",
    "wake_at", "order_at", "deadline_at", "cancel_by", "failures", "crashes", "interruptions", "retries", "verdict",
    "rule", "result_ptr", "payload_digest", "result_digest", "error_digest", "checkpoint_digest", "claimed_at",
    "started_at", "last_error", "checkpoint", "progress",
)  # fmt: skip


# How a column comes: different in each row, the same in all, or nothing in any.
Kind = Literal["array", "value", "null"]


class Part(NamedTuple):
    """Rows for one block. `names` are those columns of the record that it sets, `kinds` are of all of its columns."""

    block: str
    names: Names
    kinds: tuple[Kind, ...]


@lru_cache(COMPOSED_MAX)
def composed(parts: tuple[Part, ...], *, is_guarded: bool) -> str:
    made = [SQL["clock"], *(_filled(part, f"p{place}_", is_guarded) for place, part in enumerate(parts))]
    counts = [f"(select count(*) from {name})" for name in _counted(parts)]
    written = SQL["written_guarded" if is_guarded else "written"].replace("{counts}", " + ".join(counts) or "0")
    begun = [place for place, part in enumerate(parts) if part.block == "insert_record"]
    numbers = f"(select array_agg(job order by place) from p{begun[0]}_begun)" if begun else "null::bigint[]"
    return f"with {', '.join(made)}\n{written.replace('{begun}', numbers)}"


def _counted(parts: Sequence[Part]) -> list[str]:
    """What must have happened as often as was asked for."""
    results = {"move_record": "moved", "end_records": "gone", "say": "said"}
    counted = [f"p{place}_{results[each.block]}" for place, each in enumerate(parts) if each.block in results]
    return counted + ["receipts" for each in parts if each.block == "keep_receipt"]


def _filled(part: Part, prefix: str, is_guarded: bool) -> str:
    block = SQL[part.block].replace("{rows}", _rows(part, prefix)).replace("{p}", prefix)
    block = block.replace("{unsaid}", SQL["unsaid"] if is_guarded else "")
    names = part.names
    block = block.replace("{names}", ", ".join(names)).replace("{assignments}", _assigned(names))
    if part.block != "end_records":
        return block
    kept = [name for name in _KEPT if name not in names]
    block = block.replace("{kept}", ", ".join(kept)).replace("{last}", _listed("k.{0} as last_{0}_", names))
    return block.replace("{last_names}", _listed("last_{0}_", names))


def _rows(part: Part, prefix: str) -> str:
    """Arrays that run side by side, and beside them what is the same in every row."""
    named = [
        (name, kind, how) for (name, kind), how in zip(columns_of(part.block, part.names), part.kinds, strict=True)
    ]
    arrays = ", ".join(f":{prefix}{name}::{kind}[]" for name, kind, how in named if how == "array")
    aliases = ", ".join(name for name, _, how in named if how == "array")
    values = [f", :{prefix}{name}::{kind} as {name}" for name, kind, how in named if how == "value"]
    nulls = [f", null::{kind} as {name}" for name, kind, how in named if how == "null"]
    others = "".join((*values, *nulls))
    return f"(select u.*{others} from unnest({arrays}) with ordinality as u ({aliases}, place))"


def _assigned(names: Names) -> str:
    """Who looks at a record looks at wake_at, or before it: only what comes sooner moves the entry in the index."""
    assigned = [f"{name} = k.{name}" for name in names]
    if "wake_at" in names:
        assigned.append("look_at = case when k.wake_at is null then null else least(r.look_at, k.wake_at) end")
    return ", ".join(assigned)


def _listed(form: str, names: Iterable[str]) -> str:
    return ", ".join(form.format(name) for name in names)
