"""Duties of what is attached to a service go on after a mistake of ours: it costs a round, and is told in the log."""

import logging
from collections.abc import Awaitable, Callable
from typing import Final

from detent.errors import DetentError, ServiceError
from detent.runtime.duty import for_ever
from detent.runtime.observing import Troubled

SAID_CHARS_MAX: Final = 500


def minded(what: str, work: Callable[[], Awaitable[None]], log: logging.Logger) -> Awaitable[None]:
    """`work` over and over, as `for_ever` does it."""

    async def one_round() -> None:
        try:
            await work()
        except DetentError:
            raise
        except Exception as error:
            log.exception("a mistake, while trying to %s", what)
            raise ServiceError("internal_error", f"{type(error).__name__}: {error}"[:SAID_CHARS_MAX]) from error

    return for_ever(what, one_round, Troubled(log))
