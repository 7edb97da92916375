"""The campaigns on a service and its bus, at full size."""

import tempfile
from pathlib import Path
from typing import Final

from tests.bus.campaign import ENDS, Kill, kill_service, restart_bus, run_campaign
from tests.bus.campaign import Outcome as Told
from tests.store.processes.campaigns import Campaign, Sizes
from tests.store.processes.outcome import Outcome

KILLS: Final = 10
LIMIT_S: Final = 60.0  # a stall of ten seconds or so is no reason to give up a job


def of_bus(sizes: Sizes) -> dict[str, Campaign]:
    """On either store."""
    return {
        "bus": lambda url: _killing(url, jobs=sizes.jobs, seed=sizes.seed),
        "bus restarts": lambda url: _restarting(url, jobs=sizes.jobs, seed=sizes.seed),
    }


def _killing(url: str, *, jobs: int, seed: int) -> Outcome:
    """The service, with bus and workers that stay: there is no reason for any job to time out."""
    outcome, told = _run(url, kill_service, jobs=jobs, seed=seed)
    outcome.expect_equal("jobs by state", told.states, {"SUCCEEDED": jobs})
    outcome.expect_equal("jobs that ran", len(told.ran), jobs)
    outcome.summary = f"seed {seed}: {jobs:,} jobs over the bus, {KILLS} kills of the service, {told.left} left at each"
    return outcome


def _restarting(url: str, *, jobs: int, seed: int) -> Outcome:
    """The bus: what it had handed to a worker when it was killed may have been lost on the way."""
    outcome, told = _run(url, restart_bus, jobs=jobs, seed=seed)
    outcome.expect_equal("jobs that ended", sum(told.states.values()), jobs)
    outcome.expect_equal("ends beside these", set(told.states) - set(ENDS), set())
    outcome.summary = f"seed {seed}: {jobs:,} jobs over the bus, {KILLS} kills of the bus: {told.states}"
    return outcome


def _run(url: str, kill: Kill, *, jobs: int, seed: int) -> tuple[Outcome, Told]:
    outcome = Outcome()
    with tempfile.TemporaryDirectory(prefix="detent-bus-") as folder:
        told = run_campaign(Path(folder), jobs=jobs, kills=KILLS, kill=kill, limit_s=LIMIT_S, seed=seed, url=url)
    outcome.expect_equal("how often jobs ran", set(told.ran.values()), {1})
    outcome.expect_equal("jobs that ran without being allowed", told.unjudged, [])
    outcome.expect_equal("violations", told.violations, [])
    return outcome, told
