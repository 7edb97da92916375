"""What goes wrong with a bus, as an error of ours: it is told, and tried again."""

from collections.abc import Iterator
from contextlib import contextmanager

from nats.errors import Error

from detent.errors import ServiceError


@contextmanager
def bus_trouble(what: str) -> Iterator[None]:
    try:
        yield
    except (Error, OSError, TimeoutError) as error:
        raise ServiceError("bus_unavailable", f"{what}: {error or type(error).__name__}; it is tried again") from error
