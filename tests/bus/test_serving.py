"""`detent serve` with a bus: what it is told, what it refuses, and what it finds when it comes back."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bus.playing import TOPIC, connection, job, listening, submit, succeed, until, worker
from tests.bus.server import NatsServer
from tests.bus.site import BusSite
from tests.surfaces.http.process import Services
from tests.surfaces.http.process import until as until_served

pytestmark = pytest.mark.requirement("DSP-09")
RULES = """
[[rule]]
name = "no-chat"
topic = "job.chat.*"
verdict = "deny"
"""


@pytest.mark.requirement("DSP-08")
def test_job_that_the_rules_deny_never_reaches_its_pool(start: Callable[..., BusSite], tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(RULES, encoding="utf-8")
    site = start('rules = "rules.toml"\n')
    ran: list[str] = []

    async def keep(request: Any) -> Any:
        ran.append(request.job_id)
        return await succeed(request)

    async def play() -> None:
        async with connection(site.nats_url) as bus, worker(site.nats_url, keep):
            results = await listening(bus, "sys.job.result")
            await submit(bus, job("j1"))
            await until(lambda: site.in_state("j1", "DENIED"))
            await until(lambda: results.packets)

    asyncio.run(play())

    found = site.job("j1")
    assert found is not None
    assert (found["verdict"], found["rule"]) == ("deny", "no-chat")
    assert ran == []


def test_job_that_was_claimed_and_not_published_is_published_at_the_next_start(site: BusSite) -> None:
    def claim() -> list[str]:
        with site.services.site.client() as client:
            return [each.state for each in client.claim(worker=TOPIC, queues=[TOPIC], role="scheduler")]

    async def play() -> None:
        async with connection(site.nats_url) as bus:
            await submit(bus, job("j1"))
            await until(lambda: site.in_state("j1", "SCHEDULED"))
            site.kill()
            assert await asyncio.to_thread(claim) == ["DISPATCHED"]
            async with worker(site.nats_url, succeed):
                await asyncio.to_thread(site.start)
                await until(lambda: site.in_state("j1", "SUCCEEDED"))

    asyncio.run(play())


@pytest.mark.parametrize(
    ("arguments", "settings", "said"),
    [
        (["--bus", "bus.toml"], "", "no --nats"),
        (["--nats", "nats://127.0.0.1:1", "--read-only"], "", "--read-only"),
        (["--nats", "nats://127.0.0.1:1", "--bus", "bus.toml"], "topics = ['sys.>']", "belongs to the bus itself"),
        (["--nats", "nats://127.0.0.1:1", "--bus", "bus.toml"], "rules = 'none.toml'", "none.toml"),
        (["--nats", "nats://127.0.0.1:1", "--bus", "bus.toml"], "key = 'none.pem'", "none.pem"),
        (["--nats", "nats://127.0.0.1:1", "--bus", "bus.toml"], "credentials = 'none.creds'", "none.creds"),
        (["--nats", "nats://127.0.0.1:1", "--bus", "bus.toml"], "[keys]", "give key, too"),
        (["--nats", "nats://127.0.0.1:1", "--bus", "bus.toml"], "name = 'job'", "would come back"),
        (["--nats", "nats://127.0.0.1:1", "--bus", "bus.toml"], "topics = ['job.>', 'job.a.>']", "is in 'job.>'"),
        (["--nats", "nats://127.0.0.1:1", "--bus", "bus.toml"], "topics = ['a.b.>', 'a-b.>']", "too much alike"),
        (["--nats", "nats://127.0.0.1:1", "--bus", "bus.toml"], "limits = {'job.*' = 2}", "without wildcards"),
        (["--nats", "nats://127.0.0.1:port"], "", "no address of a bus"),
        (["--nats", "nats://127.0.0.1:1", "--bus", "other.toml"], "", "other.toml"),
    ],
)
def test_what_cannot_be_a_bus_is_told_before_anything_is_opened(
    tmp_path: Path, arguments: list[str], settings: str, said: str
) -> None:
    (tmp_path / "bus.toml").write_text(settings, encoding="utf-8")
    there = [str(tmp_path / each) if each.endswith(".toml") else each for each in arguments]

    code, told = Services(tmp_path).refused(*there)

    assert code != 0
    assert said in told


@pytest.mark.parametrize("package", ["nats", "google.protobuf", "cryptography"])
def test_missing_packages_are_named(tmp_path: Path, package: str) -> None:
    asked = "main(['serve', '--port', '0', '--nats', 'nats://127.0.0.1:1'])"
    program = f"import sys; sys.modules['{package}'] = None; from detent.surfaces.cli import main; {asked}"
    environment = Services(tmp_path).site.environment()
    done = subprocess.run(
        [sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False, timeout=40
    )

    assert (done.returncode, done.stdout) == (1, "")
    assert "pip install 'detent[nats]'" in done.stderr


def test_banner_says_where_the_bus_is_and_no_secret(tmp_path: Path) -> None:
    with Services(tmp_path).started("--port", "0", "--nats", "nats://secret@127.0.0.1:1"):
        log = tmp_path / "serve.log"
        until_served(lambda: "for pools of workers" in log.read_text(encoding="utf-8"))
        until_served(lambda: "cannot be used" in log.read_text(encoding="utf-8"))

    told = log.read_text(encoding="utf-8")
    assert "nats://127.0.0.1:1" in told
    assert "secret" not in told


def test_service_on_a_bus_stops_in_good_order(site: BusSite) -> None:
    assert site.service is not None

    code, told = site.service.stopped()

    assert code == 0, told
    assert "Traceback" not in told
    assert "ERROR" not in told


def test_service_whose_bus_is_gone_stops_in_good_order(site: BusSite, nats_server: NatsServer) -> None:
    assert site.service is not None
    nats_server.stop()
    until_served(lambda: "is lost" in site.log())

    code, told = site.service.stopped()

    assert code == 0, told
    assert "Traceback" not in told
