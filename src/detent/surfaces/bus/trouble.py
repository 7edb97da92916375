"""What goes wrong with a bus, as an error of ours: it is told, and tried again."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from nats.errors import Error
from nats.js.errors import ServiceUnavailableError

from detent.errors import DetentError, ServiceError

log: Final = logging.getLogger("detent.bus")


@contextmanager
def bus_trouble(what: str) -> Iterator[None]:
    try:
        yield
    except (Error, OSError, TimeoutError) as error:
        raise ServiceError("bus_unavailable", f"{what}: {_why(error)}") from error


def _why(error: Exception) -> str:
    if isinstance(error, ServiceUnavailableError):
        return "its JetStream does not answer; start it with JetStream (nats-server -js)"
    return str(error) or ("it does not answer" if isinstance(error, TimeoutError) else type(error).__name__)


@contextmanager
def own_mistakes(what: str) -> Iterator[None]:
    """One of ours costs a round of what was done, and not the bus."""
    try:
        yield
    except DetentError:
        raise
    except Exception as error:
        log.exception("a mistake, while trying to %s", what)
        raise ServiceError("internal_error", f"{type(error).__name__}: {error}"[:500]) from error
