"""Jobs with a limit in real workers: what is declared is what happens."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from detent import App, Limit, await_all
from detent.runtime import Settings, Worker

PATIENCE_S = 60
WORKERS = 3


@asynccontextmanager
async def working(app: App) -> AsyncIterator[None]:
    worker = Worker(app.connector(), app.handlers(), settings=Settings(children=1, look_s=0.1, poll_s=0.05))
    run = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        worker.stop()
        await asyncio.wait_for(run, PATIENCE_S)


def test_workers_run_no_more_jobs_of_a_key_at_once_than_its_limit(url: str) -> None:
    app = App(url)
    running: dict[str, int] = {"acme": 0, "duck": 0}
    peaks = dict(running)

    @app.job(limit=Limit(concurrency_max=2), limit_key="{customer}")
    async def render(customer: str) -> None:
        running[customer] += 1
        peaks[customer] = max(peaks[customer], running[customer])
        await asyncio.sleep(0.01)  # so that they could meet
        running[customer] -= 1

    async def whole() -> list[str]:
        async with app, AsyncExitStack() as workers:
            for _ in range(WORKERS):
                await workers.enter_async_context(working(app))
            handles = [await render.aenqueue(customer) for customer in ["acme"] * 10 + ["duck"] * 5]
            jobs = await await_all(handles, timeout_s=PATIENCE_S)
            assert (await (await app.aclient()).verify()).is_clean
            return [job.state for job in jobs]

    assert asyncio.run(whole()) == ["succeeded"] * 15
    assert peaks == {"acme": 2, "duck": 2}
