"""What many processes do to one store or one service, and what befalls workers: `make chaos`. Exit 1 if anything went
wrong.

Every campaign has a smaller self in `tests/store/processes/`, `tests/runtime/fleet/`, `tests/surfaces/http/crowd/` or
`tests/bus/`. A seed comes again with `--seed`, though the moments at which the operating system lets processes run do
not. PostgreSQL is a server of its own, which is thrown away.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import SystemRandom
from typing import Final

from msgspec import Struct

from tests.bus.campaigns import of_bus
from tests.postgres.server import Server
from tests.runtime.fleet.campaigns import of_workers
from tests.store.processes.campaigns import Campaign, Sizes, on_postgres, on_sqlite
from tests.store.processes.outcome import Outcome
from tests.store.processes.stores import url_of
from tests.surfaces.http.crowd.campaigns import of_service

FAULTS_SHOWN: Final = 20
STORES: Final = ("sqlite", "postgresql")


class Ground(Struct, frozen=True):
    """Where campaigns take place. `new_store` gives the address of an empty one."""

    store: str
    campaigns: dict[str, Campaign]
    new_store: Callable[[], str]


@contextmanager
def ground(store: str, sizes: Sizes) -> Iterator[Ground]:
    others = of_workers(sizes) | of_service(sizes) | of_bus(sizes)
    if store == "sqlite":
        with tempfile.TemporaryDirectory(prefix="detent-chaos-") as folder:
            yield Ground(store, on_sqlite(sizes) | others, lambda: url_of(Path(tempfile.mkdtemp(dir=folder))))
    else:
        with Server() as server:
            yield Ground(store, on_postgres(sizes, server) | others, server.new_database)


def carried_out(where: Ground, name: str) -> Outcome:
    """One that breaks off is at fault; the others are still to come."""
    try:
        return where.campaigns[name](where.new_store())
    except AssertionError as error:
        return Outcome("it broke off", [str(error)])


def run(where: Ground, name: str) -> bool:
    """Whether nothing went wrong."""
    began_s = time.monotonic()
    outcome = carried_out(where, name)
    verdict = f"{len(outcome.faults)} faults" if outcome.faults else "ok"
    took_s = time.monotonic() - began_s
    print(f"{where.store}, {name}: {verdict}, {took_s:.0f} s in all\n    {outcome.summary}", flush=True)
    for fault in outcome.faults[:FAULTS_SHOWN]:
        print(f"    ! {fault}", flush=True)
    return not outcome.faults


def main() -> int:
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__)
    parser.add_argument("--seed", type=int, default=SystemRandom().getrandbits(32))
    parser.add_argument("--store", choices=STORES, help="only on this one")
    parser.add_argument("--kills", type=int, default=200, help="writers killed in the campaign 'kills'")
    parser.add_argument("--jobs", type=int, default=5_000, help="jobs in the campaign 'storm'")
    parser.add_argument("only", nargs="*", help="the campaigns to run; all of them if none is named")
    asked = parser.parse_args()
    sizes = Sizes(asked.seed, asked.kills, asked.jobs)
    with ExitStack() as open_grounds:
        grounds = [open_grounds.enter_context(ground(store, sizes)) for store in STORES if asked.store in (None, store)]
        known = dict.fromkeys(name for each in grounds for name in each.campaigns)
        unknown = set(asked.only) - set(known)
        if unknown:
            parser.error(f"there is no campaign {', '.join(sorted(unknown))}; there are {', '.join(known)}")
        print(f"seed {asked.seed}", flush=True)
        wanted = asked.only or known
        results = [run(where, name) for where in grounds for name in where.campaigns if name in wanted]
    print(f"{sum(results)} of {len(results)} campaigns without a fault", flush=True)
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
