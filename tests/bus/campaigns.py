"""The campaign on a service and its bus, at full size."""

import tempfile
from pathlib import Path
from typing import Final

from tests.bus.campaign import kill_service, run_campaign
from tests.store.processes.campaigns import Campaign, Sizes
from tests.store.processes.outcome import Outcome

KILLS: Final = 10
LIMIT_S: Final = 60.0


def of_bus(sizes: Sizes) -> dict[str, Campaign]:
    """On either store."""
    return {"bus": lambda url: run_bus(url, jobs=sizes.jobs, seed=sizes.seed)}


def run_bus(url: str, *, jobs: int, seed: int) -> Outcome:
    outcome = Outcome()
    with tempfile.TemporaryDirectory(prefix="detent-bus-") as folder:
        told = run_campaign(
            Path(folder), jobs=jobs, kills=KILLS, kill=kill_service, limit_s=LIMIT_S, seed=seed, url=url
        )
    outcome.expect_equal("jobs by state", told.states, {"SUCCEEDED": jobs})
    outcome.expect_equal("how often jobs ran", set(told.ran.values()), {1})
    outcome.expect_equal("jobs that ran", len(told.ran), jobs)
    outcome.expect_equal("jobs that ran without being allowed", told.unjudged, [])
    outcome.expect_equal("violations", told.violations, [])
    outcome.summary = f"seed {seed}: {jobs:,} jobs over the bus, {KILLS} kills of the service, {told.left} left at each"
    return outcome
