"""Telemetry for those who watch: everything once, in its order, from wherever they left off; under old names too."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.engines.playing import Puppet, puppet, scene
from tests.surfaces.http.process import Service, Services

Engines = Callable[[], Puppet]
NAMES = ["JOB_QUEUED", "JOB_DISPATCHED", "JOB_RUNNING", "JOB_COMPLETED"]


def done(service: Service, one: Puppet, queue: str = "default") -> str:
    job_id = scene(service, queue=queue)
    one.took(job_id)
    one.ask("job_started", {"jobId": job_id})
    one.ask("job_progress", {"jobId": job_id, "progress": 25})
    one.ask("job_complete", {"jobId": job_id})
    return job_id


def seen(watcher: Puppet, names: list[str], job_id: str) -> list[Any]:
    told = [watcher.heard(name) for name in names]
    assert [each[0]["jobId"] for each in told] == [job_id] * len(names)
    return told


@pytest.mark.requirement("ENG-05")
def test_who_watches_is_told_of_every_step_and_of_progress(service: Service, engine: Engines) -> None:
    one, watcher = engine().connected(service.token), engine().connected(service.token)
    one.registered("watched", queues=["watched"])
    assert watcher.ask("watch", {"queue": "watched"})["accepted"]
    job_id = done(service, one, "watched")
    told = seen(watcher, NAMES, job_id)

    assert watcher.heard("JOB_PROGRESS")[0] == {"jobId": job_id, "progress": 25}
    assert told[1][0]["engineId"] == "watched"
    assert told[3][0]["duration"] >= 0
    done(service, one, "watched")
    assert watcher.ask("unwatch")["accepted"]


@pytest.mark.requirement("ENG-05")
def test_who_watches_again_after_a_cursor_has_neither_gap_nor_double(service: Service, engine: Engines) -> None:
    one, watcher = engine().connected(service.token), engine().connected(service.token)
    one.registered("resumed", queues=["resumed"])
    watcher.ask("watch", {"queue": "resumed"})
    first = done(service, one, "resumed")
    cursor = seen(watcher, NAMES, first)[1][1]
    watcher.disconnect()
    second = done(service, one, "resumed")
    watcher.connected(service.token)
    watcher.ask("watch", {"queue": "resumed", "after": cursor})
    told = [watcher.heard(name)[0]["jobId"] for name in [*NAMES[2:], *NAMES]]

    assert told == [first] * 2 + [second] * 4


def test_only_what_is_asked_for_is_told(service: Service, engine: Engines) -> None:
    one, watcher = engine().connected(service.token), engine().connected(service.token)
    one.registered("picked", queues=["picked"])
    watcher.ask("watch", {"jobId": "another"})
    done(service, one, "picked")
    service.enqueue("standard")
    watcher.ask("watch", {"jobType": "NONE"})

    assert not watcher.has_heard("JOB_QUEUED")
    assert not watcher.has_heard("JOB_PROGRESS")


@pytest.mark.requirement("ENG-09")
@pytest.mark.parametrize("is_legacy", [True, False])
def test_old_names_are_emitted_beside_the_new_ones_if_that_is_wanted(tmp_path: Path, is_legacy: bool) -> None:
    options = ["--legacy-events"] if is_legacy else []
    with Services(tmp_path).running(*options) as service, puppet(service.url) as one, puppet(service.url) as watcher:
        one.connected(service.token)
        one.registered("old")
        watcher.connected(service.token)
        watcher.ask("watch", {})
        job_id = done(service, one)
        told = seen(watcher, NAMES, job_id)

        assert watcher.has_heard("JOB_STARTED") == is_legacy
        if is_legacy:
            old = seen(watcher, ["JOB_STARTED", "JOB_FINISHED"], job_id)
            assert [each[0] for each in old] == [told[2][0], told[3][0]]
