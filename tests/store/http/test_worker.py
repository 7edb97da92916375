"""Workers over HTTP with tokens that may do only what a worker needs: they run, are killed, and the service goes on."""

import asyncio
import os
import re
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import detent
from detent import Policy, Retry, SyncClient
from detent.errors import Forbidden, Unauthorized
from detent.runtime import Context, CronJob, Settings, Worker
from tests.runtime.working import Seen, handler, until
from tests.store.http.serving import Serving, served
from tests.surfaces.worker_site import Workers, done, ended, stopped
from tests.surfaces.worker_site import until as soon

SHORT = Policy(lease_s=1.0, heartbeat_s=0.5, allow_unusual_lease=True, retry=Retry(max_attempts=5, base_s=0.01))


class Place(NamedTuple):
    """Where the service is, and a client that may do everything."""

    server: Serving
    client: SyncClient

    @property
    def url(self) -> str:
        return self.server.url

    def token(self, *scopes: str, **more: Any) -> str:
        return self.client.create_token("box", scopes=scopes, **more).text


@pytest.fixture
def place(server: Serving, tmp_path: Path) -> Iterator[Place]:
    with served(server, tmp_path, reconcile_s=0.1) as token, detent.connect(server.url, token=token) as client:
        yield Place(server, client)


@pytest.fixture
def shop(place: Place, tmp_path: Path) -> Workers:
    folder = tmp_path / "shop"
    folder.mkdir()
    return Workers(folder, place.url)


def worker_at(url: str, token: str, *handlers: Any, **more: Any) -> tuple[Worker, Seen]:
    seen, settings = Seen(), Settings(poll_s=0.05, look_s=0.1, grace_s=5.0)
    given = {"settings": settings, "observer": seen, **more}
    return Worker(partial(detent.connect, url, token=token), handlers, **given), seen


async def at_work(worker: Worker, scene: Any) -> None:
    task = asyncio.create_task(worker.run())
    try:
        await scene
    finally:
        worker.stop()
        await asyncio.wait_for(task, 20)


def test_worker_with_the_scope_work_alone_runs_jobs_to_their_ends(place: Place) -> None:
    tries: list[int] = []

    async def scan(ctx: Context, pages: int) -> int:
        tries.append(ctx.checkpoint or 0)
        ctx.save(len(tries))
        ctx.progress(0.5, "half")
        if len(tries) < 3:
            raise detent.TransientError("again")
        return pages

    job = place.client.enqueue("scan", {"pages": 7}, policy=SHORT)
    worker, seen = worker_at(place.url, place.token("work"), handler("scan", scan, context=True))

    async def scene() -> None:
        await until(lambda: place.server.await_(_is_ended(place, job.id)))

    asyncio.run(at_work(worker, scene()))

    after = place.client.get(job.id)
    assert (after.outcome, after.result, after.attempt) == ("success", 7, 3)
    assert tries == [0, 1, 2]
    assert after.last_owner == worker.name
    assert worker.name.startswith("box/")
    assert seen.lines == ["failed scan TransientError"] * 2
    assert place.client.verify(all_tenants=True).is_clean


async def _is_ended(place: Place, job_id: str) -> bool:
    assert place.server.client is not None
    return (await place.server.client.get(job_id)).is_ended


def test_what_a_lost_claim_took_is_found_by_a_worker_that_may_see_nothing_else(place: Place) -> None:
    place.server.lose("/v1/claims")

    async def scan() -> str:
        return "done"

    job = place.client.enqueue("scan")
    worker, _ = worker_at(place.url, place.token("work"), handler("scan", scan))

    async def scene() -> None:
        await until(lambda: place.server.await_(_is_ended(place, job.id)))

    asyncio.run(at_work(worker, scene()))

    assert place.server.is_lost
    assert (place.client.get(job.id).result, place.client.get(job.id).attempt) == ("done", 1)


def test_what_the_token_does_not_allow_is_told_once_and_the_jobs_run(place: Place) -> None:
    async def tick() -> None: ...

    cron = CronJob(name="tick", cron="* * * * *", job={"kind": "tick"})
    job = place.client.enqueue("tick")
    worker, seen = worker_at(
        place.url, place.token("work"), handler("tick", tick), cron=[cron], policy=lambda job: "allow"
    )

    async def scene() -> None:
        await until(lambda: place.server.await_(_is_ended(place, job.id)))
        await until(lambda: len(seen.lines) == 2)

    asyncio.run(at_work(worker, scene()))

    told = sorted(seen.lines)
    assert [line.split()[:2] for line in told] == [["troubled", "gate"], ["troubled", "schedule"]]
    assert all("needs the scope 'operate'" in line for line in told)


