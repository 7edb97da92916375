"""The service is killed under load, and started again: whatever was answered is there, and nothing was done twice."""

import threading
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final

import urllib3

from detent.client import connect
from tests.client.conftest import store_kind, url
from tests.figures import Show
from tests.surfaces.http.process import WAIT_S, Service, Services, until

__all__ = ["store_kind", "url"]
SUBMITTERS: Final = 3
WORKERS: Final = 2
KILLS: Final = 3
BETWEEN: Final = 40  # jobs that are done between two kills


class Load:
    """Callers that give up on no request: one without an answer is sent again, with the same key."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self.over = threading.Event()
        self.made: list[str] = []
        self.done: list[str] = []
        self.repeats = 0

    def ask(self, path: str, body: dict[str, Any], key: str) -> tuple[int, Any]:
        while True:
            try:
                status, said = self.service.ask("POST", path, body, **{"idempotency-key": key})
                if status < 500:
                    return status, said
            except urllib3.exceptions.HTTPError:
                self.over.wait(0.05)
            self.repeats += 1

    def submit(self, name: str) -> None:
        number = 0
        while not self.over.is_set():
            number += 1
            status, job = self.ask("/v1/jobs", {"kind": "scan", "job_id": f"{name}-{number}"}, f"{name}-{number}")
            assert status in (200, 201), job
            self.made.append(job["id"])

    def work(self, name: str) -> None:
        claims = 0
        while not self.over.is_set():
            claims += 1
            claim = {"worker": name, "limit": 5, "start": True, "wait_s": 0.5}
            status, said = self.ask("/v1/claims", claim, f"{name}-{claims}")
            assert status == 200, said
            for job in said["jobs"]:
                self.finish(name, job)

    def finish(self, name: str, job: dict[str, Any]) -> None:
        fence = {"worker": name, "attempt": job["attempt"]}
        status, said = self.ask(f"/v1/jobs/{job['id']}/complete", fence, f"end-{job['id']}")
        assert status == 200, said
        self.done.append(job["id"])


def at_work(load: Load) -> list[threading.Thread]:
    submitters = [threading.Thread(target=load.submit, args=(f"s{each}",), daemon=True) for each in range(SUBMITTERS)]
    workers = [threading.Thread(target=load.work, args=(f"w{each}",), daemon=True) for each in range(WORKERS)]
    for thread in (*submitters, *workers):
        thread.start()
    return [*submitters, *workers]


def test_killed_service_has_lost_nothing_that_it_had_answered(tmp_path: Path, url: str, show: Show) -> None:
    services = Services(tmp_path, url)
    with ExitStack() as stack:
        load = Load(stack.enter_context(services.running()))
        threads = at_work(load)
        for goal in range(BETWEEN, BETWEEN * KILLS + 1, BETWEEN):
            until(partial(has_done, load, goal))
            load.service.kill()
            load.service = stack.enter_context(services.running(port=load.service.port))
        until(partial(has_done, load, BETWEEN * (KILLS + 1)))
        load.over.set()
        for thread in threads:
            thread.join(WAIT_S)

    assert not any(thread.is_alive() for thread in threads)
    with connect(url) as client:
        assert [job_id for job_id in load.done if client.get(job_id).state != "succeeded"] == []
        assert [client.get(job_id).id for job_id in load.made] == load.made
        assert client.verify().is_clean
    assert len({*load.done}) == len(load.done)
    counts = f"{len(load.made)} jobs made, {len(load.done)} done, {load.repeats} requests sent again"
    show(f"service killed {KILLS} times: {counts}")


def has_done(load: Load, goal: int) -> bool:
    return len(load.done) >= goal
