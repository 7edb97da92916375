"""Many readers of live events and many claimers at one service, while jobs run: who sees what, and what it costs.

The service, the readers and the claimers are processes of their own. All jobs have the same life: made, claimed,
started and completed. What readers saw is held against the log of the store, event by event.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, ClassVar, Final

import msgspec
import urllib3

import detent
from tests.runtime.fleet.worker import until
from tests.store.processes.outcome import Outcome
from tests.store.processes.program import Line, Program
from tests.surfaces.http.crowd.following import LAST
from tests.surfaces.http.crowd.judging import Size, Told, judge_jobs, judge_readers
from tests.surfaces.http.crowd.manners import CAST

WORKER: Final = "crowd"
DAY_S: Final = 86_400.0  # the last job of a queue is not to be claimed


class Crowd(Program):
    package: ClassVar[str] = "tests.surfaces.http.crowd.programs"


def run_crowd(url: str, size: Size, *, seed: int) -> Outcome:
    outcome = Outcome()
    with Crowd("service", url=url, live=size.live, worker=WORKER) as service:
        here = service.hear()
        told = _crowded(service, here, size, seed)
    with detent.connect(url) as client:
        judge_jobs(outcome, client, told, size)
        judge_readers(outcome, client, told, size)
    outcome.expect(told.peak_mb <= size.peak_mb_max, f"the service had {told.peak_mb:.0f} MB at its peak")
    outcome.expect_equal("what the service complained of", told.complaints, "")
    outcome.summary = _summary(told, size, seed)
    return outcome


def _crowded(service: Crowd, here: Line, size: Size, seed: int) -> Told:
    with ExitStack() as running:
        readers = [running.enter_context(each) for each in _readers(here, size, seed)]
        claimers = [running.enter_context(each) for each in _claimers(here, size)]
        for program in (*readers, *claimers):
            program.hear()
        start_mb, began_s = _memory_mb(service, "VmRSS"), time.monotonic()
        with _asking(here) as ask:
            _make(ask, size)
            until(lambda: _has_ended(ask, size), "jobs have not ended", size.wait_s)
            took_s = time.monotonic() - began_s
            _enqueue(
                ask, [{"queue": queue, "job_id": f"{LAST}{queue}", "delay_s": DAY_S} for queue in size.queue_names]
            )
        seen = [line for program in readers for line in program.ended(size.wait_s)]
        for program in claimers:
            program.say(enough=True)
        worked = [program.ended(size.wait_s)[0] for program in claimers]
        return Told(seen, worked, start_mb, _memory_mb(service, "VmHWM"), took_s, service.complaints)


def _readers(here: Line, size: Size, seed: int) -> Iterator[Crowd]:
    """All of a queue in one process, since they look at each other."""
    for process in range(size.processes):
        asked = [
            (CAST[number // size.queues % len(CAST)], size.queue_names[number % size.queues])
            for number in range(size.readers)
            if number % size.queues % size.processes == process
        ]
        yield Crowd(
            "reader", address=here["address"], token=here["reader"], readers=asked, pace=size.pace, seed=seed + process
        )


def _claimers(here: Line, size: Size) -> Iterator[Crowd]:
    """Half of them serve all queues, and half one each."""
    for process in range(size.processes):
        asked = [
            (f"{WORKER}/{number}", size.queue_names if number % 2 else [size.queue_names[number // 2 % size.queues]])
            for number in range(process, size.claimers, size.processes)
        ]
        yield Crowd("claimer", address=here["address"], token=here["worker"], claimers=asked)


@contextmanager
def _asking(here: Line) -> Iterator[Any]:
    headers = {"authorization": f"Bearer {here['maker']}", "content-type": "application/json"}
    with urllib3.PoolManager(headers=headers) as pool:

        def ask(method: str, path: str, body: object = None) -> Any:
            raw = None if body is None else msgspec.json.encode(body)
            answered = pool.request(method, here["address"] + path, body=raw)
            assert answered.status == 200, f"{path}: {answered.status} {answered.data[:1_000]!r}"
            return msgspec.json.decode(answered.data)

        yield ask


def _make(ask: Any, size: Size) -> None:
    """In batches over all queues, while the claimers take them."""
    for first in range(0, size.jobs, size.batch):
        numbers = range(first, min(first + size.batch, size.jobs))
        _enqueue(ask, [{"queue": size.queue_names[number % size.queues]} for number in numbers])


def _enqueue(ask: Any, items: Sequence[Mapping[str, object]]) -> None:
    requests = [{"verb": "enqueue", "kind": "k", "payload": {}, **item} for item in items]
    answers = ask("POST", "/v1/batch", {"requests": requests})["answers"]
    assert all("job" in answer for answer in answers), answers


def _has_ended(ask: Any, size: Size) -> bool:
    (ended,) = ask("GET", "/v1/counts?phase=ended")["counts"] or [{"jobs": 0}]
    return bool(ended["jobs"] == size.jobs)


def _memory_mb(program: Program, name: str) -> float:
    """`VmRSS`: resident now; `VmHWM`: the most there ever was. In millions of bytes."""
    status = Path(f"/proc/{program.pid}/status").read_text(encoding="utf-8")
    (line,) = [line for line in status.splitlines() if line.startswith(name)]
    return int(line.split()[1]) * 1_024 / 1e6


def _summary(told: Told, size: Size, seed: int) -> str:
    seen = sum(len(line["seen"]) for line in told.readers)
    cuts = sum(line["cuts"] + line["breaks"] for line in told.readers)
    resumed = sum(line["begun"] - 1 for line in told.readers)
    claims = sum(line["claims"] for line in told.claimers)
    return (
        f"seed {seed}: {size.jobs:,} jobs in {told.took_s:.1f} s ({size.jobs / told.took_s:,.0f}/s) by {size.claimers} "
        f"claimers in {claims:,} claims; {size.readers} readers of {size.queues} queues saw {seen:,} events, were cut "
        f"off {cuts} times and went on {resumed} times; the service had {told.start_mb:.0f} MB at first and "
        f"{told.peak_mb:.0f} MB at most"
    )
