"""An interrupt from the keyboard, at an instruction where it does harm by itself."""

import gc
import signal
import threading
import warnings

import pytest

from detent.surfaces.cli.interruption import interruptible


async def verb() -> None:
    """One of the client's."""


def warned_of(called_and_not_begun: bool, interrupted: bool) -> list[str]:
    """What Python warns of when a command ends in the middle."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            with interruptible():
                coroutine = verb() if called_and_not_begun else None
                if interrupted:
                    signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            assert interrupted
        del coroutine
        gc.collect()
    return [str(each.message) for each in caught]


def test_interrupt_between_a_call_and_its_beginning_is_no_mistake() -> None:
    assert warned_of(called_and_not_begun=True, interrupted=True) == []


def test_verb_nobody_awaits_is_one() -> None:
    assert warned_of(called_and_not_begun=True, interrupted=False) == ["coroutine 'verb' was never awaited"]


def test_interrupt_is_raised_and_what_was_there_before_comes_back() -> None:
    before = signal.getsignal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt), interruptible():
        signal.raise_signal(signal.SIGINT)

    assert signal.getsignal(signal.SIGINT) is before


def test_signal_that_is_somebody_elses_is_left_to_them() -> None:
    heard: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, _: heard.append(number))
    try:
        with interruptible():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)

    assert heard == [signal.SIGINT]


def test_other_threads_may_run_commands_too() -> None:
    ran: list[bool] = []

    def command() -> None:
        with interruptible():
            ran.append(True)

    thread = threading.Thread(target=command)
    thread.start()
    thread.join()

    assert ran == [True]
