"""Nothing is lost and nothing runs twice, whatever is killed and whenever."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.bus.campaign import ENDS, kill_service, restart_bus, run_campaign
from tests.bus.playing import connection, job, submit, succeed, until, worker
from tests.bus.server import NatsServer
from tests.bus.site import BusSite

pytestmark = pytest.mark.requirement("DSP-09")


def test_service_that_is_killed_brings_the_rest_and_doubles_nothing(tmp_path: Path) -> None:
    outcome = run_campaign(tmp_path, jobs=300, kills=3, kill=kill_service, limit_s=60.0, seed=1)

    # A bus that stays, and workers that stay: there is no reason for any job to time out.
    assert outcome.states == {"SUCCEEDED": 300}
    assert all(outcome.left), "it was killed when all was done"
    assert len(outcome.ran) == 300
    assert set(outcome.ran.values()) == {1}
    assert outcome.unjudged == []
    assert outcome.violations == []


def test_bus_that_is_killed_loses_no_job_that_it_has_kept(tmp_path: Path) -> None:
    outcome = run_campaign(tmp_path, jobs=300, kills=2, kill=restart_bus, limit_s=5.0, seed=2)

    assert sum(outcome.states.values()) == 300
    assert all(outcome.left), "it was killed when all was done"
    assert set(outcome.states) <= set(ENDS)
    assert outcome.states["SUCCEEDED"] > 200
    assert set(outcome.ran.values()) == {1}
    assert outcome.unjudged == []
    assert outcome.violations == []


def test_services_that_share_a_bus_and_a_store_double_nothing_though_they_are_killed(tmp_path: Path) -> None:
    outcome = run_campaign(tmp_path, jobs=300, kills=4, kill=kill_service, limit_s=60.0, seed=3, services=2)

    assert outcome.states == {"SUCCEEDED": 300}
    assert all(outcome.left), "it was killed when all was done"
    assert len(outcome.ran) == 300
    assert set(outcome.ran.values()) == {1}
    assert outcome.unjudged == []
    assert outcome.violations == []


WORKER_PROGRAM = """
import asyncio, sys, time
from cap.worker import run_worker

async def work(request):
    print("taken", flush=True)
    time.sleep(600)

asyncio.run(run_worker(sys.argv[1], "job.chat.simple", work, sender_id="doomed"))
"""


def test_job_whose_worker_is_killed_times_out_after_its_limit_and_can_run_again(
    start: Callable[..., BusSite], nats_server: NatsServer
) -> None:
    site = start('[limits]\n"job.chat.simple" = 2.0\n')

    async def play(doomed: "subprocess.Popen[bytes]") -> str:
        assert doomed.stdout is not None
        async with connection(nats_server.url) as bus:
            await submit(bus, job("j1"))
            assert await asyncio.to_thread(doomed.stdout.readline) == b"taken\n"
            doomed.kill()
            await until(lambda: site.in_state("j1", "TIMEOUT"))
            async with worker(nats_server.url, succeed):
                assert site.service is not None
                status, again = await asyncio.to_thread(site.service.ask, "POST", "/v1/jobs/j1/rerun", {})
                assert status == 200, again
                await until(lambda: site.in_state(again["id"], "SUCCEEDED"))
                return str(again["parent_job_id"])

    program = [sys.executable, "-c", WORKER_PROGRAM, nats_server.url]
    with subprocess.Popen(program, stdout=subprocess.PIPE) as doomed:
        try:
            parent_id = asyncio.run(play(doomed))
        finally:
            doomed.kill()

    assert parent_id == "j1"
    ended = site.job("j1")
    assert ended is not None
    spent = datetime.fromisoformat(ended["ended_at"]) - datetime.fromisoformat(ended["claimed_at"])
    assert spent >= timedelta(seconds=2)
    assert site.events("j1")[-1]["verb"] == "time_out"


def test_service_serves_without_its_bus_and_joins_when_that_comes(tmp_path: Path) -> None:
    server = NatsServer(tmp_path)
    with BusSite(tmp_path, server.url, is_awaited=False) as site:
        assert site.service is not None
        job_id = site.service.enqueue("job.chat.simple", queue="job.chat.simple", lifecycle="dispatch", job_id="early")

        async def play() -> None:
            await until(lambda: "cannot be used" in site.log())
            with server:
                await asyncio.to_thread(site.wait_until_joined)
                async with connection(server.url) as bus, worker(server.url, succeed):
                    await submit(bus, job("late"))
                    await until(lambda: site.in_state("late", "SUCCEEDED"))
                    await until(lambda: site.in_state(job_id, "SUCCEEDED"))

        asyncio.run(play())
