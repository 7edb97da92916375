"""Scenes of a client and a program's own transaction, played on whatever the program holds that by."""

from collections.abc import Awaitable, Callable
from typing import Any

from detent import Client
from detent.client.connecting import Connecting
from tests.postgres.mine import Mine
from tests.postgres.transactors import begun, played

Scene = Callable[[Client, Mine], Awaitable[Any]]


class Stage:
    """One database, with a table of the program's own: `orders`."""

    def __init__(self, url: str, connect: Callable[[], Connecting]) -> None:
        self.url = url
        self._connect = connect

    def play(self, transactor: str, scene: Scene) -> Any:
        """What the scene returns. What it has neither committed nor rolled back is rolled back."""

        async def whole() -> Any:
            async with self._connect() as client, begun(transactor, self.url) as mine:
                return await scene(client, mine)

        return played(transactor, whole())


async def ids(client: Client) -> list[str]:
    return sorted(job.id for job in (await client.find(limit=1000)).items)


async def orders(mine: Mine) -> list[int]:
    return [number for (number,) in await mine.say("select number from orders order by number")]


async def is_sound(client: Client) -> bool:
    return (await client.verify()).is_clean
