"""What is to be known, and kept, before a verb takes part in a caller's transaction.

A policy that is new to the store is kept in a transaction of the store's own. In the caller's, everybody else who
wants to keep the same one would have to wait until that ends.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from detent.kernel.command import Enqueue
from detent.lifecycle import Policy
from detent.store.postgres.definitions import Definitions
from detent.store.postgres.script import Script, ask
from detent.store.postgres.session import Session
from detent.store.postgres.statements import SQL
from detent.store.request import Request

Own = Callable[[Callable[[Session], Script[Any]]], Awaitable[Any]]


class Beforehand:
    """`own` runs a script in a transaction of the store's own. All that is `known` here is committed."""

    def __init__(self, own: Own) -> None:
        self._own = own
        self.identity: str | None = None  # tells this store from one of the same tables elsewhere
        self.known = Definitions()

    async def learn(self, requests: Sequence[Request]) -> None:
        if self.identity is None:
            self.identity = await self._own(_identity)
        policies = [policy for policy in _policies(requests) if not self.known.has(policy)]
        if policies:
            self.known = await self._own(lambda _: _learned(self.known.copy(), policies))


def _identity(session: Session) -> Script[str]:
    ((identity,),) = yield ask(SQL["identity"], {})
    return str(identity)


def _policies(requests: Sequence[Request]) -> list[Policy]:
    """Those of new jobs."""
    return [
        each.command.policy or each.lifecycle.defaults
        for each in requests
        if isinstance(each.command, Enqueue) and each.lifecycle is not None
    ]


def _learned(known: Definitions, policies: Sequence[Policy]) -> Script[Definitions]:
    for policy in policies:
        yield from known.policy_number(policy)
    yield from known.known()
    return known
