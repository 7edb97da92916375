"""Hard cancels of endless loops in processes: how soon the worker learns of each, and how soon the process is gone.

The record has the moment of the cancel, the worker's log the one at which it learned of it, and the process is watched
from outside. All three are of one machine's clock; the log's goes by milliseconds.
"""

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import detent
from detent.client import SyncClient
from tests.runtime.fleet.figures import spread
from tests.runtime.fleet.worker import Worker, until
from tests.store.processes.outcome import Outcome

LEARNED_S_MAX: Final = 1.0
GONE_S_MAX: Final = 1.0
LOOK_S: Final = 0.001
WAIT_S: Final = 20.0


def run_endless(url: str, *, cancels: int) -> Outcome:
    """One after the other, with every setting as it is by default."""
    outcome, learned_s, gone_s = Outcome(), list[float](), list[float]()
    with detent.connect(url) as client, Worker("apps:endless", url, "w", children=1) as worker:
        for number in range(cancels):
            cancelled_at, learned_at, gone_at = _cancel(outcome, client, worker, f"job{number}")
            learned_s.append((learned_at - cancelled_at).total_seconds())
            gone_s.append((gone_at - learned_at).total_seconds())
        outcome.expect_equal("exit code of the worker", worker.terminate(), 0)
        outcome.expect_clean(client.verify())
    outcome.expect(max(learned_s) <= LEARNED_S_MAX, f"the worker learned of a cancel after {max(learned_s):.3f} s")
    outcome.expect(max(gone_s) <= GONE_S_MAX, f"a process was there {max(gone_s):.3f} s after its worker had learned")
    outcome.summary = (
        f"{cancels} endless loops cancelled the hard way; from the cancel on the record until the worker learned of "
        f"it: {spread(learned_s)}; from then until the process was gone: {spread(gone_s)}"
    )
    return outcome


def _cancel(outcome: Outcome, client: SyncClient, worker: Worker, job_id: str) -> tuple[datetime, datetime, datetime]:
    """When it was cancelled, when the worker learned of it, and when the process was gone."""
    client.enqueue("spin", job_id=job_id)
    line = worker.hear()
    outcome.expect_equal("the handler that began", line["began"], [job_id, 1])
    client.cancel(job_id, mode="hard")
    gone_at = _gone_at(line["pid"])
    learned_at = _learned_at(worker, job_id)
    job = client.get(job_id)
    outcome.expect_equal(f"job {job_id}", (job.state, job.attempt), ("cancelled", 1))
    assert job.ended_at is not None, "a job that is cancelled has ended"
    return job.ended_at, learned_at, gone_at


def _gone_at(pid: int) -> datetime:
    deadline_s = time.monotonic() + WAIT_S
    while _is_there(pid):
        assert time.monotonic() < deadline_s, f"process {pid} was not killed"
        time.sleep(LOOK_S)
    return datetime.now(UTC)


def _is_there(pid: int) -> bool:
    """One that is dead and not yet buried by its parent is not."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def _learned_at(worker: Worker, job_id: str) -> datetime:
    wanted = f"spin job {job_id} attempt 1 is to stop: cancelled"
    until(lambda: any(said == wanted for _, said in worker.logged()), f"worker did not log '{wanted}'")
    return next(at for at, said in worker.logged() if said == wanted)
