"""Moments at which cutting.py can lose a connection. Each comes once; before and after it, everything passes."""

import threading
from collections import Counter
from collections.abc import Callable
from typing import Literal

from tests.postgres.cutting import Passing, Verdict
from tests.postgres.wire import ASKS_FOR_READY, READY

Chosen = Callable[[Passing], bool]


def cut_before(text: bytes, *, nth: int = 1) -> "Once":
    """When a client's message holds `text`, for the nth time: the server never sees it."""
    return Once("cut", holding(text), nth=nth)


def cut_after(text: bytes, *, nth: int = 1) -> "Once":
    """The server does what was asked and says so; the client hears nothing of it."""
    return Once("cut", holding(text), nth=nth, when="answered")


def hang_before(text: bytes, *, nth: int = 1) -> "Once":
    """As `cut_before`, but neither side is told."""
    return Once("hang", holding(text), nth=nth)


def hang_after(text: bytes, *, nth: int = 1) -> "Once":
    """As `cut_after`, but neither side is told."""
    return Once("hang", holding(text), nth=nth, when="answered")


def holding(text: bytes) -> Chosen:
    """A client's message with this in it, in whatever case; an empty text is in every one."""
    return lambda message: message.direction == "to server" and text.lower() in message.payload.lower()


class Once:
    """`verdict` for the nth message that is `chosen`, or for the end of the server's answer to it.

    `happened` is set when it is said. What the server answers to the chosen message until then is dropped.
    """

    def __init__(
        self, verdict: Verdict, chosen: Chosen, *, nth: int = 1, when: Literal["seen", "answered"] = "seen"
    ) -> None:
        self.happened = threading.Event()
        self._verdict = verdict
        self._chosen = chosen
        self._to_come = nth
        self._when = when
        self._connection: int | None = None  # on which the answer is awaited
        self._owed: Counter[int] = Counter()  # by connection, how many times the server has yet to say it is ready
        self._owed_before = 0  # of these, how many answer what was asked before the chosen message

    def __call__(self, message: Passing) -> Verdict:
        owed = self._owed[message.connection]
        self._count(message)
        if self.happened.is_set():
            return "pass"
        if self._connection is not None:
            return self._answered(message)
        if not self._is_the_one(message):
            return "pass"
        if self._when == "seen":
            return self._say()
        self._connection, self._owed_before = message.connection, owed
        return "pass"

    def _count(self, message: Passing) -> None:
        if message.direction == "to server":
            self._owed[message.connection] += message.type in ASKS_FOR_READY
        elif self._owed[message.connection]:  # it is also ready when a client has just come in
            self._owed[message.connection] -= message.type == READY

    def _is_the_one(self, message: Passing) -> bool:
        if self._chosen(message):
            self._to_come -= 1
            return self._to_come == 0
        return False

    def _answered(self, message: Passing) -> Verdict:
        if message.connection != self._connection or message.direction == "to server":
            return "pass"
        if self._owed_before:
            self._owed_before -= message.type == READY
            return "pass"
        return self._say() if message.type == READY else "drop"

    def _say(self) -> Verdict:
        self.happened.set()
        return self._verdict
