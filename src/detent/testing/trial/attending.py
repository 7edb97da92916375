"""What a worker's lease keeper and watchdog do while handlers run, on the test's clock."""

from collections.abc import Iterable
from math import inf

from detent import kernel
from detent.client import SyncClient
from detent.client.connecting import Connecting
from detent.client.sync import run as blocking
from detent.kernel.clock import earliest
from detent.runtime.keeper import Keeper
from detent.runtime.observing import Observer
from detent.runtime.run import Key, Run
from detent.runtime.settings import Settings
from detent.runtime.stopping import Stopping
from detent.testing.trial.attempt import Attempt


class Attendant:
    """It uses the keeper's own verbs; only when they are due is decided here. Without an event loop only."""

    def __init__(self, client: SyncClient, worker: str, observer: Observer, stopping: Stopping) -> None:
        live: dict[Key, Run] = {}
        self._client = client
        self._worker = worker
        self._stopping = stopping
        self._keeper = Keeper(
            _no_connection, live, worker=worker, settings=Settings(), observer=observer, stopping=stopping,
            renewed=_free,
        )  # fmt: skip

    def next_at(self, runs: Iterable[Attempt]) -> int | None:
        """When something is to be done for one of these."""
        moments = [at for run in runs if not run.is_killed for at in (run.renew_at, run.kill_at)]
        return earliest(*moments)

    def attend(self, runs: list[Attempt], now: int) -> None:
        """Do what is due: extend leases, tell handlers to stop, give up those that do not."""
        held = [run for run in runs if not run.is_over]
        self._keeper.renew(self._client, [run for run in held if run.renew_at <= now and _is_ours(run)])
        self._keeper.look_at(self._client, list(held))
        for run, job in zip(held, self._read(held), strict=True):
            self._watch(run, job, now)

    def _watch(self, run: Attempt, job: kernel.Job | None, now: int) -> None:
        if job is not None and job.owner == self._worker and job.attempt == run.attempt:
            if run.renew_at <= now:
                run.kept(job, now)
            run.seen(job)
        if run.deadline_at is not None and run.deadline_at <= now:
            self._stopping.stop(run, "overtime", kill_s=inf)
        is_over = run.kill_at is not None and run.kill_at <= now
        if run.stop is not None and (is_over or not _is_ours(run)):
            run.is_killed = True

    def _read(self, runs: list[Attempt]) -> list[kernel.Job | None]:
        client = self._client.client
        return blocking(client.store.get(client.tenant, [run.job.id for run in runs]))


def _is_ours(run: Attempt) -> bool:
    return run.stop is None or run.stop.reason not in ("lost", "cancelled")


def _free(run: Run) -> None:
    """Nothing waits for a renewal here: both are done one after the other."""
    run.is_renewing = False


def _no_connection() -> Connecting:
    raise AssertionError("a keeper that is not opened makes no connection")
