"""Verbs as items: many of one kind, or of any, in one transaction. Each item is the arguments of its verb."""

from collections.abc import Iterable, Mapping
from typing import Any

from detent.client.arguments import Item, bounded, check_text_name, derived_name, is_name
from detent.client.scope import Scoped
from detent.client.views import Job
from detent.errors import DetentError
from detent.kernel.job import Spec
from detent.lifecycle.registry import Registry
from detent.store import Request
from detent.store.clock import new_id
from detent.store.protocol import Transaction


class Applying(Scoped):
    async def apply(self, items: Iterable[Item], *, tx: Transaction | None = None) -> list[Job | DetentError]:
        """Carry out any verbs in one transaction, each given as its `verb`, its `job_id` and its arguments."""
        given = bounded(items)
        await self._know(given)
        specs = await self._specs([item["job_id"] for item in given if self._needs_spec(item)])
        is_new = any(item.get("verb") == "enqueue" for item in given if isinstance(item, Mapping))
        ask = self._ask_new if is_new else self._ask
        return await self._each(given, lambda item: self._any_request(item, specs), ask, tx)

    def request(self, item: Item) -> Request:
        """What one such item asks of the store, checked."""
        return self._any_request(item, {})

    def _rerun_id(self, job_id: object, request_id: object) -> str:
        return new_id() if request_id is None else derived_name(self.tenant, job_id, "rerun", request_id)

    async def _know(self, items: Iterable[Item]) -> None:
        """Look up what the items name and this client has not seen: somebody else may have registered it."""
        for item in items:
            name, version = _definition(item) if type(item) is dict else (None, None)
            if type(name) is str and not self._registry.knows(name, version):
                self._registry = Registry(*await self.store.register())
                return

    async def _batch(self, verb: str, items: Iterable[Item], tx: Transaction | None) -> list[Job | DetentError]:
        given = bounded(items)
        specs = await self._specs([item["job_id"] for item in given if self._needs_spec(item, verb)])
        return await self._each(given, lambda item: self._request_of(verb, dict(item), specs), self._ask, tx)

    def _needs_spec(self, item: Item, verb: str | None = None) -> bool:
        if not isinstance(item, Mapping) or not is_name(item.get("job_id")):
            return False
        return self._is_by_spec(verb or item.get("verb"), item)

    def _any_request(self, item: Item, specs: Mapping[str, Spec]) -> Request:
        arguments = dict(item)
        verb = arguments.pop("verb", None)
        if verb == "enqueue":
            return self._enqueue_request(arguments)
        if verb == "rerun" and arguments.get("new_job_id") is None:
            arguments["new_job_id"] = self._rerun_id(arguments.get("job_id"), arguments.get("request_id"))
        return self._request_of(check_text_name("verb", verb), arguments, specs)

    def _request_of(self, verb: str, arguments: dict[str, Any], specs: Mapping[str, Spec]) -> Request:
        job_id = arguments.pop("job_id", None)
        if is_name(job_id):
            self._follow_spec(verb, arguments, specs.get(job_id))
        return self._request(verb, job_id, arguments)


def _definition(item: Item) -> tuple[Any, int | None]:
    """The lifecycle that an item names, and its version, if it is one."""
    version = item.get("lifecycle_version")
    return item.get("lifecycle"), version if type(version) is int else None
