"""What has ended costs nothing: the work of a verb is the same with a long history in the file as with none."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from detent import SyncClient
from tests.store.sqlite.files import opened, run_to_success
from tests.store.sqlite.watching import watched

ENDED: Final = 20_000
GROWTH_MAX: Final = 1.2
Verb = Callable[[SyncClient], object]


VERBS: Final[dict[str, Verb]] = {
    "claim": lambda client: client.claim(worker="w"),
    "claim of some kinds": lambda client: client.claim(worker="w", kinds=["scan", "print"]),
    "claim and complete": lambda client: [
        client.complete(job.id, worker="w", attempt=1) for job in client.claim(worker="w", start=True)
    ],
    "enqueue": lambda client: client.enqueue("scan"),
    "enqueue with a dedupe key": lambda client: client.enqueue("scan", dedupe_key="once"),
    "get": lambda client: client.get("waiting-0"),
    "history": lambda client: client.history("waiting-0"),
    "reconcile": lambda client: client.reconcile(),
    "listing of what waits": lambda client: client.find(state="queued", limit=3),
    "count of what waits": lambda client: client.count(by=["queue"], phase="ready"),
    "count of a state": lambda client: client.count(by=["lifecycle", "kind"], state="queued"),
    "newest events": lambda client: client.recent(limit=3, verb="enqueue"),
    "newest events of a job": lambda client: client.recent(job_id="waiting-0"),
    "purge": lambda client: client.purge(["waiting-0"]),
    "events of a job": lambda client: client.events(job_id="waiting-0"),
    "page of the log": lambda client: client.events(limit=10),
}


@pytest.fixture(scope="module")
def long_history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path: Path = tmp_path_factory.mktemp("growth") / "jobs.db"
    with opened(path, synchronous="normal") as client:
        run_to_success(client, ENDED)
    return path


@pytest.mark.requirement("STD-13")
@pytest.mark.parametrize("what", VERBS)
def test_verb_takes_no_more_steps_after_a_long_history(what: str, path: Path, long_history: Path) -> None:
    before = steps_of(VERBS[what], path)
    copy = path.with_name("long.db")
    copy.write_bytes(long_history.read_bytes())
    after = steps_of(VERBS[what], copy)

    assert before > 0
    assert after <= before * GROWTH_MAX


@pytest.mark.requirement("STD-13", "DSP-12")
@pytest.mark.parametrize(
    "others",
    [{"delay_s": 3_600.0}, {"adapter_id": "gpu"}, {"kind": "other"}, {"queue": "elsewhere"}],
    ids=["for later", "for another adapter", "of another kind", "in another queue"],
)
def test_claim_takes_no_more_steps_for_jobs_that_are_not_for_it(path: Path, others: dict[str, Any]) -> None:
    claim: Verb = lambda client: client.claim(worker="w", kinds=["scan"], adapters=["cpu"])  # noqa: E731
    before = steps_of(claim, path)
    crowded = path.with_name("crowded.db")
    with opened(crowded, synchronous="normal") as client:
        client.enqueue_many([{"kind": "scan"} | others] * 5_000)
    after = steps_of(claim, crowded)

    assert after <= before * GROWTH_MAX


def steps_of(verb: Verb, path: Path) -> int:
    """Steps in SQLite's machine for one call, with ten jobs waiting that nobody has looked at yet."""
    with opened(path) as client:
        client.enqueue_many({"kind": "scan", "job_id": f"waiting-{number}"} for number in range(10))
    with watched() as watch, opened(path) as client:
        watch.reset()
        verb(client)
        return watch.steps
