"""What an owner may do by a lifecycle, asked once for each lifecycle and remembered."""

from typing import Final

from msgspec import Struct

from detent.client import Client
from detent.kernel import Job
from detent.lifecycle import Lifecycle
from detent.lifecycle.words import WORKING

# How an owner gives a job back, the best way first. Where there is neither, only time takes it back.
GIVING_BACK: Final = ("release", "stall")


class Ways(Struct, frozen=True):
    lifecycle: Lifecycle
    requires_rev: bool
    give_back: dict[str, str]  # by state
    time_out: frozenset[str]  # states in which the owner itself may say that time is over
    on_expiry: frozenset[str]  # states from which only the lease's end has a way back
    expired: frozenset[str]  # states that a job is in right after its lease has run out
    dead_letters: frozenset[str]  # states in which a job is one

    @staticmethod
    def of(lifecycle: Lifecycle) -> "Ways":
        routes = lifecycle.table.routes
        give_back = {
            state: next((verb for verb in GIVING_BACK if _may(lifecycle, state, verb)), "")
            for state in routes
        }  # fmt: skip
        time_out = frozenset(state for state in routes if _may(lifecycle, state, "time_out"))
        on_expiry = frozenset(state for state in routes if _only_expiry_leads_back(lifecycle, state))
        targets = lifecycle.table.targets
        expired = frozenset(targets.get(lifecycle.on_expiry, ())).difference(targets.get("requeue", ()))
        buried = frozenset(targets.get("dead_letter", ()))
        return Ways(lifecycle, lifecycle.requires_rev, give_back, time_out, on_expiry, expired, buried)


def _may(lifecycle: Lifecycle, state: str, verb: str) -> bool:
    route = lifecycle.table.routes[state].get(verb)
    return route is not None and bool(WORKING.intersection(route.by))


def _only_expiry_leads_back(lifecycle: Lifecycle, state: str) -> bool:
    routes = lifecycle.table.routes[state]
    expiry = routes.get(lifecycle.on_expiry)
    return "retry" not in routes and expiry is not None and expiry.recovery is not None


class Atlas:
    """The ways of every lifecycle that was met."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._known: dict[tuple[str, int], Ways] = {}

    async def learn(self, jobs: list[Job]) -> None:
        for spec in [job.spec for job in jobs]:
            if (spec.lifecycle, spec.lifecycle_version) not in self._known:
                lifecycle = await self._client.lifecycle(spec.lifecycle, spec.lifecycle_version)
                self._known[spec.lifecycle, spec.lifecycle_version] = Ways.of(lifecycle)

    def __getitem__(self, job: Job) -> Ways:
        """A KeyError says that they are to be learned first."""
        return self._known[job.spec.lifecycle, job.spec.lifecycle_version]
