"""Exhaustive exploration of the real kernel: every reachable world, judged by the history checker, and a way to an end.

    report = explore(STANDARD)            # 1 job, 3 workers, at most 2 faults in a history
    report = explore(STANDARD, jobs=2)    # 2 jobs, for what only claims can get wrong

A report without a counterexample means: no sequence of calls, crashes, pauses, duplicates, lost replies, expiries,
cancels and time limits within these bounds breaks an invariant, and from every world an end can be reached. Time
passes in jumps from one moment that the policy sets to the next; what happens between two of them is not searched.
"""

from collections import deque
from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from detent import kernel
from detent.audit import Violation
from detent.kernel import Change
from detent.kernel.command import Enqueue, Schedule
from detent.lifecycle import Compensation, Lifecycle, Policy, Retry
from detent.testing.actions import Actions
from detent.testing.machinery import Machinery
from detent.testing.world import Worker, World, key

# Small numbers with the same order among them as in life: a beat, two beats, a lease, a run limit.
POLICY: Final = Policy(
    lease_s=30,
    heartbeat_s=10,
    timeout_s=40,
    grace_s=10,
    retry=Retry(max_attempts=2, base_s=10, factor=1, jitter=False),
    compensate=Compensation(kind="undo"),
)
# Of a job that undoes another one's work, which has ended before the search begins.
UNDOING: Final = replace(POLICY, compensate=None, is_compensation=True)
CLAIMS_POLICY: Final = Policy(lease_s=30, retry=Retry(max_attempts=2, base_s=0))
PROGRESS_EVERY: Final = 2_000
SHOWN_MAX: Final = 3  # violations printed of one counterexample; the others follow from the first

Key = tuple[Any, ...]


class Counterexample(Struct, frozen=True):
    """How to get there, step by step, and what is broken then."""

    steps: tuple[str, ...]
    violations: tuple[Violation, ...]

    def __str__(self) -> str:
        steps = "".join(f"\n  {number}. {step}" for number, step in enumerate(self.steps, 1))
        broken = "".join(f"\n  {found.invariant}: {found.message}" for found in self.violations[:SHOWN_MAX])
        more = len(self.violations) - SHOWN_MAX
        rest = f"\n  … and {more} more" if more > 0 else ""
        return f"counterexample:{steps}\nbreaks:{broken}{rest}"


class Report(Struct, frozen=True):
    """What a search walked through: so many worlds (`states`) and steps between them. None: nothing was found."""

    lifecycle: str
    jobs: int
    workers: int
    faults: int
    states: int
    transitions: int
    counterexample: Counterexample | None


def explore(
    lifecycle: Lifecycle,
    *,
    jobs: int = 1,
    workers: int = 3,
    faults: int = 2,
    policy: Policy | None = None,
    machinery: Machinery | None = None,
    on_progress: Callable[[int, int], None] = lambda states, transitions: None,
) -> Report:
    machinery = machinery or Machinery(lifecycle)
    policy = policy or (POLICY if jobs == 1 else CLAIMS_POLICY)
    search = _Search(machinery, is_claims_only=jobs > 1, on_progress=on_progress)
    start = World(0, _enqueued(lifecycle, jobs, policy), (Worker((None,) * jobs),) * workers, faults_left=faults)
    counterexample = search.run(start)
    return Report(lifecycle.name, jobs, workers, faults, len(search.came_from), search.transitions, counterexample)


class _Search:
    """Breadth first within a number of faults, few faults first: a counterexample has no more of them than it needs.

    The same world with more faults still to come can do all that it can do with fewer, so it stands for both.
    """

    def __init__(self, machinery: Machinery, *, is_claims_only: bool, on_progress: Callable[[int, int], None]) -> None:
        self.machinery = machinery
        self.actions = Actions(machinery, is_claims_only=is_claims_only)
        self.on_progress = on_progress
        self.came_from: dict[Key, tuple[Key, str] | None] = {}
        self.leads_here: dict[Key, list[Key]] = {}
        self.ended: list[Key] = []
        self.transitions = 0

    def _key(self, world: World) -> Key:
        return key(world, is_last_owner_known=self.machinery.lifecycle.settles_repeats)

    def run(self, start: World) -> Counterexample | None:
        self.came_from[self._key(start)] = None
        frontiers: list[deque[World]] = [deque() for _ in range(start.faults_left + 1)]
        frontiers[start.faults_left].append(start)
        for frontier in reversed(frontiers):
            while frontier:
                found = self._expand(frontier.popleft(), frontiers)
                if found is not None:
                    return found
        self.on_progress(len(self.came_from), self.transitions)
        return self._stuck()

    def _expand(self, world: World, frontiers: list[deque[World]]) -> Counterexample | None:
        here = self._key(world)
        if all(job.phase == "ended" for job in world.jobs):
            self.ended.append(here)
        for label, reached in self.actions.steps(world):
            if self.machinery.violations:
                return self._counterexample(here, label)
            self.transitions += 1
            if reached is world:
                continue
            after = reached.settled()
            there = self._key(after)
            if there == here:
                continue
            self.leads_here.setdefault(there, []).append(here)
            if there not in self.came_from:
                self.came_from[there] = (here, label)
                frontiers[after.faults_left].append(after)
                if len(self.came_from) % PROGRESS_EVERY == 0:
                    self.on_progress(len(self.came_from), self.transitions)
        return None

    def _stuck(self) -> Counterexample | None:
        """A world from which no end can be reached, if there is one: walk back from all the ends."""
        alive, frontier = set(self.ended), list(self.ended)
        while frontier:
            for before in self.leads_here.get(frontier.pop(), ()):
                if before not in alive:
                    alive.add(before)
                    frontier.append(before)
        stuck = next((world for world in self.came_from if world not in alive), None)
        if stuck is None:
            return None
        lost = Violation("ALL-12", "job-0", None, "no end can be reached from here")
        return Counterexample(self._path(stuck), (lost,))

    def _counterexample(self, here: Key, label: str) -> Counterexample:
        return Counterexample((*self._path(here), label), tuple(self.machinery.violations))

    def _path(self, here: Key) -> tuple[str, ...]:
        steps: list[str] = []
        step = self.came_from[here]
        while step is not None:
            here, label = step
            steps.append(label)
            step = self.came_from[here]
        return tuple(reversed(steps))


def _enqueued(lifecycle: Lifecycle, count: int, policy: Policy) -> tuple[kernel.Job, ...]:
    return tuple(_new_job(lifecycle, index, policy, is_ready=count > 1) for index in range(count))


def _new_job(lifecycle: Lifecycle, index: int, policy: Policy, *, is_ready: bool) -> kernel.Job:
    """Just enqueued, or, where only claims are of interest, already claimable."""
    made = kernel.decide(lifecycle, None, Enqueue(job_id=f"job-{index}", kind="k", policy=policy, submit=is_ready), 0)
    assert isinstance(made, Change), made
    job = made.job
    if is_ready and "schedule" in lifecycle.table.allowed[job.state]:
        allowed = kernel.decide(lifecycle, job, Schedule(verdict="allow", rule="r"), 0)
        assert isinstance(allowed, Change), allowed
        job = allowed.job
    return job
