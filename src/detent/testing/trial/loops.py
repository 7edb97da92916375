"""Both worlds in one test: coroutines where no event loop runs, and blocking calls where one does."""

import asyncio
import threading
from collections.abc import Awaitable, Coroutine
from contextvars import Context, copy_context
from typing import Any, TypeVar

from detent.client.sync import run
from detent.store.waiting import is_blocking

Result = TypeVar("Result")


class Loops:
    """Handlers that are coroutines, in a test without an event loop, share one for the length of the test."""

    def __init__(self) -> None:
        self._runner: asyncio.Runner | None = None

    async def awaited(self, value: Awaitable[Result], variables: Context) -> Result:
        """On the loop that runs here, else on our own."""
        if not is_blocking():
            return await asyncio.get_running_loop().create_task(_whole(value), context=variables)
        if self._runner is None:
            self._runner = asyncio.Runner()
        if self._runner.get_loop().is_running():
            with asyncio.Runner() as another:  # this is a thread of one of its handlers
                return another.run(_whole(value), context=variables)
        return self._runner.run(_whole(value), context=variables)

    def close(self) -> None:
        if self._runner is not None:
            self._runner.close()
            self._runner = None


def anywhere(work: Coroutine[Any, Any, Result]) -> Result:
    """Run what only asks the store to its end, also on the thread of an event loop: a test may stop it for so long."""
    if is_blocking():
        return run(work)
    answers: list[Result] = []
    errors: list[BaseException] = []

    def ask() -> None:
        try:
            answers.append(run(work))
        except BaseException as error:  # whoever asked hears of it
            errors.append(error)

    thread = threading.Thread(target=copy_context().run, args=(ask,), name="detent-asking", daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return answers[0]


async def _whole(value: Awaitable[Result]) -> Result:
    return await value
