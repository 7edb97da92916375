"""What the service writes into its log about engines."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.engines.playing import Puppet, puppet, scene
from tests.surfaces.http.process import Service, Services, until

Told = Callable[[], list[str]]


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with Services(tmp_path).running() as running:
        yield running


@pytest.fixture
def one(service: Service) -> Iterator[Puppet]:
    with puppet(service.url) as engine:
        engine.connected(service.token)
        yield engine


def lines(service: Service, logger: str = "detent.engines") -> list[str]:
    """All that this logger said, once the service has been stopped."""
    code, log = service.stopped()
    assert code == 0
    return [line.partition(" ")[2] for line in log.splitlines() if f" {logger}: " in line]


@pytest.mark.requirement("ENG-07")
def test_service_that_is_stopped_beside_an_engine_logs_no_error(service: Service, one: Puppet) -> None:
    one.registered("steady")
    job_id = scene(service)
    one.took(job_id)
    one.ask("job_started", {"jobId": job_id})
    _, log = service.stopped()

    assert " ERROR " not in log
    assert "engine steady has gone, with 1 job\n" in log


def test_rejected_offer_is_told_with_its_reason_which_forges_no_line(service: Service, one: Puppet) -> None:
    one.registered("picky")
    job_ids = [scene(service) for _ in range(2)]
    offered = one.heard("job_offer")[0]["job"]["jobId"]
    one.ask("job_reject", {"jobId": offered, "reason": "no textures\nforged" + "x" * 10_000})
    again = one.heard("job_offer")[0]["job"]["jobId"]
    one.ask("job_reject", {"jobId": again})
    said = [line for line in lines(service) if "rejects" in line]

    assert sorted([offered, again]) == sorted(job_ids)
    assert said[0].startswith(f"INFO detent.engines: engine picky rejects job {offered}: 'no textures")
    assert "\\nforged" in said[0]
    assert len(said[0]) < 400
    assert said[1] == f"INFO detent.engines: engine picky rejects job {again}"


@pytest.mark.requirement("ENG-03")
def test_failures_by_time_are_told_in_right_words(service: Service, one: Puppet) -> None:
    untaken = scene(service, kind="NOBODYS", policy={"timeouts": {"queued": 0.2}})
    one.registered("slow")
    slow = scene(service, policy={"timeouts": {"running": 0.2}})
    one.took(slow)
    one.ask("job_started", {"jobId": slow})
    until(lambda: {service.state(each) for each in (untaken, slow)} == {"failed"})
    said = lines(service, "detent.worker")

    assert any(f"job {untaken} has ended in 'failed' before any attempt: TimedOut: " in line for line in said)
    assert any(f"job {slow} has ended in 'failed' after 1 attempt: TimedOut: " in line for line in said)
