"""The blocking twin of a method that is a coroutine: written once, and run to its end where no event loop runs."""

from collections.abc import Callable, Coroutine
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec, TypeVar

from detent.client.sync import run

Owner = TypeVar("Owner")
Given = ParamSpec("Given")
Result = TypeVar("Result")


def twin(
    method: Callable[Concatenate[Owner, Given], Coroutine[Any, Any, Result]],
) -> Callable[Concatenate[Owner, Given], Result]:
    def blocking(self: Owner, /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        return run(method(self, *args, **kwargs))

    update_wrapper(blocking, method)
    return blocking
