"""What runs the jobs of one kind: the contract between whoever declares handlers and the worker."""

from collections.abc import Callable
from typing import Any, Literal

from msgspec import Struct

Isolation = Literal["async", "thread", "process"]


class Handler(Struct, frozen=True, kw_only=True):
    """The worker calls `function(**arguments(payload))`, with a Context in front if it wants one.

    `arguments` raises `ValidationError` for a payload that does not fit, `result` a `PermanentError` for a value that
    JSON cannot hold. `address` is how another process finds the function: "module:qualname".
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