def test_gate_and_calendar_go_on_where_the_token_allows_it(place: Place) -> None:
    async def tick() -> str:
        return "ticked"

    cron = CronJob(name="tick", cron="* * * * * *", job={"kind": "tick"})
    place.client.enqueue("judged", lifecycle="dispatch", submit=True, job_id="j")
    token = place.token("work", "operate", "submit")
    worker, _ = worker_at(place.url, token, handler("tick", tick), handler("judged", tick), cron=[cron])

    async def scene() -> None:
        await until(lambda: place.server.await_(_is_ended(place, "j")))
        await until(lambda: place.server.await_(_has_ticked(place)))

    asyncio.run(at_work(worker, scene()))

    assert place.client.get("j").rule == "default"
    assert place.client.find(kind="tick").items[0].result == "ticked"


async def _has_ticked(place: Place) -> bool:
    assert place.server.client is not None
    return any(job.is_ended for job in await place.server.client.find(kind="tick"))


def test_token_that_is_revoked_stops_nothing_but_its_worker(place: Place) -> None:
    """What it was at is given to others when the lease is over, and nothing of it is done twice."""
    begun = asyncio.Event()

    async def scan(ctx: Context) -> None:
        begun.set()
        while True:
            await ctx.acheck()
            await asyncio.sleep(0.01)

    job = place.client.enqueue("scan", policy=SHORT)
    worker, seen = worker_at(place.url, place.token("work"), handler("scan", scan, context=True))

    async def scene() -> None:
        await begun.wait()
        for token in await asyncio.to_thread(place.client.tokens):
            await asyncio.to_thread(place.client.revoke_token, token.id)
        await until(lambda: any("lost" in line for line in seen.lines))

    with pytest.raises(Unauthorized, match="was revoked"):
        asyncio.run(at_work(worker, scene()))

    soon(lambda: place.client.get(job.id).state == "queued")
    assert sum("was revoked" in line for line in seen.lines) < 30  # once by each duty, and by the keeper to the end


@pytest.mark.parametrize("is_tending", [False, True])
def test_worker_does_what_time_demands_where_the_service_leaves_that_to_workers(
    server: Serving, tmp_path: Path, is_tending: bool
) -> None:
    how: dict[str, Any] = {"reconcile_s": 0.1 if is_tending else None}
    with served(server, tmp_path, **how) as token, detent.connect(server.url, token=token) as client:
        place = Place(server, client)
        job = client.enqueue("scan", policy=SHORT)
        client.claim(worker="gone", start=True)
        worker, seen = worker_at(place.url, place.token("work", "operate"), handler("scan", lambda: 7, "thread"))

        async def is_done() -> bool:
            return (await asyncio.to_thread(client.get, job.id)).state == "succeeded"

        async def scene() -> None:
            await until(is_done)

        asyncio.run(at_work(worker, scene()))

        assert client.get(job.id).attempt == 2
        assert (worker.tally.reconciliations > 0) is not is_tending
    assert not any("reconcile" in line for line in seen.lines if "Forbidden" in line)


def test_worker_whose_token_may_not_claim_ends_and_says_so(place: Place) -> None:
    worker, _ = worker_at(place.url, place.token("submit", "read"), handler("scan", lambda: None, "thread"))

    with pytest.raises(Forbidden, match="scope 'work'"):
        asyncio.run(worker.run())


def test_detent_worker_runs_at_a_service_and_drains(
    shop: Workers, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DETENT_TOKEN", token := place.token("work"))
    with shop.at_work() as process:
        job = done(place.client, "scan", {"page": 1}, queue="ocr")
        in_child = done(place.client, "child_url")
        (here,) = place.client.workers()
        command = Path(f"/proc/{process.pid}/cmdline").read_bytes()
        code, out, err = stopped(process)

    assert (job.result, in_child.outcome) == (2, "success")
    assert here.name.startswith("box/")
    assert code == 0
    assert place.client.workers() == []
    assert token not in out + err
    assert token.encode() not in command
    assert re.search(r"2 done, 0 failed", err)


def test_job_of_a_killed_worker_is_given_to_another_by_the_service(
    shop: Workers, place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DETENT_TOKEN", place.token("work"))
    mark = tmp_path / "mark"
    job = place.client.enqueue("linger", {"mark": str(mark)}, policy=SHORT)
    with shop.at_work() as process:
        soon(mark.exists)
        os.kill(process.pid, signal.SIGKILL)
        ended(process)
    soon(lambda: place.client.get(job.id).state == "queued")
    mark.unlink()
    with shop.at_work() as process:
        soon(mark.exists)
        place.client.cancel(job.id)
        after = place.client.wait(job.id, timeout_s=40)
        code, _, _ = stopped(process)

    assert (after.outcome, after.attempt, code) == ("cancelled", 2, 0)
    assert "LeaseExpired" in str(after.record.last_error)
    assert place.client.verify(all_tenants=True).is_clean
