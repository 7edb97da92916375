"""The client: every verb, asynchronous. `detent.connect` makes one; `detent.client.sync` has its blocking twin."""

from contextlib import AbstractAsyncContextManager
from typing import Any, Final

from detent.client.awaiting import Awaiting
from detent.client.dead_letters import DeadLetters
from detent.client.explaining import Explaining
from detent.client.queues import Queues
from detent.client.schedules import Schedules
from detent.client.tokens import Tokens
from detent.client.upkeep import Upkeep
from detent.client.verbs import Verbs
from detent.client.workers import Workers
from detent.errors import InvalidArgument

# What a surface asks for that carries requests itself: checked parts of verbs, and no verbs.
CARRIED: Final = ("claim_request", "not_found", "of_tenant", "request", "schedule_records", "token_record")


class Client(Verbs, Awaiting, Explaining, DeadLetters, Upkeep, Queues, Workers, Schedules, Tokens):
    """One tenant's jobs in one store. Open it with `async with`; any number of tasks may share it."""

    def transaction(self) -> AbstractAsyncContextManager[Any]:
        """A transaction of your own in the store's database: your tables, and verbs with `tx=`, commit together."""
        begin = getattr(self.store, "transaction", None)
        if begin is None:
            message = f"{type(self.store).__name__} has no transactions of its own; pass your own connection as tx="
            raise InvalidArgument(message, code="bad_transaction")
        opened: AbstractAsyncContextManager[Any] = begin()
        return opened
