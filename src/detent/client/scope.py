"""What every part of a client shares: the store, the tenant, the codec, and how a verb becomes a request."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final, Self, TypedDict

from detent.client import tracing
from detent.client.admitting import Admission
from detent.client.arguments import Item, check_text_name, check_version, derived_name
from detent.client.codec import Codec
from detent.client.moments import to_micros
from detent.client.raising import error_of, is_unknown
from detent.client.views import Job
from detent.errors import DetentError, InvalidArgument, NotFound, shown
from detent.kernel import Error
from detent.kernel.command import Command
from detent.kernel.job import Progress, Spec
from detent.kernel.parse import parse
from detent.kernel.repeating import VALUES
from detent.lifecycle import Lifecycle
from detent.lifecycle.registry import Registry
from detent.store import Reply, Request, Store
from detent.store.clock import new_id
from detent.store.protocol import Transaction

STANDARD: Final = "standard"
DEFAULT_TENANT: Final = "default"
_PREPARED: Final = frozenset({*VALUES, "error", "progress"})
_SPECIAL: Final = _PREPARED | {"tx", "request_id"}
Ask = Callable[[Sequence[Request], Transaction | None], Awaitable[list[Job | DetentError]]]


class Who(TypedDict, total=False):
    """Who asks, and on what ground: what every verb on a job takes.

    `worker` makes the asker a worker; `attempt` and `expected_rev` are the fence. `request_id` makes a repeat safe.
    `actor` and `reason` are for the record, `role` says in what capacity. `tx` is a transaction of your own.
    """

    worker: str | None
    attempt: int | None
    expected_rev: int | None
    request_id: str | None
    actor: str | None
    role: str | None
    reason: str | None
    trace_id: str | None
    tx: Transaction | None


class Scoped:
    """One tenant's view of a store."""

    def __init__(
        self,
        store: Store,
        *,
        tenant: str,
        codec: Codec,
        lifecycles: Sequence[Lifecycle],
        admission: Admission | None = None,
    ) -> None:
        check_text_name("tenant", tenant)
        self.store = store
        self.tenant = tenant
        self._codec = codec
        self._own = tuple(lifecycles)
        self._admission = admission
        self._registry = Registry()

    @property
    def codec(self) -> Codec:
        """How this client's values are kept."""
        return self._codec

    def of_tenant(self, tenant: str, store: Store | None = None) -> Self:
        """The same store for another tenant, perhaps through something that looks on. It is open as long as this is."""
        scope: dict[str, Any] = {"codec": self._codec, "lifecycles": self._own, "admission": self._admission}
        other = type(self)(store or self.store, tenant=tenant, **scope)
        other._registry = self._registry
        return other

    async def open(self) -> None:
        """Open the store and make it ready; `async with connect(…)` does it."""
        await self.store.open()
        if self.tenant == DEFAULT_TENANT:  # whoever names no tenant is in that of the token, where there is one
            self.tenant = getattr(self.store, "home", None) or DEFAULT_TENANT
        try:
            self._registry = Registry(*await self.store.register(*self._own))
        except BaseException:
            await self.store.close()
            raise

    async def close(self) -> None:
        """Finish what is under way and close the store."""
        await self.store.close()

    async def lifecycle(self, name: str, version: int | None = None) -> Lifecycle:
        """A definition that the store keeps: the version named, or the latest."""
        check_text_name("name", name)
        check_version(version)
        try:
            return self._registry.get(name, version)
        except NotFound:
            self._registry = Registry(*await self.store.register())  # somebody else may have registered it
            return self._registry.get(name, version)

    async def lifecycles(self) -> list[Lifecycle]:
        """Every definition that the store keeps, all versions of each."""
        return await self.store.register()

    async def _each(
        self, items: Sequence[Item], request_of: Callable[[Item], Request], ask: Ask, tx: Transaction | None
    ) -> list[Job | DetentError]:
        """Carry out what can be, in one transaction. An item that is wrong in itself is answered with its error."""
        asked = [_made(item, request_of) for item in items]
        requests = [request for request in asked if isinstance(request, Request)]
        answers = iter(await ask(requests, tx) if requests else ())
        return [next(answers) if isinstance(each, Request) else each for each in asked]

    async def _ask(self, requests: Sequence[Request], tx: Transaction | None = None) -> list[Job | DetentError]:
        return [self._seen(reply) for reply in await self.store.apply(requests, tx)]

    async def _ask_new(self, requests: Sequence[Request], tx: Transaction | None = None) -> list[Job | DetentError]:
        """The same for jobs that are to be made, which may be part of a trace."""
        return await tracing.asked(requests, lambda asked: self._ask(asked, tx))

    async def _do(self, verb: str, job_id: str, who: Mapping[str, Any], **arguments: Any) -> Job:
        """One verb on one job: the job, or the error raised."""
        if self._is_by_spec(verb, arguments):
            specs = await self._specs([check_text_name("job_id", job_id)])
            self._follow_spec(verb, arguments, specs.get(job_id))
        (answer,) = await self._ask([self._request(verb, job_id, {**who, **arguments})], who.get("tx"))
        return raised(answer)

    async def _specs(self, job_ids: Sequence[str]) -> dict[str, Spec]:
        """Of those that are there."""
        jobs = await self.store.get(self.tenant, job_ids) if job_ids else []
        return {job.id: job.spec for job in jobs if job is not None}

    def _is_by_spec(self, verb: object, arguments: Mapping[str, Any]) -> bool:
        """Whether what its job was made with has a say in it: in what an error counts as, or in a new payload."""
        if verb == "rerun" and self._admission is not None:
            return arguments.get("payload") is not None
        return is_unknown(arguments.get("error"))

    def _follow_spec(self, verb: object, arguments: dict[str, Any], spec: Spec | None) -> None:
        error, payload = arguments.get("error"), arguments.get("payload")
        if is_unknown(error):
            arguments["error"] = error_of(error, None if spec is None else spec.policy)
        if verb == "rerun" and payload is not None and spec is not None:
            self._admit(spec.kind, payload)

    def _request(self, verb: str, job_id: object, arguments: Mapping[str, Any]) -> Request:
        return Request(self.tenant, check_text_name("job_id", job_id), self._command(verb, arguments))

    def _command(self, verb: str, arguments: Mapping[str, Any]) -> Command:
        given = {name: value for name, value in arguments.items() if value is not None}
        if not _SPECIAL.isdisjoint(given):
            given.pop("tx", None)
            self._digest_values(given)
            for name in _PREPARED.intersection(given):
                given[name] = self._prepared(name, given[name])
        return parse(verb, given)

    def _digest_values(self, given: dict[str, Any]) -> None:
        """Encrypted, a repeat would look like another request."""
        if self._codec.is_sealing and "request_id" in given:
            given["value_digest"] = self._codec.digest([given.get(name) for name in VALUES])

    def _prepared(self, name: str, value: Any) -> Any:
        """Values as the store keeps them; and what may be said in more than one way, in one."""
        if name in VALUES:
            return self._codec.encode(value, name)
        if isinstance(value, BaseException):
            return error_of(value)
        if isinstance(value, Error | Progress):  # built by hand, so that nobody has looked at its fields yet
            return {field: getattr(value, field) for field in value.__struct_fields__}
        return {"fraction": value} if isinstance(value, int | float) else value

    def _enqueue_request(self, item: Mapping[str, Any]) -> Request:
        """A new job's request. Its id follows from the request id, so that a repeat names the same job."""
        return self._new_job({name: value for name, value in item.items() if value is not None})

    def _new_job(self, given: dict[str, Any]) -> Request:
        lifecycle = self._lifecycle_of(given)
        if "run_at" in given:
            given["run_at"] = to_micros("run_at", given["run_at"])
        tenant = given.setdefault("tenant", self.tenant)
        self._check_tenant(tenant)
        is_fresh = "job_id" not in given and "request_id" not in given
        if "job_id" not in given:
            given["job_id"] = new_id() if is_fresh else derived_name(tenant, "enqueue", given["request_id"])
        self._digest_values(given)
        payload = given.get("payload")
        given["payload"] = self._codec.encode(payload)
        self._admit(given.get("kind"), payload)
        return Request(tenant, given["job_id"], parse("enqueue", given), lifecycle, is_fresh)

    def _admit(self, kind: object, payload: Any) -> None:
        if self._admission is not None:
            self._admission.check(check_text_name("kind", kind), payload)

    def _check_tenant(self, tenant: object) -> None:
        """A client of the default tenant may make jobs for others; one of any other keeps to its own."""
        if tenant != self.tenant and self.tenant != DEFAULT_TENANT:
            message = f"tenant is {shown(tenant)}; this client is tenant '{self.tenant}''s and makes jobs for it alone"
            raise InvalidArgument(f"{message}. Connect with tenant= for another")

    def _lifecycle_of(self, given: dict[str, Any]) -> Lifecycle:
        name, version = given.pop("lifecycle", STANDARD), given.pop("lifecycle_version", None)
        return self._registry.get(check_text_name("lifecycle", name), check_version(version))

    def _seen(self, reply: Reply | DetentError) -> Job | DetentError:
        return Job(reply.job, self._codec, reply.answer) if isinstance(reply, Reply) else reply


def raised(answer: Job | DetentError) -> Job:
    if isinstance(answer, DetentError):
        raise answer
    return answer


def _made(item: object, request_of: Callable[[Item], Request]) -> Request | DetentError:
    if type(item) is not dict and not isinstance(item, Mapping):  # the first is what it is, and quickly asked
        return InvalidArgument(f"an item of the batch is {type(item).__name__}; give the arguments as a dict")
    try:
        return request_of(item)
    except DetentError as wrong:
        return wrong
