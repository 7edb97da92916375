"""A call that is to be made a job: its arguments, checked, and all that will stand on the record."""

from collections.abc import Mapping
from typing import Any, Generic, TypeVar

from detent.app.options import priority_number
from detent.app.registration import Registration
from detent.client.scope import DEFAULT_TENANT
from detent.kernel.job import Spec
from detent.runtime.current import current
from detent.telemetry.tracing import is_within_span

Result = TypeVar("Result")


class Call(Generic[Result]):
    """One job to be made, for `enqueue_many`. `item` are the arguments of `Client.enqueue`."""

    def __init__(
        self, registration: Registration, arguments: dict[str, Any], options: Mapping[str, Any], *, home: str
    ) -> None:
        """`home` is the app's own tenant."""
        tenant = options.get("tenant") or registration.tenant or (None if home == DEFAULT_TENANT else home)
        self.registration = registration
        self.item: dict[str, Any] = {
            **_declared(registration),
            "payload": registration.payload.to_json(arguments),
            **_inherited(current(), tenant),
            **{name: value for name, value in options.items() if value is not None},
        }
        given = registration.payload.with_defaults(arguments)
        if "dedupe_key" not in self.item:
            self.item["dedupe_key"] = registration.dedupe_key_of(given)
        if "limit_key" not in self.item:
            self.item["limit_key"] = registration.limit_key_of(given)
        self.item["priority"] = priority_number(self.item["priority"])

    def __repr__(self) -> str:
        return f"<Call of {self.registration.kind} {self.item['payload']}>"


def _declared(registration: Registration) -> dict[str, Any]:
    """The version is named, too: the policy was made for it, and the store may know a later one."""
    lifecycle = registration.lifecycle
    return {
        "kind": registration.kind,
        "queue": registration.queue,
        "priority": registration.priority,
        "lifecycle": lifecycle.name,
        "lifecycle_version": lifecycle.version,
        "policy": registration.policy,
        "tenant": registration.tenant,
        "submit": True,
        "role": lifecycle.table.start.default_role,  # named, so that an actor called `worker` does not decide it
    }


def _inherited(parent: Spec | None, tenant: str | None) -> dict[str, Any]:
    """Inside a handler the new job is its job's child. One of another tenant could not see its parent."""
    if parent is None:
        return {}
    kept: dict[str, Any] = {"correlation_id": parent.correlation_id}
    if not is_within_span():  # else the client gives it the span in which it is made, of the same trace
        kept["trace_id"] = parent.trace_id
    if tenant is not None and tenant != parent.tenant:
        return kept
    return {**kept, "tenant": parent.tenant, "parent_job_id": parent.id}
