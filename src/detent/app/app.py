"""The app: where a program's jobs are declared, and through which they are made."""

from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TypeVar

from detent.app.calls import Call
from detent.app.clients import Clients
from detent.app.cron import Cron
from detent.app.function import JobFunction
from detent.app.handle import ANYTHING, JobHandle
from detent.app.options import Settings
from detent.app.payload import Result
from detent.app.registration import Registration, check_defaults, check_job_options, declared
from detent.app.twins import twin
from detent.app.typed import Declare
from detent.client import Client, Codec, SyncClient, connect
from detent.client.addresses import settings_of_worker
from detent.client.connecting import Connecting, address_of
from detent.client.sync import run
from detent.errors import DetentError, InvalidArgument
from detent.lifecycle import Lifecycle
from detent.lifecycle.bounds import check_kind
from detent.lifecycle.registry import Registry
from detent.lifecycles import BUILT_IN
from detent.runtime.handler import Handler
from detent.store import Store
from detent.store.protocol import Transaction

if TYPE_CHECKING:
    from detent.runtime.gate import PolicySource
    from detent.runtime.scheduler import CronJob

Returned = TypeVar("Returned")


class App:
    """The jobs of a program, and the store they are kept in: at `url`, at $DETENT_URL, or in the file detent.db.

    `tenant`, `codec`, `create` and `settings` are those of `connect`, and `lifecycles` are your own. `defaults` are
    options that hold for every job unless it has its own. `resolver` fetches what a pointer points to, for handlers;
    `policy` decides on jobs of `dispatch`: a file of rules, a function, or a `Gate`.

    Nothing is opened before it is needed. `close` it, or use it in a `with` block; used again, it opens again.
    """

    def __init__(
        self,
        url: str | None = None,
        *,
        tenant: str = "default",
        lifecycles: Sequence[Lifecycle] = (),
        codec: Codec | None = None,
        create: bool = True,
        resolver: Callable[[str], Any] | None = None,
        policy: "PolicySource | None" = None,
        defaults: Settings | None = None,
        **settings: Any,
    ) -> None:
        self.url = url
        self.tenant = tenant
        self.resolver = resolver
        self.policy = policy
        if policy is not None:
            _check_policy(policy)
        self._settings = {"codec": codec, "create": create, **settings}
        self._codec = codec or Codec()
        self._store_of: Callable[[], Store] | None = None
        self._defaults = defaults or Settings()
        check_defaults(self._defaults)
        for each in lifecycles:
            check_kind("lifecycles", each, Lifecycle)
        self._jobs: dict[str, Registration] = {}
        self._lifecycles: list[Lifecycle] = list(lifecycles)
        if url is not None:
            self.connect()  # opens nothing, and tells of a wrong address where it is written
        self._known = Registry(*BUILT_IN.values(), *lifecycles)
        self._clients = self._unopened()

    @property
    def job(self) -> Declare:
        """Declare a function as a job: `@app.job`, or `@app.job(queue="ocr", …)` with any of `JobOptions`."""
        return self._job

    def handlers(self, queues: Sequence[str] | None = None) -> list[Handler]:
        """What runs the jobs declared here, all of them or those of some queues, for a worker."""
        undoing = {each.compensate for each in self._jobs.values()}
        return [each.handler(compensates=each.kind in undoing) for each in self.registrations(queues)]

    def registrations(self, queues: Sequence[str] | None = None) -> list[Registration]:
        """What was declared, in the order of declaration."""
        if queues is None:
            return list(self._jobs.values())
        return [each for each in self._jobs.values() if each.queue in queues]

    def cron(self) -> "list[CronJob]":
        """What the calendar asks for by what was declared here, for a worker."""
        return [_cron_job(each, each.cron, self.tenant) for each in self._jobs.values() if each.cron is not None]

    def connect(self) -> Connecting:
        """A client of its own of the same store, as `detent.connect` gives it."""
        return self.connector()()

    def connector(self) -> Callable[[], Connecting]:
        """What makes such clients. It can be sent to another process, unless its codec cannot."""
        return self._connector(self._settings)

    def worker_connector(self) -> Callable[[], Connecting]:
        """The same for a worker, which may have more connections."""
        return self._connector(settings_of_worker(address_of(self.url)) | self._settings)

    def _connector(self, settings: dict[str, Any]) -> Callable[[], Connecting]:
        if self._store_of is not None:
            return partial(self._connect_to, self._store_of)
        return partial(connect, self.url, tenant=self.tenant, lifecycles=tuple(self._lifecycles), **settings)

    def move(self, *, url: str | None = None, tenant: str | None = None) -> None:
        """Go to another store, or be another tenant, from now on: before anything was opened."""
        self.url, self.tenant = url or self.url, tenant or self.tenant
        self.connect()  # opens nothing, and tells of a wrong address
        self._clients = self._unopened()

    async def aclient(self) -> Client:
        """The client that the app itself uses, open."""
        return await self._clients.own()

    def client(self) -> SyncClient:
        """The client that the app itself uses, open, with blocking verbs."""
        return SyncClient(run(self._clients.own()))

    @asynccontextmanager
    async def atransaction(self) -> AsyncIterator[Transaction]:
        """As `transaction`, with `async with`."""
        async with (await self._clients.own()).transaction() as tx:
            yield tx

    def transaction(self) -> AbstractContextManager[Transaction]:
        """For `tx=`: a transaction in the store's own database, in which your tables and new jobs commit together."""
        return self.client().transaction()

    async def aenqueue_many(
        self, calls: Iterable[Call[Returned]], *, tx: Transaction | None = None
    ) -> list[JobHandle[Returned] | DetentError]:
        """Make jobs of calls, of any types, in one transaction; each is answered by its handle or by its error."""
        listed = list(calls)
        client = await self._clients.own()
        answers = await client.enqueue_many([call.item for call in listed], tx=tx)
        return [
            answer
            if isinstance(answer, DetentError)
            else JobHandle(
                self._clients, answer.id, tenant=answer.tenant, result=call.registration.result, answer=answer.answer
            )
            for call, answer in zip(listed, answers, strict=True)
        ]

    enqueue_many = twin(aenqueue_many)

    def handle(self, job_id: str, *, tenant: str | None = None, result: Result = ANYTHING) -> JobHandle[Any]:
        """A job by its id, wherever it was made. Nothing is looked up yet."""
        return JobHandle(self._clients, job_id, tenant=tenant or self.tenant, result=result)

    @contextmanager
    def on_store(self, store_of: Callable[[], Store]) -> Iterator[Self]:
        """Use other stores for the length of a block: what is called here makes one, not yet open. For tests.

        Handles that were made inside belong to that store. Close the app before the block ends.
        """
        before = self._store_of, self._clients
        self._store_of, self._clients = store_of, self._unopened()
        try:
            yield self
        finally:
            self._store_of, self._clients = before

    async def aclose(self) -> None:
        """Finish what is under way and close the store, if it is open."""
        await self._clients.close()

    close = twin(aclose)

    def __enter__(self) -> Self:
        self.client()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        await self._clients.own()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return f"<App of {len(self._jobs)} jobs>"

    def _job(self, function: Callable[..., Any] | None = None, /, **options: Any) -> Any:
        check_job_options(options)
        if function is None:
            return lambda function: self._register(function, options)
        return self._register(function, options)

    def _register(self, function: Callable[..., Any], options: Mapping[str, Any]) -> JobFunction[..., ..., Any, Any]:
        new = declared(function, options, self._defaults, self._known)
        old = self._jobs.setdefault(new.kind, new)
        if old is not new:
            where = f"{old.function.__module__}.{old.function.__qualname__}"
            message = f"job '{new.kind}' is declared already, by {where}; give one of the two another kind="
            raise InvalidArgument(message, code="kind_taken")
        if new.lifecycle not in self._lifecycles and new.lifecycle not in BUILT_IN.values():
            self._lifecycles.append(new.lifecycle)
        return JobFunction(self, new)

    def _unopened(self) -> Clients:
        return Clients(self.connect, self._declared, tenant=self.tenant, codec=self._codec)

    def _connect_to(self, store_of: Callable[[], Store]) -> Connecting:
        return Connecting(Client(store_of(), tenant=self.tenant, codec=self._codec, lifecycles=self._declared()))

    def _declared(self) -> Sequence[Lifecycle]:
        return (*BUILT_IN.values(), *self._lifecycles)


def _check_policy(policy: "PolicySource") -> None:
    """That it can be one. It reads nothing yet: only workers need the rules, and only who has some needs the gate."""
    from detent.runtime.gate import Gate

    Gate.of(policy)


def _cron_job(registration: Registration, cron: Cron, home: str) -> "CronJob":
    from detent.runtime.scheduler import CronJob

    arguments = registration.payload.of_call((), dict(cron.arguments))
    return CronJob(
        name=registration.kind,
        cron=cron.expression,
        zone=cron.zone,
        job=Call(registration, arguments, {}, home=home).item,
        late_max_s=cron.late_max_s,
    )
