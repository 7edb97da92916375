"""The load over all five lifecycles while its processes are killed: what is left of it ends all the same."""

import time
from random import Random
from typing import Final

import detent
from tests.store.processes.loading import LIFECYCLES
from tests.store.processes.outcome import Outcome
from tests.store.processes.program import Program
from tests.store.processes.stores import all_jobs, by_state

LIFE_S: Final = (0.02, 0.3)


def run_storm(
    url: str, *, seed: int, jobs: int, kills: int, processes: int = 3, workers: int = 4, wait_s: float = 120
) -> Outcome:
    outcome, random = Outcome(), Random(seed)
    loads: list[Program] = []
    began_s = time.monotonic()
    try:
        shares = [jobs // LIFECYCLES] + [0] * (processes - 1)
        for number, share in enumerate(shares):
            loads.append(_loader(url, f"load{number}", random, share, workers, wait_s))
        for load in loads:
            load.hear()
            load.say(go=True)
        killed = _kill_and_replace(loads, url, random, kills, workers, wait_s)
        for load in loads:
            load.ended(wait_s)
    finally:
        for load in loads:
            load.close()
    took_s = time.monotonic() - began_s
    with detent.connect(url) as client:
        report, listed = client.verify(), all_jobs(client)
        outcome.expect(client.replay().is_same, "the log does not add up to the records")
    outcome.expect_clean(report)
    outcome.expect(killed > 0, "the work was done before anybody was killed")
    outcome.expect_equal("jobs", len(listed), jobs)
    outcome.expect_equal("jobs that never ended", [job.id for job in listed if not job.is_ended], [])
    outcome.expect_equal("events", report.events, sum(job.rev for job in listed))
    outcome.summary = (
        f"seed {seed}: {jobs} jobs over {LIFECYCLES} lifecycles, {killed} of the loads killed, {took_s:.0f} s: "
        f"{sum(job.is_ended for job in listed)} ended, {report.events} events, {sum(job.rev for job in listed)} revs, "
        f"{sum(job.crashes for job in listed)} crashes\n"
        f"    {by_state(listed)}"
    )
    return outcome


def _kill_and_replace(loads: list[Program], url: str, random: Random, kills: int, workers: int, wait_s: float) -> int:
    """Until so many were killed, or the work was done before."""
    for killed in range(kills):
        spare = _loader(url, f"spare{killed}", random, 0, workers, wait_s)
        loads.append(spare)
        spare.hear()
        time.sleep(random.uniform(*LIFE_S))
        spare.say(go=True)
        victim = loads.pop(random.randrange(len(loads) - 1))
        with victim:
            if not victim.is_running:
                victim.ended()
                return killed
            victim.kill()
    return kills


def _loader(url: str, name: str, random: Random, share: int, workers: int, wait_s: float) -> Program:
    seed = random.getrandbits(32)
    return Program("loader", url=url, name=name, seed=seed, share=share, workers=workers, wait_s=wait_s)
