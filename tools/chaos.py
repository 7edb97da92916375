"""What many processes do to one SQLite store, at full size: `make chaos`. Exit 1 if anything went wrong.

Every campaign has a smaller self in `tests/store/processes/`. A seed comes again with `--seed`, though the moments at
which the operating system lets processes run do not.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from random import SystemRandom
from typing import Final

from tests.store.processes.claiming import run_claimers
from tests.store.processes.contending import run_contenders
from tests.store.processes.killing import run_kills
from tests.store.processes.loading import run_load
from tests.store.processes.outcome import Outcome
from tests.store.processes.reconciling import run_reconcilers
from tests.store.processes.storming import run_storm
from tests.store.processes.tailing import run_tail

FAULTS_SHOWN: Final = 20
KILLS: Final = 200
STORM_KILLS_PER_JOB: Final = 0.01

Campaign = Callable[[Path], Outcome]


def campaigns(seed: int, kills: int, jobs: int) -> dict[str, Campaign]:
    return {
        "claimers": run_claimers,
        "load": lambda folder: run_load(folder, seed=seed),
        "kills": lambda folder: run_kills(folder, seed=seed, kills=kills),
        "storm": lambda folder: run_storm(
            folder, seed=seed, jobs=jobs, kills=round(jobs * STORM_KILLS_PER_JOB), workers=16, wait_s=1_800
        ),
        "two writers": lambda folder: run_contenders(folder, writers=2, for_s=10, share_min=0.30),
        "four writers": lambda folder: run_contenders(folder, writers=4, for_s=10, share_min=0.10),
        "tail": run_tail,
        "reconcilers": run_reconcilers,
    }


def run(name: str, campaign: Campaign) -> bool:
    """Whether nothing went wrong."""
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="detent-chaos-") as folder:
        outcome = campaign(Path(folder))
    verdict = f"{len(outcome.faults)} faults" if outcome.faults else "ok"
    print(f"{name}: {verdict}, {time.monotonic() - began_s:.0f} s in all\n    {outcome.summary}", flush=True)
    for fault in outcome.faults[:FAULTS_SHOWN]:
        print(f"    ! {fault}", flush=True)
    return not outcome.faults


def main() -> int:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=SystemRandom().getrandbits(32))
    parser.add_argument("--kills", type=int, default=KILLS, help="writers killed in the campaign 'kills'")
    parser.add_argument("--jobs", type=int, default=5_000, help="jobs in the campaign 'storm'")
    parser.add_argument("only", nargs="*", help="the campaigns to run; all of them if none is named")
    asked = parser.parse_args()
    known = campaigns(asked.seed, asked.kills, asked.jobs)
    unknown = set(asked.only) - set(known)
    if unknown:
        parser.error(f"there is no campaign {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    print(f"seed {asked.seed}", flush=True)
    results = [run(name, campaign) for name, campaign in known.items() if not asked.only or name in asked.only]
    print(f"{sum(results)} of {len(results)} campaigns without a fault", flush=True)
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
