"""A function that was declared as a job: it is called as before, and can be enqueued."""

from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar, Unpack

from detent.app.calls import Call
from detent.app.handle import JobHandle
from detent.app.options import ENQUEUE_OPTIONS, EnqueueOptions, check_options
from detent.app.registration import Registration
from detent.app.twins import twin
from detent.app.typed import Enqueue
from detent.client.sync import run
from detent.errors import DetentError, InvalidArgument
from detent.store.protocol import Transaction

if TYPE_CHECKING:
    from detent.app.app import App

Called = ParamSpec("Called")
Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Returned = TypeVar("Returned")


class Enqueueing(Generic[Given, Returned]):
    """Makes jobs of one type, with some options already said."""

    def __init__(self, app: "App", registration: Registration, options: Mapping[str, Any]) -> None:
        self._app = app
        self._options = options
        self.registration = registration

    @property
    def enqueue(self) -> Enqueue[Given, JobHandle[Returned]]:
        """Make a job of a call: the arguments of the function, and any of `EnqueueOptions`. It blocks until it is kept.

        A parameter of the function that is called like an option is the parameter; say the option with `options(…)`.
        """
        return self._enqueue

    @property
    def aenqueue(self) -> Enqueue[Given, Coroutine[Any, Any, JobHandle[Returned]]]:
        """As `enqueue`, awaited."""
        return self._aenqueue

    @property
    def call(self) -> Enqueue[Given, Call[Returned]]:
        """The call, checked and not made yet: for `enqueue_many`."""
        return self._call

    def options(self, **options: Unpack[EnqueueOptions]) -> "Enqueueing[Given, Returned]":
        """The same job type with these options, so that `enqueue` takes nothing but the function's own arguments."""
        check_options("enqueue", options, ENQUEUE_OPTIONS)
        return Enqueueing(self._app, self.registration, {**self._options, **options})

    def _enqueue(self, /, *args: Any, **kwargs: Any) -> JobHandle[Returned]:
        return run(self._aenqueue(*args, **kwargs))

    async def _aenqueue(self, /, *args: Any, **kwargs: Any) -> JobHandle[Returned]:
        call, tx = self._called(args, kwargs)
        (answer,) = await self._app.aenqueue_many([call], tx=tx)
        if isinstance(answer, DetentError):
            raise answer
        return answer

    def _call(self, /, *args: Any, **kwargs: Any) -> Call[Returned]:
        call, tx = self._called(args, kwargs)
        if tx is not None:
            raise InvalidArgument("tx= is said once for all calls: enqueue_many(calls, tx=…)", code="bad_transaction")
        return call

    def _called(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Call[Returned], Transaction | None]:
        payload = self.registration.payload
        named = (ENQUEUE_OPTIONS & kwargs.keys()) - payload.signature.parameters.keys()
        options = {**self._options, **{name: kwargs.pop(name) for name in named}}
        tx = options.pop("tx", None)
        arguments = payload.of_call(args, kwargs)
        return Call(self.registration, arguments, options, home=self._app.tenant), tx


class JobFunction(Enqueueing[Given, Returned], Generic[Called, Given, Answer, Returned]):
    """What `@app.job` makes of a function. Calling it calls the function, here and now, and makes no job.

    `Called` are the parameters of that call, `Given` those of the payload: the same, less the context.
    """

    def __init__(self, app: "App", registration: Registration) -> None:
        super().__init__(app, registration, {})
        update_wrapper(self, registration.function)

    def __call__(self, *args: Called.args, **kwargs: Called.kwargs) -> Answer:
        function: Callable[Called, Answer] = self.registration.function
        return function(*args, **kwargs)

    @property
    def kind(self) -> str:
        return self.registration.kind

    async def aenqueue_many(
        self, calls: Iterable[Call[Returned]], *, tx: Transaction | None = None
    ) -> list[JobHandle[Returned] | DetentError]:
        """Make jobs of calls, in one transaction: `scan.enqueue_many(scan.call(path=path) for path in paths)`.

        Each is answered by its handle, or by the error in its place; one that is refused does not stop the others.
        """
        return await self._app.aenqueue_many(calls, tx=tx)

    enqueue_many = twin(aenqueue_many)

    def handle(self, job_id: str, *, tenant: str | None = None) -> JobHandle[Returned]:
        """A job of this type that was made elsewhere, by its id. Nothing is looked up yet."""
        return self._app.handle(job_id, tenant=tenant or self.registration.tenant, result=self.registration.result)

    def __repr__(self) -> str:
        return f"<JobFunction {self.kind}>"
