"""What an interrupt from the keyboard does to a command."""

import signal
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def interruptible() -> Iterator[None]:
    """An interrupt ends a command quietly, at whatever instruction it comes.

    It may come when a verb has been called and not begun. Python then warns of a coroutine that nobody awaited, which
    is a mistake in a program that goes on, and none in one that was asked to stop.
    """
    is_main = threading.current_thread() is threading.main_thread()  # the only one that may say what a signal does
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:  # ignored, or somebody else's
        yield
        return
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _interrupt(number: int, frame: FrameType | None) -> None:
    warnings.filterwarnings("ignore", r"coroutine '.*' was never awaited", RuntimeWarning)
    signal.default_int_handler(number, frame)
