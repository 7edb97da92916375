"""From a run to the call of its handler: the payload decoded, the arguments made, a context where it is wanted."""

from collections.abc import Callable
from typing import Any

from detent.client.codec import Codec
from detent.errors import InvalidArgument, PermanentError
from detent.runtime import tracing
from detent.runtime.context import Context
from detent.runtime.current import begin
from detent.runtime.run import Run

ContextOf = Callable[[Run], Context]


class Unfit(Exception):
    """The handler could not even be called; the cause says why."""


class Caller:
    def __init__(self, codec: Codec, context_of: ContextOf) -> None:
        self._codec = codec
        self._context_of = context_of

    def call(self, run: Run) -> Any:
        """What the function returns: of a coroutine function, the coroutine."""
        handler = run.handler
        begin(run.job)
        tracing.enter(run)
        given = self.arguments(run)
        if handler.wants_context:
            return handler.function(self._context_of(run), **given)
        return handler.function(**given)

    def arguments(self, run: Run) -> dict[str, Any]:
        try:
            return run.handler.arguments(self._payload(run))
        except Exception as error:
            raise Unfit from error

    def _payload(self, run: Run) -> Any:
        try:
            return self._codec.decode(run.job.spec.payload)
        except InvalidArgument as error:
            raise PermanentError(str(error), code=error.code, stage="fetch", reason_code="parse_error") from error
