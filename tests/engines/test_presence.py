"""Engines among the workers: from when on, with how much room, and until when."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.engines.playing import HURRIED, Puppet, puppet, scene
from tests.surfaces.http.process import Service, until

Engines = Callable[[], Puppet]


def listed(service: Service, name: str) -> dict[str, Any] | None:
    workers: list[dict[str, Any]] = service.ask("GET", "/v1/workers?within_s=86400")[1]["workers"]
    return next((each for each in workers if each["name"] == name), None)


def listed_with(service: Service, name: str, **wanted: Any) -> dict[str, Any]:
    """Once it is there as it should be: an engine is reported every few seconds."""
    found: list[dict[str, Any]] = []

    def is_so() -> bool:
        worker = listed(service, name)
        found[:] = [] if worker is None or worker | wanted != worker else [worker]
        return bool(found)

    until(is_so)
    return found[0]


@pytest.mark.requirement("ENG-07")
def test_engine_is_listed_with_its_room_its_version_and_since_it_registered(service: Service, engine: Engines) -> None:
    one = engine().connected(service.token)
    before = datetime.now(UTC)
    one.registered("listed", capacity=7, version="forge 2.1")
    after = datetime.now(UTC)
    worker = listed_with(service, "listed", slots=7)

    assert (worker["version"], worker["running"], worker["is_draining"]) == ("forge 2.1", 0, False)
    assert before <= datetime.fromisoformat(worker["started_at"]) <= after


def test_engine_that_says_nothing_of_its_version_has_none(service: Service, engine: Engines) -> None:
    engine().connected(service.token).registered("unversioned")

    assert listed_with(service, "unversioned")["version"] == "-"


def test_engine_that_takes_no_more_has_no_room_but_for_what_it_holds(service: Service, engine: Engines) -> None:
    one = engine().connected(service.token)
    one.registered("leaving", capacity=4, queues=["leaving"])
    job_id = scene(service, queue="leaving")
    one.took(job_id)
    one.ask("heartbeat", {"capacity": 0})

    listed_with(service, "leaving", slots=1, running=1, is_draining=True)
    one.ask("job_started", {"jobId": job_id})
    one.ask("job_complete", {"jobId": job_id})
    listed_with(service, "leaving", slots=0, running=0, is_draining=True)


@pytest.mark.requirement("ENG-07")
def test_engine_that_left_with_nothing_is_listed_no_more(service: Service, engine: Engines) -> None:
    one, two = engine().connected(service.token), engine().connected(service.token)
    one.registered("gone")
    two.registered("here")
    listed_with(service, "gone")
    one.disconnect()
    until(lambda: listed(service, "gone") is None)

    listed_with(service, "here")


@pytest.mark.requirement("ENG-07")
def test_engine_that_was_cut_off_is_listed_until_what_it_held_is_lost(service: Service) -> None:
    with puppet(service.url) as one:
        one.connected(service.token).registered("cut", queues=["cut"])
        job_id = scene(service, queue="cut", policy=HURRIED)
        one.took(job_id)
        one.ask("job_started", {"jobId": job_id})
        listed_with(service, "cut")
    assert service.state(job_id) == "running"
    until(lambda: listed(service, "cut") is None)

    assert service.state(job_id) == "failed"  # the closed socket alone took it from no list


@pytest.mark.requirement("ENG-07")
def test_engine_that_came_back_stays_listed(service: Service, engine: Engines) -> None:
    one = engine().connected(service.token)
    one.registered("back", queues=["back"])
    job_id = scene(service, queue="back")
    one.took(job_id)
    first = listed_with(service, "back", running=1)
    one.disconnect()
    one.connected(service.token)
    one.registered("back", queues=["back"], jobs=[{"jobId": job_id, "attempt": 1}])
    until(lambda: (listed(service, "back") or first)["started_at"] != first["started_at"])
    one.ask("job_started", {"jobId": job_id})
    one.ask("job_complete", {"jobId": job_id})

    listed_with(service, "back", running=0)
