"""Desks with several clerks: nobody who handed in a task waits for somebody else to come."""

import asyncio
import sys
from collections.abc import Iterator

import pytest

from detent.store.desk import Again, Desk, Outcome

ROUNDS = 3_000
AT_ONCE = 3


@pytest.fixture
def impatient() -> Iterator[None]:
    """Threads take turns as often as they can, so that whatever may come in between does."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def echo(group: list[int]) -> list[Outcome]:
    return [(number, None) for number in group]


@pytest.mark.usefixtures("impatient")
def test_every_task_is_answered_however_many_clerks_there_are() -> None:
    desk: Desk[int] = Desk("test", echo, echo, echo, echo)

    async def ask() -> None:
        for _ in range(ROUNDS):
            answers = await asyncio.wait_for(asyncio.gather(*[desk.do(number) for number in range(AT_ONCE)]), 5)
            assert answers == list(range(AT_ONCE))

    asyncio.run(ask())
    desk.close()


def test_task_that_cannot_be_done_yet_is_handed_in_again() -> None:
    tries: list[int] = []

    def reluctant(group: list[int]) -> list[Outcome]:
        tries.extend(group)
        return [(Again(0.001) if tries.count(number) < 3 else number, None) for number in group]

    desk: Desk[int] = Desk("test", reluctant)

    assert asyncio.run(desk.do(7)) == 7
    assert desk.do_here(8) == 8
    assert sorted(tries) == [7, 7, 7, 8, 8, 8]
    desk.close()
