"""A transaction that somebody leaves open, so that nothing dead can be cleared away: work goes on at its pace."""

import time
from typing import Final

import psycopg

import detent
from tests.store.processes.gathering import gathered
from tests.store.processes.outcome import Outcome

WARM_UP_S: Final = 2.0
LATE_S_MAX: Final = 30.0
BACKLOG: Final = 5_000

Done = list[tuple[float, int]]  # when, how many jobs


def run_pinned(
    url: str, *, pinned_s: float, free_s: float, share_min: float, workers: int = 2, batch: int = 50
) -> Outcome:
    """Before it, during it and after it are compared, so that a machine that slows down meanwhile counts for both."""
    outcome = Outcome()
    with detent.connect(url) as client:
        client.enqueue_many({"kind": "k"} for _ in range(BACKLOG))
    given = [{"url": url, "name": f"w{number}", "batch": batch} for number in range(workers)]
    with gathered("drainer", given) as programs:
        began_s = time.monotonic() + WARM_UP_S
        pin_s, unpin_s = began_s + free_s, began_s + free_s + pinned_s
        until_s = unpin_s + free_s
        for program in programs:
            program.say(until_s=until_s)
        _sleep_until(pin_s)
        _pin(url, unpin_s)
        done = [each for program in programs for each in program.ended(free_s + LATE_S_MAX)[0]["done"]]
    with detent.connect(url) as client:
        outcome.expect_clean(client.verify())
    before, during, after = (_rate(done, *each) for each in ((began_s, pin_s), (pin_s, unpin_s), (unpin_s, until_s)))
    at_the_end = _rate(done, unpin_s - pinned_s / 4, unpin_s)
    share = during / ((before + after) / 2)
    outcome.expect(share >= share_min, f"it fell to {share:.0%} of what it was; at least {share_min:.0%} is wanted")
    outcome.summary = (
        f"{workers} workers, batches of {batch}: {before:.0f} jobs/s, then {during:.0f}/s while a transaction stayed "
        f"open for {pinned_s:g} s ({at_the_end:.0f}/s in the last quarter of it), then {after:.0f}/s: {share:.0%}"
    )
    return outcome


def _pin(url: str, until_s: float) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("select pg_current_xact_id()")
        _sleep_until(until_s)
        connection.rollback()


def _sleep_until(moment_s: float) -> None:
    time.sleep(max(moment_s - time.monotonic(), 0))


def _rate(done: Done, from_s: float, until_s: float) -> float:
    """Jobs per second."""
    return sum(jobs for at_s, jobs in done if from_s <= at_s < until_s) / (until_s - from_s)
