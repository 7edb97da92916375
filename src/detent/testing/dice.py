"""The dice behind a load: what is enqueued, how an attempt goes on, what the policy says. Seeded."""

from collections.abc import Mapping
from random import Random
from typing import Any, Final

from detent.client import Job
from detent.lifecycle import Lifecycle, Policy, Retry
from detent.lifecycle.table import Route

ATTEMPTS_MAX: Final = 6  # from then on a worker does what it claimed, so that every load ends
LEASE_S: Final = 1.0

# Short of patience in different ways: what a missing worker costs is a lease, or only a run limit.
_POLICIES: Final[tuple[dict[str, Any], ...]] = (
    {"retry": Retry(max_attempts=3, base_s=0.02, max_s=0.1)},
    {"retry": Retry(max_attempts=3, base_s=0.02, max_s=0.1), "timeout_s": 0.4},
    {"retry": Retry(max_attempts=2, base_s=0.02, max_s=0.1, used_up="fail")},
)
# How an attempt goes on: its weight, its verb and what comes with it. What a lifecycle does not declare is left out.
WAYS: Final[dict[str, tuple[int, str, dict[str, Any]]]] = {
    "succeed": (50, "complete", {"result": {"pages": 3}}),
    "stumble": (14, "fail", {"error": {"type": "TransientError", "message": "try again"}}),
    "fail": (5, "fail", {"error": {"type": "PermanentError", "message": "never"}}),
    "go on": (10, "renew", {"checkpoint": {"page": 1}}),
    "give back": (6, "release", {}),
    "give up": (6, "stall", {}),
    "set aside": (3, "dead_letter", {"reason_code": "policy_violation", "stage": "exec"}),
    "stop": (2, "cancel", {}),
}
GO_MISSING: Final = "go missing"
START: Final = "start"
_MISSING_WEIGHT: Final = 8
_VERDICTS: Final = {"allow": 60, "throttle": 15, "hold": 15, "deny": 10}


class Dice:
    def __init__(self, seed: int) -> None:
        self._random = Random(seed)

    def chance(self, share: float) -> bool:
        return self._random.random() < share

    def up_to(self, most: int) -> int:
        return self._random.randint(1, most)

    def some(self, jobs: list[Job], most: int) -> list[Job]:
        return self._random.sample(jobs, min(len(jobs), most))

    def item(self, lifecycle: str) -> dict[str, Any]:
        """The arguments of an enqueue."""
        settings = {"lease_s": LEASE_S, "grace_s": 0.2} | self._random.choice(_POLICIES)
        if lifecycle == "engine" and self.chance(0.1):
            settings["timeouts"] = {"queued": 0.05}
        return {
            "kind": f"kind{self.up_to(3)}",
            "payload": {"number": self.up_to(1_000)},
            "lifecycle": lifecycle,
            "policy": Policy(allow_unusual_lease=True, **settings),
            "priority": self._random.randint(-1, 1),
            "delay_s": self._random.choice((0, 0, 0.05)),
        }

    def verdict(self) -> dict[str, Any]:
        verdict = self._draw(_VERDICTS)
        return {"verdict": verdict, "rule": "dice", "delay_s": 0.05 if verdict == "throttle" else 0.0}

    def way(self, lifecycle: Lifecycle, job: Job) -> str:
        """What the owner of a job does next."""
        declared = lifecycle.table.routes[job.state]
        is_last = job.attempt >= ATTEMPTS_MAX
        if START in declared and (is_last or self.chance(0.8)):
            return START
        if is_last:
            return "succeed"
        weights = {way: weight for way, (weight, verb, _) in WAYS.items() if _may(declared.get(verb), job)}
        return self._draw(weights | {GO_MISSING: _MISSING_WEIGHT})

    def _draw(self, weights: Mapping[str, int]) -> str:
        (drawn,) = self._random.choices(list(weights), list(weights.values()))
        return drawn


def _may(route: Route | None, job: Job) -> bool:
    """Whether the owner may ask for it."""
    if route is None:
        return False
    return "owner" in (route.roles_after_cancel if job.is_cancel_requested else route.roles)
