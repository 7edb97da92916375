"""How a worker works: what it serves, how much at once, and how long it waits for what."""

import os
from typing import Final

from msgspec import Struct

from detent.lifecycle.bounds import check_at_least, check_more_than_zero, check_whole
from detent.store import Retention

SLOTS_MAX: Final = 10_000


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`concurrency`, `threads` and `children` are how many handlers run at once, by their isolation.

    `grace_s` is how long handlers may go on once the worker is to stop. `look_s`: how often it looks whether its jobs
    are still its own; `poll_s`: how often it asks for work when nobody says that there is any. `stall_s`: how long a
    handler may block the event loop before it is named. `gate_s`: how often it looks for jobs that wait for a verdict,
    `gate_max` at a time.
    """

    queues: tuple[str, ...] = ("default",)
    adapters: tuple[str, ...] | None = None
    concurrency: int = 100
    threads: int = 16
    children: int = os.cpu_count() or 1
    grace_s: float = 30.0
    look_s: float = 0.4
    poll_s: float = 0.25
    stall_s: float = 1.0
    reconcile_s: float = 1.0
    reconcile_max: int = 500
    gate_s: float = 1.0
    gate_max: int = 100
    retention: Retention | None = Retention()
    prune_s: float = 300.0

    def __post_init__(self) -> None:
        for name in ("concurrency", "threads", "children", "reconcile_max", "gate_max"):
            check_whole(name, getattr(self, name), least=1, most=SLOTS_MAX)
        for name in ("look_s", "poll_s", "stall_s", "reconcile_s", "gate_s", "prune_s"):
            check_more_than_zero(name, getattr(self, name))
        check_at_least("grace_s", self.grace_s, 0)
