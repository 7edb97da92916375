"""How readers behave. Each of them comes to see all events of its queue; they differ in what they make of it."""

from collections.abc import Callable, Coroutine
from random import Random
from typing import Final

from msgspec import Struct

from tests.surfaces.http.crowd.following import Reader

BEGINNING: Final = "0"


class Pace(Struct, frozen=True):
    """`behind`: by how many events a slow reader lets itself fall; `late`: after how many one begins that comes late.

    `patience`: how many events a restless one takes at a time, on average. `read_bytes`: what a reader holds unread.
    """

    behind: int
    late: int
    patience: int
    read_bytes: int = 4_096
    silence_s: float = 120.0


async def steady(reader: Reader, companion: Reader, pace: Pace, random: Random) -> Reader:
    """From the beginning to the end; who is cut off goes on."""
    while not reader.is_done:
        await reader.follow()
    return reader


async def restless(reader: Reader, companion: Reader, pace: Pace, random: Random) -> Reader:
    """It goes away in the middle of a stream, again and again."""
    while not reader.is_done:
        await reader.follow(1 + int(random.expovariate(1 / pace.patience)))
    return reader


async def slow(reader: Reader, companion: Reader, pace: Pace, random: Random) -> Reader:
    """It does not read at first, until it is so far behind that it must have been cut off."""
    async with reader.asked() as response:
        await companion.until(pace.behind)
        await reader.listen(response)
    return await steady(reader, companion, pace, random)


async def late(reader: Reader, companion: Reader, pace: Pace, random: Random) -> Reader:
    """It comes when much has happened, and wants to know all of it."""
    await companion.until(pace.late)
    reader.last_id = BEGINNING
    return await steady(reader, companion, pace, random)


MANNERS: Final[dict[str, Callable[[Reader, Reader, Pace, Random], Coroutine[None, None, Reader]]]] = {
    "steady": steady,
    "restless": restless,
    "slow": slow,
    "late": late,
}
# Of the readers of a queue, in turn.
CAST: Final = ("steady", "restless", "slow", "late", "restless")
