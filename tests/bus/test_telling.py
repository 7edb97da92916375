"""What the service says of its bus: in its log, and to Prometheus."""

import asyncio
import subprocess
from pathlib import Path

import pytest
from cap.progress import cancel_payload, emit_cancel

from tests.bus.playing import SENDER, connection, job, submit, succeed, until, worker
from tests.bus.server import PROGRAM, NatsServer
from tests.bus.site import BusSite
from tests.postgres.ports import free_port
from tests.surfaces.http.process import until as until_served

pytestmark = pytest.mark.requirement("DSP-09")


def told(site: BusSite) -> dict[str, float]:
    """The metrics of the bus, by name and labels."""
    assert site.service is not None
    lines = [line.rpartition(" ") for line in site.service.text("/metrics").splitlines()]
    return {name: float(value) for name, _, value in lines if name.startswith("detent_bus_")}


@pytest.mark.requirement("STD-16")
def test_metrics_tell_what_came_what_was_refused_and_what_was_sent(site: BusSite) -> None:
    async def play() -> dict[str, float]:
        async with connection(site.nats_url) as bus, worker(site.nats_url, succeed):
            await submit(bus, job("j1"))
            await emit_cancel(bus, cancel_payload(SENDER, "unknown", "why not", "ann"))
            await bus.publish("sys.job.submit", b"nonsense")
            await until(lambda: site.in_state("j1", "SUCCEEDED"))
            refused = 'detent_bus_refused_total{message="unreadable",code="bad_packet"}'
            return dict(await until(lambda: (found := told(site)).get(refused) and found))

    found = asyncio.run(play())

    assert found["detent_bus_connected"] == 1
    assert found['detent_bus_received_total{message="job_request"}'] == 1
    assert found['detent_bus_received_total{message="job_result"}'] == 1
    assert found['detent_bus_refused_total{message="job_cancel",code="not_found"}'] == 1
    assert found['detent_bus_sent_total{message="job_request"}'] == 1


def test_metrics_tell_that_the_bus_is_gone(site: BusSite, nats_server: NatsServer) -> None:
    nats_server.stop()

    until_served(lambda: told(site)["detent_bus_connected"] == 0)


def test_log_says_that_nobody_listens_at_the_address_of_the_bus(tmp_path: Path) -> None:
    with BusSite(tmp_path, f"nats://127.0.0.1:{free_port()}", is_awaited=False) as site:
        until_served(lambda: "cannot be used: " in site.log())

        assert "Connect call failed" in site.log()


def test_log_says_that_the_server_has_no_jetstream(tmp_path: Path) -> None:
    port = free_port()
    with subprocess.Popen([str(PROGRAM), "-a", "127.0.0.1", "-p", str(port), "-l", str(tmp_path / "nats.log")]) as bare:
        try:
            with BusSite(tmp_path, f"nats://127.0.0.1:{port}", is_awaited=False) as site:
                until_served(lambda: "its JetStream does not answer; start it with" in site.log())
        finally:
            bare.kill()
