"""What a worker does again and again, beside its handlers: trouble is told of, and it is tried again, less often."""

import asyncio
from collections.abc import Awaitable, Callable

from detent.errors import DetentError, Forbidden, Unauthorized
from detent.runtime.backing_off import Backoff
from detent.runtime.observing import Observer


async def for_ever(duty: str, work: Callable[[], Awaitable[None]], observer: Observer) -> None:
    """`work` is one round of it, and sleeps as long as it wants to until the next. One that is forbidden is over."""
    patience = Backoff()
    while True:
        try:
            await work()
            patience.succeeded()
        except (Forbidden, Unauthorized) as denied:  # a token does not change: what it does not allow now it never will
            observer.troubled(duty, denied)
            return
        except DetentError as error:
            observer.troubled(duty, error)
            await patience.wait()


async def nudged_within(seconds: float, nudged: asyncio.Event) -> None:
    """Wait so long, or until it is nudged. `wait_for` of Python 3.11 would not notice a cancel beside a nudge."""
    try:
        async with asyncio.timeout(seconds):
            await nudged.wait()
    except TimeoutError:
        return
