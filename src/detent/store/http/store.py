"""The store: what `protocol.py` asks for, by the public routes of a service. It keeps nothing itself.

Each theme has a file: `writing`, `reading`, `fleet` and `tokens`. Here is from beginning to end, and what keeps a store
in order.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from detent.errors import InvalidArgument, LifecycleError
from detent.lifecycle import Lifecycle
from detent.lifecycle.problems import problem
from detent.store.http.address import Address
from detent.store.http.failing import unreadable
from detent.store.http.fleet import HttpFleet
from detent.store.http.line import Line
from detent.store.http.reading import Reading
from detent.store.http.sharing import replies_of
from detent.store.http.tokens import HttpTokens
from detent.store.http.writing import Writing
from detent.store.query import Migration, Pruned, Retention
from detent.store.request import Replies
from detent.wire.http.answers import BatchAnswers, DefinitionAnswer, DefinitionsAnswer, Session

_LIFECYCLES: Final = "/v1/lifecycles"


class HttpStore(Writing, Reading, HttpFleet, HttpTokens):
    """Opening it asks the service whom it takes us for: a wrong address or token is told of there."""

    def __init__(self, address: Address) -> None:
        self._address = address
        self._line = Line(address)
        self._session = None
        self._definitions: dict[tuple[str, int, str], Lifecycle] = {}

    def __repr__(self) -> str:
        return f"<HttpStore {self._address.url}>"

    async def open(self) -> None:
        self._line.open()
        try:
            self._session = await self._line.ask(Session, "GET", "/v1/session")
        except BaseException:
            self._line.close()
            raise
        self._line.version = self._session.version

    async def close(self) -> None:
        self._line.close()

    async def migrations(self) -> list[Migration]:
        message = f"the schema of a store is its service's, and {self._address.url} does not tell of it"
        raise InvalidArgument(f"{message}; run detent migrate where the store is, with its own address")

    async def register(self, *lifecycles: Lifecycle) -> list[Lifecycle]:
        """Only what the service does not have is sent: to keep a definition takes the scope admin."""
        kept = (await self._line.ask(DefinitionsAnswer, "GET", _LIFECYCLES)).lifecycles
        known = {(each.name, each.version): each.digest for each in kept}
        self._remember(lifecycles)
        for each in lifecycles:
            if known.get((each.name, each.version), each.digest) != each.digest:
                message = f"'{each.name} v{each.version}' is kept with other content; give it a new version"
                raise LifecycleError(each.name, [problem("lifecycle_conflict", message)])
        missing = [each for each in lifecycles if (each.name, each.version) not in known]
        if missing:
            body = {"lifecycles": missing}
            kept = (await self._line.ask(DefinitionsAnswer, "POST", _LIFECYCLES, body=body, is_safe=True)).lifecycles
        return [self._definition(each) for each in kept]

    def _remember(self, lifecycles: Sequence[Lifecycle]) -> None:
        self._definitions |= {(each.name, each.version, each.digest): each for each in lifecycles}

    def _definition(self, answer: DefinitionAnswer) -> Lifecycle:
        key = (answer.name, answer.version, answer.digest)
        if key not in self._definitions:
            try:
                self._definitions[key] = msgspec.json.decode(answer.definition, type=Lifecycle)
            except (msgspec.ValidationError, LifecycleError) as wrong:
                raise unreadable(self._address.url, f"GET {_LIFECYCLES}", str(wrong), self._line.version) from None
        return self._definitions[key]

    async def reconcile(self, limit: int) -> Replies:
        body = {"limit": limit}
        answers = await self._line.ask(BatchAnswers, "POST", "/v1/reconciliations", body=body, is_safe=True)
        return replies_of(answers.answers)

    async def prune(self, tenant: str, retention: Retention, limit: int) -> Pruned:
        body = {"successes_s": retention.successes_s, "others_s": retention.others_s, "limit": limit}
        return await self._of(tenant, Pruned, "POST", "/v1/prunes", body=body, is_safe=True)

    async def purge(self, tenant: str, job_ids: Sequence[str]) -> Pruned:
        return await self._of(tenant, Pruned, "POST", "/v1/purges", body={"job_ids": list(job_ids)}, is_safe=True)
