"""Every campaign at full size, by name. tools/chaos.py runs them; their smaller selves are tests in this folder."""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from tests.postgres.server import Server
from tests.store.processes.claiming import run_claimers
from tests.store.processes.contending import run_contenders
from tests.store.processes.killing import run_kills
from tests.store.processes.limiting import run_limited
from tests.store.processes.loading import run_load
from tests.store.processes.outages import run_outages
from tests.store.processes.outcome import Outcome
from tests.store.processes.pausing import run_pauses
from tests.store.processes.pinning import run_pinned
from tests.store.processes.reconciling import run_reconcilers
from tests.store.processes.storming import run_storm
from tests.store.processes.tailing import run_tail

STORM_KILLS_PER_JOB: Final = 0.01
LONG_S: Final = 1_800.0
Campaign = Callable[[str], Outcome]  # given the address of an empty store


class Sizes(Struct, frozen=True):
    """What can be asked for."""

    seed: int
    kills: int = 200
    jobs: int = 5_000


def on_either(sizes: Sizes) -> dict[str, Campaign]:
    seed, jobs = sizes.seed, sizes.jobs
    storm_kills = round(jobs * STORM_KILLS_PER_JOB)
    return {
        "load": lambda url: run_load(url, seed=seed),
        "kills": lambda url: run_kills(url, seed=seed, kills=sizes.kills),
        "storm": lambda url: run_storm(url, seed=seed, jobs=jobs, kills=storm_kills, workers=16, wait_s=LONG_S),
        "limits": lambda url: run_limited(url, processes=8, workers=8, jobs=4_000, wait_s=LONG_S),
        "pauses": lambda url: run_pauses(url, owners=20, rounds=10),
    }


def on_sqlite(sizes: Sizes) -> dict[str, Campaign]:
    return {
        "claimers": run_claimers,
        "two writers": lambda url: run_contenders(url, writers=2, for_s=10, share_min=0.30),
        "four writers": lambda url: run_contenders(url, writers=4, for_s=10, share_min=0.10),
        "tail": run_tail,
        "reconcilers": run_reconcilers,
        **on_either(sizes),
    }


def on_postgres(sizes: Sizes, server: Server) -> dict[str, Campaign]:
    return {
        "one job": lambda url: run_claimers(url, processes=16, claimers=4, jobs=1),
        "claimers": lambda url: run_claimers(url, processes=16, claimers=4, jobs=50_000, wait_s=LONG_S),
        "outages": lambda url: run_outages(server, url, seed=sizes.seed, jobs=20_000, restarts=20, terminations=200),
        "tail": lambda url: run_tail(url, tellers=8, jobs=20_000, wait_s=LONG_S),
        "pinned": lambda url: run_pinned(url, pinned_s=60, free_s=20, share_min=0.60),
        "pinned, few at a time": lambda url: run_pinned(url, pinned_s=60, free_s=20, share_min=0.60, batch=10),
        "reconcilers": lambda url: run_reconcilers(url, reconcilers=4, jobs=2_000),
        **on_either(sizes),
    }
