"""The contract between whoever declares jobs and the worker that runs them: one handler for one kind."""

from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct

Isolation = Literal["async", "thread", "process"]


class Handler(Struct, frozen=True, kw_only=True):
    """What runs a kind. The worker calls `function(**arguments(payload))`, with the context first if it wants one.

    `arguments` raises `ValidationError` for a payload that the function does not take; `result` makes JSON of what it
    returned, or raises `PermanentError`. `address`, "module:qualname", is how another process finds the function:
    process isolation needs it. A handler that `compensates` undoes another kind's work.
    """

    kind: str
    function: Callable[..., Any]
    isolation: Isolation
    wants_context: bool
    arguments: Callable[[Any], dict[str, Any]]
    result: Callable[[Any], Any]
    address: str | None = None
    lifecycle: str = "standard"
    compensates: bool = False
