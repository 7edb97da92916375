"""What goes wrong with a bus, as an error of ours: it is told, and tried again."""

from collections.abc import Iterator
from contextlib import contextmanager

from nats.errors import ConnectionClosedError, Error
from nats.js.errors import NoStreamResponseError, ServiceUnavailableError

from detent.errors import ServiceError


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


def is_not_sent(error: BaseException) -> bool:
    """Whether it is certain that it did not get there. After most troubles nobody knows."""
    return isinstance(error.__cause__, ConnectionClosedError | NoStreamResponseError)
