"""A lifecycle as data. Making one checks it: a `Lifecycle` that exists is sound."""

from functools import cached_property
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from detent.lifecycle.digest import digest_of
from detent.lifecycle.model import Move, State
from detent.lifecycle.policy import Policy
from detent.lifecycle.soundness import check
from detent.lifecycle.table import Table, compile_table
from detent.lifecycle.words import Verb


class Lifecycle(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, dict=True):
    """A state machine that a job follows. Raises `LifecycleError`, naming every hole, when it does not hold together.

    `on_expiry` and `on_timeout` are the verbs the system answers with when a lease, or a state's time, is over.
    `events` renames event types by verb; `aliases` are old state names still understood; `legacy_events` are old event
    types emitted beside the new ones. `requires_rev`: every verb on a known job names the revision it was decided on.
    `settles_repeats`: a request for what already is, alike in content, is granted without a trace.
    `implies_start`: a result or progress for a held job implies its start.
    """

    name: str
    version: int
    states: tuple[State, ...]
    moves: tuple[Move, ...]
    summary: str = ""
    events: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    legacy_events: dict[str, str] = field(default_factory=dict)
    on_expiry: Verb = "expire"
    on_timeout: Verb = "time_out"
    defaults: Policy = field(default_factory=Policy)
    requires_rev: bool = False
    settles_repeats: bool = False
    implies_start: bool = False

    def __post_init__(self) -> None:
        check(self)

    @cached_property
    def digest(self) -> str:
        """Identifies the content: the same name and version with another digest is another lifecycle."""
        return digest_of(self, leave_out="summary")

    @cached_property
    def table(self) -> Table:
        return compile_table(self)

    @cached_property
    def by_name(self) -> dict[str, State]:
        return {state.name: state for state in self.states}

    def policy(self, **settings: Any) -> Policy:
        """This lifecycle's defaults with some settings changed: `DOCUMENT.policy(lease_s=90)` keeps its retries."""
        if "lease_s" in settings:
            settings.setdefault("heartbeat_s", 0)  # that of another lease need not fit into this one
        return replace(self.defaults, **settings)

    def state(self, name: str) -> State:
        """A state by its name or by a name it used to have."""
        return self.by_name[self.aliases.get(name, name)]
