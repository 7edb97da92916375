"""Workers that are no Python: those in docs/examples do real jobs over `detent serve` to the end, whoever is killed."""

import os
import shutil
import signal
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from detent.client import SyncClient, connect
from tests.surfaces.http.process import WAIT_S, Service, Services, until
from tests.surfaces.running import ROOT

EXAMPLES: Final = ROOT / "docs" / "examples"
QUICK: Final = {"lease_s": 3, "heartbeat_s": 1, "allow_unusual_lease": True, "retry": {"base_s": 0.1}}
JOBS: Final = 30


class Language:
    def __init__(self, program: str, file: str, quick: tuple[str, Any], result: Any) -> None:
        self.program, self.file, self.quick, self.result = program, file, quick, result

    def command(self) -> list[str]:
        found = shutil.which(self.program)
        assert found, (
            f"there is no {self.program} on this machine, and docs/examples/{self.file} needs it; see make setup"
        )
        return [found, str(EXAMPLES / self.file), "default"]


HOSTILE: Final = {"name": 'A"nn,"payload":{},"result":null,"result_ptr":null,\\', "id": "x", "attempt": 99}
NODE: Final = Language("node", "worker.mjs", ("greet", HOSTILE), {"greeting": f"Hello, {HOSTILE['name']}!"})
SHELL: Final = Language("sh", "worker.sh", ("count", {"name": "Ann"}), {"bytes": len('{"name":"Ann"}')})


@pytest.fixture(params=[NODE, SHELL], ids=["node", "shell"])
def language(request: pytest.FixtureRequest) -> Language:
    assert shutil.which("curl"), (
        "there is no curl on this machine, and docs/examples/worker.sh needs it; see make setup"
    )
    chosen: Language = request.param
    return chosen


@pytest.fixture
def services(tmp_path: Path) -> Services:
    return Services(tmp_path)


@contextmanager
def at_work(service: Service, language: Language, token: str | None = None) -> Iterator["subprocess.Popen[bytes]"]:
    token = token or service.token_for("other", "work")
    env = {**os.environ, "DETENT_URL": service.url, "DETENT_TOKEN": token}
    worker = subprocess.Popen(language.command(), env=env, stderr=subprocess.PIPE)
    try:
        yield worker
    finally:
        worker.kill()
        worker.communicate(timeout=WAIT_S)


def stopped(worker: "subprocess.Popen[bytes]") -> tuple[int, bytes]:
    worker.send_signal(signal.SIGTERM)
    _, err = worker.communicate(timeout=WAIT_S)
    return worker.returncode, err


def check(services: Services, job_ids: list[str], state: str = "succeeded") -> None:
    """Each has ended so, once; and the record is sound."""
    with connect(services.site.url) as client:
        assert Counter(client.get(job_id).state for job_id in job_ids) == {state: len(job_ids)}
        assert [job_id for job_id in job_ids if ends(client, job_id, state) != 1] == []
        assert client.verify().is_clean


def ends(client: SyncClient, job_id: str, state: str) -> int:
    return sum(event.to_state == state for event in client.history(job_id))


def test_worker_does_every_job_and_ends_well_when_it_is_told_to(services: Services, language: Language) -> None:
    kind, payload = language.quick
    with services.running() as service, at_work(service, language) as worker:
        job_ids = [service.enqueue(kind, payload, policy=QUICK) for _ in range(JOBS)]
        until(lambda: service.state(job_ids[-1]) == "succeeded")
        code, err = stopped(worker)
        results = [service.ask("GET", f"/v1/jobs/{job_id}")[1]["result"] for job_id in job_ids]

    assert (code, err) == (0, b"")
    assert results == [language.result] * JOBS
    check(services, job_ids)


def test_job_of_a_worker_that_is_killed_is_done_by_the_next(services: Services, language: Language) -> None:
    with services.running() as service:
        token = service.token_for("other", "work")
        job_id = service.enqueue("nap", {"seconds": 5}, policy=QUICK)
        with at_work(service, language, token) as worker:
            until(lambda: service.state(job_id) == "running")
            worker.kill()
            worker.wait(WAIT_S)
            until(lambda: service.state(job_id) != "running")  # nobody renews its lease any more
        with at_work(service, language, token) as worker:
            until(lambda: service.state(job_id) == "succeeded")
            assert stopped(worker)[0] == 0
        job = service.ask("GET", f"/v1/jobs/{job_id}")[1]

    assert (job["attempt"], job["crashes"], job["failures"]) == (2, 1, 0)
    check(services, [job_id])


