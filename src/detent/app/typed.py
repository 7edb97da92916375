"""How a job's `enqueue` looks to a type checker.

A parameter specification cannot be combined with keywords of ours. So a call without options is checked in full; one
with options is recognised by them, and its arguments are checked when it is made. `options(…)` has both checked.
"""

from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, Unpack, overload

from detent.app.options import JobOptions
from detent.store.protocol import Transaction
from detent.wire.dispatch import PriorityName

if TYPE_CHECKING:
    from detent.app.function import JobFunction
    from detent.runtime.context import Context

Given = ParamSpec("Given")
Result = TypeVar("Result")
Answer_co = TypeVar("Answer_co", covariant=True)


class Enqueue(Protocol[Given, Answer_co]):
    """The arguments of the function, without the context; and any of `EnqueueOptions` as keywords."""

    @overload
    def __call__(self, *args: Given.args, **kwargs: Given.kwargs) -> Answer_co: ...
    @overload
    def __call__(self, *args: Any, tx: Transaction, **more: Any) -> Answer_co: ...
    @overload
    def __call__(self, *args: Any, dedupe_key: str, **more: Any) -> Answer_co: ...
    @overload
    def __call__(self, *args: Any, limit_key: str, **more: Any) -> Answer_co: ...
    @overload
    def __call__(self, *args: Any, priority: int | PriorityName, **more: Any) -> Answer_co: ...
    @overload
    def __call__(self, *args: Any, delay_s: float, **more: Any) -> Answer_co: ...
    @overload
    def __call__(self, *args: Any, run_at: datetime, **more: Any) -> Answer_co: ...
    @overload
    def __call__(self, *args: Any, correlation_id: str, **more: Any) -> Answer_co: ...
    @overload
    def __call__(self, *args: Any, request_id: str, **more: Any) -> Answer_co: ...
    @overload
    def __call__(self, *args: Any, job_id: str, **more: Any) -> Answer_co: ...
    @overload
    def __call__(self, *args: Any, queue: str, **more: Any) -> Answer_co: ...
    @overload
    def __call__(self, *args: Any, tenant: str, **more: Any) -> Answer_co: ...
    @overload
    def __call__(self, *args: Any, parent_job_id: str, **more: Any) -> Answer_co: ...
    @overload
    def __call__(self, *args: Any, workflow_id: str, **more: Any) -> Answer_co: ...
    @overload
    def __call__(self, *args: Any, step_index: int, **more: Any) -> Answer_co: ...
    @overload
    def __call__(self, *args: Any, topic: str, **more: Any) -> Answer_co: ...
    @overload
    def __call__(self, *args: Any, context_ptr: str, **more: Any) -> Answer_co: ...
    @overload
    def __call__(self, *args: Any, adapter_id: str, **more: Any) -> Answer_co: ...
    @overload
    def __call__(self, *args: Any, env: dict[str, str], **more: Any) -> Answer_co: ...
    @overload
    def __call__(self, *args: Any, trace_id: str, **more: Any) -> Answer_co: ...
    @overload
    def __call__(self, *args: Any, actor: str, **more: Any) -> Answer_co: ...
    @overload
    def __call__(self, *args: Any, reason: str, **more: Any) -> Answer_co: ...


class Declare(Protocol):
    """What `@app.job` makes of a function: its own call is as it was, and the context is no part of its payload."""

    @overload
    def __call__(
        self, function: "Callable[Concatenate[Context, Given], Coroutine[Any, Any, Result]]", /
    ) -> "JobFunction[Concatenate[Context, Given], Given, Coroutine[Any, Any, Result], Result]": ...
    @overload
    def __call__(
        self, function: "Callable[Concatenate[Context, Given], Result]", /
    ) -> "JobFunction[Concatenate[Context, Given], Given, Result, Result]": ...
    @overload
    def __call__(
        self, function: Callable[Given, Coroutine[Any, Any, Result]], /
    ) -> "JobFunction[Given, Given, Coroutine[Any, Any, Result], Result]": ...
    @overload
    def __call__(self, function: Callable[Given, Result], /) -> "JobFunction[Given, Given, Result, Result]": ...
    @overload
    def __call__(self, /, **options: Unpack[JobOptions]) -> "Declare": ...
