"""All failure paths of all lifecycles on one store, at once: jobs, workers, and what people do to them meanwhile.

First three workers take the jobs of their queues: one is killed, one stands still, one is told to stop. Then comes the
steady worker, which runs everything else and takes over what the others have left. Nobody here reconciles: whatever has
to be done about a lost lease or a time limit, the workers do.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Final

from msgspec import Struct

import detent
from detent import Job
from detent.audit import Report
from detent.client import SyncClient
from detent.errors import StoreError
from tests.paths.deeds import claim_elsewhere
from tests.paths.player import Jobs, Outcome, Player, Ways, all_active
from tests.paths.table import PATHS
from tests.paths.workers import WorkerProcess

WAIT_S: Final = 90.0  # for everything to come to its end
LOOK_S: Final = 0.05
FREEZES_MAX: Final = 20
FIRST: Final = ("killed", "frozen", "drained")


class Played(Struct, frozen=True):
    """`exits` are the exit codes of the workers that were told to stop, `said` is what each has written, and `metrics`
    what the steady one has counted.
    """

    outcomes: dict[str, Outcome]
    report: Report
    exits: dict[str, int]
    said: dict[str, str]
    metrics: str


class Scene:
    def __init__(self, client: SyncClient, url: str) -> None:
        self._client = client
        self._players = [Player(client, url, lifecycle, path) for lifecycle, paths in PATHS.items() for path in paths]
        self._url = url

    def play(self) -> Played:
        with ExitStack() as stack:
            workers = {name: stack.enter_context(self._worker(name, "--queue", name)) for name in FIRST}
            exits = self._have_first(workers)
            self._make([player for player in self._players if player.path.kind not in FIRST])
            claim_elsewhere(self._client)
            workers["steady"] = stack.enter_context(self._worker("steady", "--metrics-port", "0"))
            self._come_to_an_end(workers["frozen"])
            metrics = workers["steady"].metrics()
            exits |= {name: workers[name].drain() for name in ("frozen", "steady")}
            said = {name: worker.said() for name, worker in workers.items()}
        return Played(self._outcomes(), self._client.verify(), exits, said, metrics)

    def _outcomes(self) -> dict[str, Outcome]:
        ways, jobs = Ways(self._url), Jobs(self._client)
        with ways.app:
            return {player.job_id: player.outcome(jobs, ways) for player in self._players}

    def _worker(self, name: str, *options: str) -> WorkerProcess:
        return WorkerProcess(self._url, name, "--grace", "0.2s", *options)

    def _make(self, players: list[Player]) -> None:
        for answer in self._client.enqueue_many([player.item for player in players]):
            assert isinstance(answer, Job), answer

    def _have_first(self, workers: dict[str, WorkerProcess]) -> dict[str, int]:
        """Let each of the first workers run what is for it, and then stop: one as it should, and two as they must not.

        In this order, so that nobody is left who could reconcile what the others leave.
        """
        players = [player for player in self._players if player.path.kind in FIRST]
        self._make(players)
        self._until(lambda jobs: all_active(players, jobs))
        self._do_what_is_ready(players)
        exits = {"drained": workers["drained"].drain()}
        self._freeze(workers["frozen"])
        workers["killed"].kill()
        return exits

    def _freeze(self, worker: WorkerProcess) -> None:
        """Right after it has renewed its leases, so that it keeps nothing locked that others are to write."""
        before = self._revisions(Jobs(self._client))
        self._until(lambda jobs: self._revisions(jobs) != before)
        for _ in range(FREEZES_MAX):
            worker.freeze()
            if is_writable(self._url):
                return
            worker.thaw()
            time.sleep(LOOK_S)
        raise AssertionError("the worker has the store's write lock whenever it is paused")

    def _revisions(self, jobs: Jobs) -> list[int]:
        return [jobs[player.job_id].rev for player in self._players if player.path.kind == "frozen"]

    def _come_to_an_end(self, frozen: WorkerProcess) -> None:
        """The worker that stands still goes on last: until then the steady one alone does what time demands."""
        late = [player for player in self._players if player.path.kind == "frozen"]
        self._until_over([player for player in self._players if player not in late])
        self._until(lambda jobs: all(jobs[player.job_id].owner != "frozen" for player in late))
        frozen.thaw()
        self._until_over(late)

    def _until_over(self, players: list[Player]) -> None:
        left = sorted(players, key=lambda player: not player.is_pressing)

        def is_over(jobs: Jobs) -> bool:
            jobs = self._do_what_is_ready(left, jobs)
            left[:] = [player for player in left if not player.is_over(jobs)]
            return not left

        self._until(is_over)

    def _do_what_is_ready(self, players: list[Player], jobs: Jobs | None = None) -> Jobs:
        """One thing after the other, what presses first; and how the jobs are then."""
        jobs = jobs or Jobs(self._client)
        while ready := next((player for player in players if player.is_ready(jobs)), None):
            ready.go_on(jobs)
            jobs = Jobs(self._client)
        return jobs

    def _until(self, is_so: Callable[[Jobs], bool]) -> None:
        """Or until it has been long enough: then the tests of the paths that are not over show where those are."""
        ends_s = time.monotonic() + WAIT_S
        while not is_so(Jobs(self._client)) and time.monotonic() < ends_s:
            time.sleep(LOOK_S)


def is_writable(url: str) -> bool:
    """Whether nobody keeps the store's one write lock, where it has one."""
    if not url.startswith("sqlite"):
        return True
    try:
        with detent.connect(url, busy_s=0.5) as client:
            client.pause_queue("nobody's")
    except StoreError:
        return False
    return True


def played_on(url: str) -> Played:
    with detent.connect(url) as client:
        return Scene(client, url).play()
