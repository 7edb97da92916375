"""What a desk is handed: a script to run in a transaction, and what may be made one with others of its kind."""

from collections.abc import Callable, Collection, Sequence
from typing import Any

from msgspec import Struct

from detent.store.dice import Dice
from detent.store.postgres.script import Script
from detent.store.postgres.session import Session
from detent.store.request import Key, Request


class Work(Struct, kw_only=True):
    """`make` begins the script anew each time it is tried. `requests` say all that is asked, if it is only requests."""

    make: Callable[[Session], Script[Any]]
    requests: Sequence[Request] | None = None
    dice: Dice | None = None
    is_one_moment: bool = False  # a read of several statements, all of the same state
    is_optional: bool = False  # not worth waiting for a server that is out of reach
    give_up_at: float | None = None  # when it has waited long enough for a record that others are moving

    def again(self) -> None:
        if self.dice is not None:
            self.dice.again()

    def touches(self, keys: Collection[Key]) -> bool:
        """Whether it may be about one of these jobs."""
        return self.requests is None or any((each.tenant, each.job_id) in keys for each in self.requests)
