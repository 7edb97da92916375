"""Readers that follow the log from other processes while several write: each event once, in order, none lost."""

import time
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import detent
from tests.store.processes.outcome import Outcome
from tests.store.processes.program import Program
from tests.store.processes.stores import all_events, url_of

SILENCE_S: Final = 20.0

Seen = list[tuple[str, str]]  # cursor and id of each event


def run_tail(folder: Path, *, writers: int = 3, events: int = 3_000) -> Outcome:
    outcome, url = Outcome(), url_of(folder)
    began_s = time.monotonic()
    with ExitStack() as running:
        whole = running.enter_context(_tailer(url, "0", events))
        half = running.enter_context(_tailer(url, "0", events // 2))
        tellers = [running.enter_context(Program("teller", url=url, events=events // writers)) for _ in range(writers)]
        for program in (whole, half, *tellers):
            program.hear()
        for teller in tellers:
            teller.say(go=True)
        (first,) = half.ended()
        rest = running.enter_context(_tailer(url, first["seen"][-1][0], events - events // 2))
        rest.hear()
        for teller in tellers:
            teller.ended()
        seen = whole.ended()[0]["seen"]
        in_two = first["seen"] + rest.ended()[0]["seen"]
    took_s = time.monotonic() - began_s
    with detent.connect(url) as client:
        written = [(event.cursor, event.id) for event in all_events(client)]
    outcome.expect_equal("events written", len(written), events)
    _judge(outcome, "a reader", seen, written)
    _judge(outcome, "a reader that another went on for", in_two, written)
    outcome.summary = (
        f"{writers} processes wrote {len(written)} events in {took_s:.1f} s; a reader saw {len(seen)} of them, "
        f"another {len(first['seen'])} and its successor the other {len(in_two) - len(first['seen'])}"
    )
    return outcome


def _tailer(url: str, after: str, read_max: int) -> Program:
    return Program("tailer", url=url, after=after, read_max=read_max, silence_s=SILENCE_S)


def _judge(outcome: Outcome, who: str, seen: list[list[str]], written: list[tuple[str | None, str]]) -> None:
    cursors = [int(cursor) for cursor, _ in seen]
    outcome.expect_equal(f"{who}: events seen twice", len(cursors) - len(set(cursors)), 0)
    outcome.expect(cursors == sorted(cursors), f"{who}: not in the order of the cursor")
    lost = {event_id for _, event_id in written} - {event_id for _, event_id in seen}
    outcome.expect_equal(f"{who}: events lost", sorted(lost), [])
    outcome.expect([tuple(each) for each in seen] == written, f"{who}: saw something else than the log has")
