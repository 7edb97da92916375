"""A route as data: its method and path, who may ask, what is asked and what is answered. The types are the handler's
own, so that the OpenAPI document, the parsing and the code cannot differ.
"""

import inspect
import re
from collections.abc import Awaitable, Callable
from functools import cached_property
from typing import Any, Final, Literal, get_type_hints

from msgspec import Struct, field

Handler = Callable[..., Awaitable[Any]]
Method = Literal["GET", "POST", "PUT", "DELETE"]
ANYBODY: Final[tuple[str, ...]] = ()
_PARAMETER: Final = re.compile(r"{(\w+)}")


class Route(Struct, frozen=True, kw_only=True, dict=True):
    """`scopes`: a token needs one of them, or admin; none at all: anybody may ask, without a token.

    `is_reading`: nothing is changed, whatever the method. `media` is what it answers with. `preconditions`: it heeds
    If-Match. `idempotent`: it heeds Idempotency-Key. `body` and `answer`, if the handler's own types say too little.
    """

    method: Method
    path: str
    handler: Handler
    scopes: tuple[str, ...]
    tag: str
    status: int = 200
    is_reading: bool = False
    media: tuple[str, ...] = ("application/json",)
    preconditions: bool = False
    idempotent: bool = False
    named: str | None = None
    fixed: dict[str, Any] = field(default_factory=dict)
    body_type: Any = None
    summary_text: str | None = None

    @property
    def name(self) -> str:
        return self.named or self.handler.__name__

    @property
    def is_vital(self) -> bool:
        """Asked in order to know whether the process lives: who gets no answer kills it."""
        return self.path == "/healthz"

    @property
    def changes(self) -> bool:
        return self.method != "GET" and not self.is_reading

    @cached_property
    def hints(self) -> dict[str, Any]:
        return get_type_hints(self.handler)

    @property
    def query(self) -> type[Struct] | None:
        return self.hints.get("query")

    @property
    def body(self) -> Any:
        return self.body_type or self.hints.get("body")

    @property
    def answer(self) -> Any:
        return self.hints["return"]

    @property
    def parameters(self) -> list[str]:
        return _PARAMETER.findall(self.path)

    @cached_property
    def description(self) -> str:
        return self.summary_text or inspect.cleandoc(self.handler.__doc__ or "")

    @property
    def summary(self) -> str:
        return " ".join(self.description.partition("\n\n")[0].split("\n"))

    @property
    def details(self) -> str:
        return self.description.partition("\n\n")[2].strip()
