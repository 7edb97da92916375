"""Fifty engines of the npm client that lose their connections, and their memory, while they work off 1,000 jobs."""

import json
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from detent.client import SyncClient, connect
from tests.engines.playing import FOLDER, KIND, node
from tests.surfaces.http.process import Service, Services, until

ENGINES: Final = 50
JOBS_EACH: Final = 20
SEED: Final = 20_261_118
POLICY: Final[dict[str, Any]] = {
    "lease_s": 3.0, "heartbeat_s": 1.0, "allow_unusual_lease": True, "timeouts": {"queued": 120, "dispatched": 5},
}  # fmt: skip
ENDS: Final = frozenset({"JOB_COMPLETED", "JOB_FAILED"})


@contextmanager
def fleet(service: Service, log: Path) -> Iterator[None]:
    asked = {"url": service.url, "token": service.token_for("fleet", "admin"), "engines": ENGINES, "seed": SEED}
    with log.open("w", encoding="utf-8") as said:
        process = subprocess.Popen(
            [node(), str(FOLDER / "fleet.mjs"), json.dumps(asked)], stdout=said, stderr=said, cwd=FOLDER
        )
    with process:
        try:
            yield
        finally:
            process.kill()


@pytest.mark.requirement("ENG-07", "ENG-10", "ENG-05", "ENG-08")
def test_every_job_ends_once_whatever_becomes_of_the_connections(tmp_path: Path, show: Callable[[str], None]) -> None:
    services, said = Services(tmp_path), tmp_path / "fleet.log"
    with services.running() as service, fleet(service, said):
        for _ in range(JOBS_EACH):
            asked = [{"verb": "enqueue", "kind": KIND, "lifecycle": "engine", "policy": POLICY} for _ in range(ENGINES)]
            status, _ = service.ask("POST", "/v1/batch", {"requests": asked})
            assert status == 200
        query = "/v1/counts?lifecycle=engine&by=outcome"
        total = ENGINES * JOBS_EACH

        def is_over() -> bool:
            counts = service.ask("GET", query)[1]["counts"]
            return bool(sum(each["jobs"] for each in counts if each["values"] != [None]) == total)

        until(is_over)
        stopped = service.stopped()

    assert stopped[0] == 0
    with connect(services.site.url) as client:
        report = client.verify()
        types = types_of(client)
        failed = [job.error for job in client.find(outcome="failure", limit=1_000)]
        replayed = client.replay()
    told = [json.loads(line) for line in said.read_text(encoding="utf-8").splitlines() if line.startswith("{")]

    assert (len(types), report.violations, replayed.differences) == (total, (), [])
    assert {events[0] for events in types.values()} == {"JOB_QUEUED"}
    assert {sum(each in ENDS for each in events) for events in types.values()} == {1}
    assert max(Counter(each["jobId"] for each in told).values()) == 1  # no end was accepted twice
    categories = Counter(error.category for error in failed if error is not None)
    show(f"{ENGINES} engines, {total} jobs: {total - len(failed)} completed, failed {dict(categories)}")


def types_of(client: SyncClient) -> dict[str, list[str]]:
    """Of the events of each job, in their order."""
    types: dict[str, list[str]] = {}
    cursor: str | None = None
    while True:
        page = client.events(limit=1_000, cursor=cursor)
        for event in page:
            types.setdefault(event.job_id, []).append(event.type)
        if len(page.items) < 1_000:
            return types
        cursor = page.cursor