def tells_of_nothing_but_the_outage(err: bytes) -> bool:
    """The one in shell says nothing at all."""
    return all(line.startswith(b"http://127.0.0.1:") for line in err.splitlines())


def test_worker_outlives_a_service_that_is_killed(services: Services, language: Language) -> None:
    kind, payload = language.quick
    with services.running() as service, at_work(service, language) as worker:
        job_ids = [service.enqueue(kind, payload, policy=QUICK) for _ in range(JOBS)]
        until(lambda: service.state(job_ids[3]) == "succeeded")
        service.kill()
        with services.running(port=service.port) as service:
            until(lambda: all(service.state(job_id) == "succeeded" for job_id in job_ids))
            code, err = stopped(worker)

    assert code == 0
    assert tells_of_nothing_but_the_outage(err)
    check(services, job_ids)


def test_worker_learns_that_its_job_is_to_be_cancelled(services: Services, language: Language) -> None:
    with services.running() as service, at_work(service, language) as worker:
        job_id = service.enqueue("nap", {"seconds": 3600}, policy=QUICK)
        until(lambda: service.state(job_id) == "running")
        service.ask("POST", f"/v1/jobs/{job_id}/request_cancel", {})
        until(lambda: service.state(job_id) == "cancelled")
        code, err = stopped(worker)
        history = service.ask("GET", f"/v1/jobs/{job_id}/events")[1]["events"]

    assert (code, err) == (0, b"")
    assert (history[-1]["verb"], history[-1]["worker"]) == ("cancel", "other"), history[-1]
    check(services, [job_id], "cancelled")


def test_lease_is_renewed_for_as_long_as_the_work_takes(services: Services, language: Language) -> None:
    with services.running() as service, at_work(service, language):
        job_id = service.enqueue("nap", {"seconds": 5}, policy=QUICK)
        until(lambda: service.state(job_id) == "succeeded")
        job = service.ask("GET", f"/v1/jobs/{job_id}")[1]

    assert job["attempt"] == 1
    check(services, [job_id])


def test_worker_that_is_told_to_stop_finishes_what_it_has_begun(services: Services, language: Language) -> None:
    with services.running() as service, at_work(service, language) as worker:
        job_id = service.enqueue("nap", {"seconds": 2}, policy=QUICK)
        until(lambda: service.state(job_id) == "running")
        code, err = stopped(worker)

        assert (code, err, service.state(job_id)) == (0, b"", "succeeded")


def test_worker_can_be_stopped_while_there_is_no_service(services: Services, language: Language) -> None:
    with services.running() as service, at_work(service, language) as worker:
        kind, payload = language.quick
        job_id = service.enqueue(kind, payload)
        until(lambda: service.state(job_id) == "succeeded")
        service.kill()

        code, err = stopped(worker)

    assert code == 0
    assert tells_of_nothing_but_the_outage(err)


def test_worker_fails_a_job_that_it_cannot_do(services: Services, language: Language) -> None:
    once = QUICK | {"retry": {"max_attempts": 1, "used_up": "fail"}}
    with services.running() as service, at_work(service, language):
        job_id = service.enqueue("nap", {"seconds": "soon"} if language is SHELL else None, policy=once)
        until(lambda: service.state(job_id) == "failed")
        error = service.ask("GET", f"/v1/jobs/{job_id}")[1]["error"]

    assert error["type"] == ("ExitCode" if language is SHELL else "TypeError")


def test_worker_whose_token_is_refused_says_so_and_ends(services: Services, language: Language) -> None:
    with services.running() as service, at_work(service, language, service.token_for("reader", "read")) as worker:
        _, err = worker.communicate(timeout=WAIT_S)

    assert worker.returncode == 1
    assert b"this needs the scope" in err


def test_node_worker_is_short_and_needs_no_package() -> None:
    lines = (EXAMPLES / "worker.mjs").read_text(encoding="utf-8").splitlines()

    assert len(lines) <= 40
    assert all('from "node:' in line for line in lines if line.startswith("import"))


@pytest.mark.parametrize(("file", "fence"), [("worker.mjs", "js"), ("worker.sh", "shell")])
def test_page_has_the_worker_as_it_is_tested(file: str, fence: str) -> None:
    page = (ROOT / "docs" / "how-to" / "work-from-other-languages.md").read_text(encoding="utf-8")

    assert f"```{fence}\n{(EXAMPLES / file).read_text(encoding='utf-8')}```\n" in page
