"""What a trial leaves on the record is what a real worker leaves there, job by job and event by event."""

import asyncio
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import pytest
from msgspec import Struct

from detent import Job, SyncClient
from detent.client.addresses import store_of
from detent.runtime import Settings, Worker
from detent.testing import Trial
from tests.testing.trial.lives import PAYLOADS, app

PATIENCE_S: Final = 60
QUICK: Final = Settings(look_s=0.05, poll_s=0.02, reconcile_s=0.05, gate_s=0.05)


class Told(Struct, frozen=True):
    """All of a job that does not depend on when and by whom it was run."""

    kind: str
    path: list[tuple[str, str, str]]  # verb, state, role
    outcome: str | None
    result: Any
    checkpoint: Any
    error: tuple[Any, ...] | None
    counts: tuple[int, int, int, int]
    notes: list[str]
    children: list["Told"]


def enqueue_all() -> dict[str, str]:
    """By kind; and one with a payload that its function does not take."""
    client = app.client()
    ids = {
        each.kind: client.enqueue(
            each.kind, PAYLOADS[each.kind], lifecycle=each.lifecycle.name, policy=each.policy, submit=True
        ).id
        for each in app.registrations()
    }  # fmt: skip
    return {**ids, "misfit": client.enqueue("plain", {"word": 5}).id}


def told(client: SyncClient, job: Job) -> Told:
    error = job.error
    return Told(
        kind=job.kind,
        path=[(each.verb, each.to_state, each.role) for each in client.history(job.id) if each.verb != "renew"],
        outcome=job.outcome,
        result=job.result if job.kind != "family" else None,
        checkpoint=job.checkpoint,
        error=None if error is None else (error.type, error.message, error.code, error.stage, error.category),
        counts=(job.attempt, job.failures, job.crashes, job.retries),
        # A busy worker may take a second for what the trial does at once, and tells progress once a second.
        notes=list(dict.fromkeys(each.kind for each in client.notes(job.id))),
        children=sorted(
            (told(client, each) for each in client.find(parent_job_id=job.id)), key=lambda each: each.kind
        ),
    )  # fmt: skip


def by_worker(folder: Path) -> dict[str, Told]:
    with app.on_store(lambda: store_of(f"sqlite:///{folder}/worker.db?synchronous=normal", {})), app:
        ids = enqueue_all()
        asyncio.run(work_off())
        return {kind: told(app.client(), app.client().get(job_id)) for kind, job_id in ids.items()}


async def work_off() -> None:
    worker = Worker(app.connector(), app.handlers(), settings=QUICK)
    running = asyncio.create_task(worker.run())
    client = await app.aclient()
    async with asyncio.timeout(PATIENCE_S):
        while set(await client.count(by=["phase"])) != {("ended",)}:
            await asyncio.sleep(0.05)
    worker.stop()
    await running


def by_trial(folder: Path) -> dict[str, Told]:
    with Trial(app, f"sqlite:///{folder}/trial.db?synchronous=normal") as jobs:
        ids = enqueue_all()
        jobs.drain(until="idle")
        return {kind: told(jobs.client, jobs.client.get(job_id)) for kind, job_id in ids.items()}


@cache
def both() -> tuple[dict[str, Told], dict[str, Told]]:
    with TemporaryDirectory() as folder:
        return by_worker(Path(folder)), by_trial(Path(folder))


@pytest.mark.parametrize("kind", [*PAYLOADS, "misfit"])
def test_record_of_a_trial_is_that_of_a_worker(kind: str) -> None:
    worker, trial = both()

    assert trial[kind] == worker[kind]
