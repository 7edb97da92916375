"""Keeping leases, on a thread with a client of its own: no handler can keep it from its work.

It renews at the earlier of the heartbeat and half of what remains, and takes along what handlers saved and told. And
it looks, every so often, whether the jobs are still this worker's: so a cancel is learned of within that time, wherever
it came from.
"""

import threading
from collections.abc import Callable
from time import monotonic
from typing import Final

from detent import kernel
from detent.client import SyncClient
from detent.client.connecting import Connecting
from detent.client.sync import run as blocking
from detent.errors import DetentError
from detent.kernel.command import Command, Renew, ReportProgress
from detent.runtime.backing_off import Backoff
from detent.runtime.committer import request_of
from detent.runtime.observing import Observer
from detent.runtime.run import Key, Run
from detent.runtime.settings import Settings
from detent.runtime.stopping import LAST_WORD_S, Stopping
from detent.store import Reply

TICK_MAX_S: Final = 0.25
TICK_MIN_S: Final = 0.02
BATCH_MAX: Final = 500
PROGRESS_S: Final = 1.0  # between two that are told of one job
RETRY_MIN_S: Final = 0.1
SHORT_S: Final = 0.1  # a job that has not run for longer ends before anybody could cancel it, and is not looked at
JOIN_S: Final = 5.0


