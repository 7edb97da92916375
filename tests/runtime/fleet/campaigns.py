"""Every scene of this folder at full size, by name, for tools/chaos.py. Their smaller selves are in test_fleet.py."""

from tests.runtime.fleet.blocked import run_blocked
from tests.runtime.fleet.deadly import run_deadly
from tests.runtime.fleet.effects import run_effects
from tests.runtime.fleet.endless import run_endless
from tests.runtime.fleet.idle import run_idle
from tests.runtime.fleet.lost import run_lost
from tests.runtime.fleet.rolling import run_rolling
from tests.runtime.fleet.zombies import run_zombies
from tests.store.processes.campaigns import Campaign, Sizes


def of_workers(sizes: Sizes) -> dict[str, Campaign]:
    """On either store."""
    seed = sizes.seed
    return {
        "lost workers": lambda url: run_lost(url, lease_s=5.0, rounds=10),
        "lost worker, usual lease": lambda url: run_lost(url, lease_s=30.0, rounds=1),
        "deadly jobs": lambda url: run_deadly(url, jobs=5, crashes_max=3),
        "blocked": lambda url: run_blocked(url, lease_s=30.0),
        "zombies": lambda url: run_zombies(url, workers=10),
        "endless loops": lambda url: run_endless(url, cancels=20),
        "effects": lambda url: run_effects(url, seed=seed, jobs=10_000, kills=25),
        "rolling restarts": lambda url: run_rolling(url, seed=seed, workers=4, rounds=10),
        "idle": lambda url: run_idle(url, jobs=20_000, settle_s=5.0),
    }
