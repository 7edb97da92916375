"""Readers that follow the log from other processes while several work: each event once, a job's in order, none lost."""

import time
from contextlib import ExitStack
from typing import Final

import detent
from detent.client import SyncClient
from tests.store.processes.outcome import Outcome
from tests.store.processes.program import Program
from tests.store.processes.stores import all_events
from tests.store.processes.transactions import is_on_postgres

SILENCE_S: Final = 20.0
EVENTS_PER_JOB: Final = 4  # enqueue, claim, start, complete

Seen = list[tuple[str, str, str, int]]  # of each event: its cursor, its id, its job and the job's revision


def run_tail(url: str, *, tellers: int = 3, jobs: int = 750, wait_s: float = 60) -> Outcome:
    outcome, events = Outcome(), EVENTS_PER_JOB * jobs
    began_s = time.monotonic()
    with ExitStack() as running:
        whole = running.enter_context(_tailer(url, "0", events))
        half = running.enter_context(_tailer(url, "0", events // 2))
        telling = [running.enter_context(_teller(url, number, jobs // tellers)) for number in range(tellers)]
        for program in (whole, half, *telling):
            program.hear()
        for teller in telling:
            teller.say(go=True)
        (first,) = half.ended(wait_s)
        rest = running.enter_context(_tailer(url, first["seen"][-1][0], events - events // 2))
        rest.hear()
        held = sum(teller.ended(wait_s)[0]["held"] for teller in telling)
        seen = whole.ended(wait_s)[0]["seen"]
        in_two = first["seen"] + rest.ended(wait_s)[0]["seen"]
    took_s = time.monotonic() - began_s
    with detent.connect(url) as client:
        written = log_of(client)
    outcome.expect_equal("events written", len(written), events)
    for who, read in (("a reader", seen), ("a reader that another went on for", in_two)):
        judge(outcome, who, read, written)
        if not is_on_postgres(url):  # where transactions follow one another, readers see them in that order
            outcome.expect([tuple(each) for each in read] == written, f"{who}: saw something else than the log has")
    late = sum("~" in cursor for cursor, *_ in seen)
    outcome.summary = (
        f"{tellers} processes wrote {len(written)} events of {jobs} jobs in {took_s:.1f} s, {held} transactions held "
        f"open; a reader saw {len(seen)} of them, {late} past transactions under way, another {len(first['seen'])} "
        f"and its successor the other {len(in_two) - len(first['seen'])}"
    )
    return outcome


def log_of(client: SyncClient) -> Seen:
    return [(event.cursor or "", event.id, event.job_id, event.rev) for event in all_events(client)]


def _teller(url: str, number: int, jobs: int) -> Program:
    # Where one writes at a time, a transaction that is held open holds up everybody.
    hold_s = 0.03 if is_on_postgres(url) else 0.001
    return Program("teller", url=url, name=f"teller{number}", jobs=jobs, hold_s=hold_s)


def _tailer(url: str, after: str, read_max: int) -> Program:
    return Program("tailer", url=url, after=after, read_max=read_max, silence_s=SILENCE_S)


def judge(outcome: Outcome, who: str, seen: Seen, written: Seen) -> None:
    """Each event was seen, once, and after those before it of its job."""
    ids = [event_id for _, event_id, _, _ in seen]
    outcome.expect_equal(f"{who}: events seen twice", len(ids) - len(set(ids)), 0)
    lost = {event_id for _, event_id, _, _ in written} - set(ids)
    outcome.expect_equal(f"{who}: events lost", sorted(lost), [])
    revs: dict[str, int] = {}
    for _, event_id, job_id, rev in seen:
        outcome.expect(rev == revs.get(job_id, 0) + 1, f"{who}: {event_id} came after revision {revs.get(job_id, 0)}")
        revs[job_id] = rev