class Keeper:
    def __init__(
        self,
        connect: Callable[[], Connecting],
        live: dict[Key, Run],
        *,
        worker: str,
        settings: Settings,
        observer: Observer,
        stopping: Stopping,
        renewed: Callable[[Run], None],
    ) -> None:
        self._connect = connect
        self._live = live
        self._worker = worker
        self._settings = settings
        self._observer = observer
        self._stopping = stopping
        self._renewed = renewed
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="detent-keeper", daemon=True)
        self._look_s = 0.0

    def open(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Ask it to end; `join` waits for that."""
        self._closed.set()

    def join(self) -> None:
        """A store that does not answer is not waited for: the thread ends with the process then."""
        if self._thread.is_alive():
            self._thread.join(JOIN_S)

    def _run(self) -> None:
        patience = Backoff()
        while not self._closed.is_set():
            try:
                with self._connect() as client:
                    self._keep(client, patience)
            except DetentError as error:
                self._observer.troubled("lease keeper", error)
                patience.wait_for(self._closed)

    def _keep(self, client: SyncClient, patience: Backoff) -> None:
        while not self._closed.wait(self._tick_s()):
            runs = list(self._live.values())
            try:
                self.renew(client, [run for run in runs if self._is_due(run)])
                self._tell(client, [run for run in runs if self._has_progress(run)])
                self._look(client, runs)
                patience.succeeded()
            except DetentError as error:
                self._observer.troubled("lease keeper", error)
                patience.wait_for(self._closed)

    def _tick_s(self) -> float:
        """Until the next renewal or look is due. What begins meanwhile may have a short lease: so not for long."""
        look_s = self._look_s + self._settings.look_s
        first_s = min((run.renew_s for run in list(self._live.values())), default=look_s)
        return max(TICK_MIN_S, min(TICK_MAX_S, min(first_s, look_s) - monotonic()))

    def _is_due(self, run: Run) -> bool:
        is_ours = run.stop is None or run.stop.reason not in ("lost", "cancelled")
        return is_ours and run.renew_s <= monotonic() and not (run.is_ending and run.ways.requires_rev)

    def _has_progress(self, run: Run) -> bool:
        is_time = monotonic() - run.progress_told_s >= PROGRESS_S
        return run.progress is not None and is_time and not run.is_over

    def renew(self, client: SyncClient, due: list[Run]) -> None:
        """Extend these leases now."""
        for first in range(0, len(due), BATCH_MAX):
            batch = due[first : first + BATCH_MAX]
            saved = [run.checkpoint for run in batch]
            for run in batch:
                run.is_renewing = run.ways.requires_rev
                # Should it fail: again at half of what then remains.
                run.renew_s = monotonic() + max((run.lease_until_s - monotonic()) / 2, RETRY_MIN_S)
            try:
                self._ask_renewals(client, batch, saved)
            finally:
                for run in batch:
                    if run.is_renewing:
                        self._renewed(run)

    def _ask_renewals(self, client: SyncClient, batch: list[Run], saved: list[bytes | None]) -> None:
        commands: list[Command] = [
            Renew(worker=self._worker, attempt=run.attempt, checkpoint=checkpoint)
            for run, checkpoint in zip(batch, saved, strict=True)
        ]
        sent_s = monotonic()
        replies = self._asked(client, batch, commands)
        heard_s = monotonic()
        refused: list[Run] = []
        renewals = 0
        for run, checkpoint, reply in zip(batch, saved, replies, strict=True):
            if not isinstance(reply, Reply):
                refused.append(run)
            elif reply.answer == "applied":
                renewals += 1
                self._extended(run, reply.job, checkpoint, sent_s, heard_s)
        self._observer.renewed(renewals)
        if refused:
            self.look_at(client, refused)

    def _asked(self, client: SyncClient, runs: list[Run], commands: list[Command]) -> list[Reply | DetentError]:
        requests = [request_of(client.client.tenant, run, command) for run, command in zip(runs, commands, strict=True)]
        return blocking(client.client.store.apply(requests))

    def _extended(self, run: Run, job: kernel.Job, checkpoint: bytes | None, sent_s: float, heard_s: float) -> None:
        run.rev = job.rev
        run.hold(sent_s, heard_s)
        if checkpoint is not None and run.checkpoint is checkpoint:
            run.checkpoint = None
        self._heed(run, job, heard_s)

    def _tell(self, client: SyncClient, runs: list[Run]) -> None:
        """Progress, of each job at most once a second; the last word is told with the end."""
        if not runs:
            return
        told = [run.progress for run in runs]
        commands: list[Command] = [
            ReportProgress(worker=self._worker, attempt=run.attempt, progress=progress)
            for run, progress in zip(runs, told, strict=True)
            if progress is not None
        ]
        self._asked(client, runs, commands)
        for run, progress in zip(runs, told, strict=True):
            run.progress_told_s = monotonic()
            if run.progress is progress:
                run.progress = None

    def _look(self, client: SyncClient, runs: list[Run]) -> None:
        now_s = monotonic()
        if now_s - self._look_s < self._settings.look_s:
            return
        self._look_s = now_s
        self.look_at(client, [run for run in runs if now_s - run.began_s >= SHORT_S and not run.is_over])

    def look_at(self, client: SyncClient, runs: list[Run]) -> None:
        """See what others have made of these, and tell the handlers that are to stop."""
        for first in range(0, len(runs), BATCH_MAX):
            batch = runs[first : first + BATCH_MAX]
            ids = [run.job.spec.id for run in batch]
            jobs = blocking(client.client.store.get(client.client.tenant, ids))
            heard_s = monotonic()
            for run, job in zip(batch, jobs, strict=True):
                self._compare(run, job, heard_s)

    def _compare(self, run: Run, job: kernel.Job | None, heard_s: float) -> None:
        if run.is_ending:
            return  # what the store makes of that end says more
        if job is not None and job.owner == self._worker and job.attempt == run.attempt:
            if not run.is_renewing:
                run.rev = job.rev
            self._heed(run, job, heard_s)
            return
        if run.is_completing:
            return  # the handler's own transaction has ended it
        run.is_told_lost = True
        is_cancelled = job is not None and job.is_ended and job.attempt == run.attempt and _is_cancelled(job)
        if is_cancelled:
            self._stopping.stop(run, "cancelled", kill_s=heard_s)
        else:
            self._stopping.stop(run, "lost", kill_s=heard_s + LAST_WORD_S)

    def _heed(self, run: Run, job: kernel.Job, heard_s: float) -> None:
        """A cancel that was asked for. How much of the grace is left is reckoned from the last that the store did."""
        if job.cancel_by is not None and run.stop is None:
            self._stopping.stop(run, "cancel", kill_s=heard_s + max(job.cancel_by - job.updated_at, 0) / 1e6)


def _is_cancelled(job: kernel.Job) -> bool:
    return job.outcome == "cancelled" or (job.error is not None and job.error.category == "cancelled")
