"""A demo's script: every job, when it is enqueued, and where it may end. The same seed gives the same script."""

from collections import Counter
from random import Random
from typing import Any, Final

import msgspec
from msgspec import Struct

from detent.lifecycle import Lifecycle, Policy, Retry
from detent.lifecycles import BUILT_IN
from detent.surfaces.cli.demo.scene import GRACE_S, LEASE_S, Scene
from detent.surfaces.cli.demo.scenes import CROWD, SCENES

QUEUE: Final = "demo"
JOBS_MIN: Final = 60  # room for every scene
JOBS_MAX: Final = 1_000
JOBS_PER_S: Final = 40
SPREAD_S: Final = (2.5, 12.0)  # over how long they come in: at the least, and at the most
FIRST_BY: Final = 0.5  # by this fraction of its time each scene has begun, one after the other
RETRY: Final = Retry(max_attempts=4, base_s=0.3, factor=2.0, max_s=1.0)


class Part(Struct, frozen=True):
    """One job of the script."""

    job_id: str
    lifecycle: str
    at_s: float
    scene: Scene

    def may_end(self, state: str, *, is_lost: bool) -> bool:
        """Whether it may end there. `is_lost`: it lost its worker, which some lifecycles answer with an end."""
        return state == self.scene.end or (is_lost and state in ends_of_lost(BUILT_IN[self.lifecycle]))

    def asked_for(self) -> list[dict[str, Any]]:
        """The arguments of `enqueue`, once or twice. Whoever has the same dedupe key does not know the job's id."""
        asked = self._asked()
        if self.scene.again is None:
            return [asked]
        asked[self.scene.again] = f"{self.job_id}-key"
        return [asked, asked | {"job_id": None} if self.scene.again == "dedupe_key" else asked]

    def _asked(self) -> dict[str, Any]:
        scene = self.scene
        return {
            "kind": scene.kind,
            "job_id": self.job_id,
            "lifecycle": self.lifecycle,
            "queue": QUEUE,
            "payload": {"acts": msgspec.to_builtins(scene.acts)},
            "policy": self.policy(),
            "parent_job_id": None if scene.parent is None else job_id_of(scene.parent, 1),
            **scene.asked,
        }

    def policy(self) -> Policy:
        settings = {"lease_s": LEASE_S, "allow_unusual_lease": True, "grace_s": GRACE_S, "retry": RETRY}
        return BUILT_IN[self.lifecycle].policy(**(settings | self.scene.policy))


def write_script(jobs: int, seed: int) -> list[Part]:
    """So many jobs, in the order in which they are enqueued: every scene once, and the rest by their shares."""
    random = Random(seed)
    scenes = [(lifecycle, scene) for lifecycle, of_it in SCENES.items() for scene in of_it]
    random.shuffle(scenes)
    shares = [scene.share for _, scene in scenes]
    more = Counter(scene.kind for _, scene in random.choices(scenes, shares, k=jobs - len(scenes)))
    spread_s = min(max(jobs / JOBS_PER_S, SPREAD_S[0]), SPREAD_S[1])
    parts = []
    for place, (lifecycle, scene) in enumerate(scenes):
        moments = _moments(random, scene, more[scene.kind], first=FIRST_BY * place / len(scenes))
        for number, moment in enumerate(moments, 1):
            parts.append(Part(job_id_of(scene.kind, number), lifecycle, moment * spread_s, scene))
    return sorted(parts, key=lambda part: (part.at_s, part.job_id))


def _moments(random: Random, scene: Scene, more: int, *, first: float) -> list[float]:
    """When the jobs of a scene come, as fractions of the whole: the first at its place, the others after it."""
    since, until = scene.when
    begin = since + (until - since) * first
    return [begin, *sorted(random.uniform(begin, until) for _ in range(more))]


def job_id_of(kind: str, number: int) -> str:
    return f"{kind}-{number:03d}"


def crowd(script: list[Part]) -> set[str]:
    """The slow jobs among which somebody is killed."""
    return {part.job_id for part in script if part.scene.when == CROWD}


def ends_of_lost(lifecycle: Lifecycle) -> frozenset[str]:
    """Where a lifecycle lets a job end whose worker was lost."""
    targets = lifecycle.table.targets[lifecycle.on_expiry]
    return frozenset(name for name in targets if lifecycle.by_name[name].phase == "ended")
