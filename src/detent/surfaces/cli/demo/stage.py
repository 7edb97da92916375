"""The demo as it is now: what the log and the processes have told so far, and what is to happen next."""

from collections import Counter, deque
from typing import Final

from detent.client import Event, SyncClient
from detent.lifecycles import BUILT_IN
from detent.surfaces.cli.demo.cast import Cast
from detent.surfaces.cli.demo.child import Told
from detent.surfaces.cli.demo.director import Blow, Director
from detent.surfaces.cli.demo.news import BAD, GOOD, News, headline_of, headline_of_told
from detent.surfaces.cli.demo.rescue import Rescue
from detent.surfaces.cli.demo.script import Part, crowd
from detent.surfaces.cli.demo.tally import Tally

PAGE: Final = 1_000
RATE_LOOKS: Final = 20  # over how many looks the rate is taken


class Stage:
    def __init__(self, client: SyncClient, cast: Cast, script: list[Part], *, began_s: float) -> None:
        self.script = script
        self.cast = cast
        self.tally = Tally({part.job_id: part.lifecycle for part in script})
        self._left = {part.job_id: part.scene.end for part in script if part.scene.is_left}
        self.told: Counter[str] = Counter()
        self.news = News()
        self.blow: Blow | None = None
        self.elapsed_s = 0.0
        self._client = client
        self._began_s = began_s
        self._director = Director(crowd(script))
        self._rescue: Rescue | None = None
        self._cursor: str | None = None
        self._looks: deque[tuple[float, int]] = deque([(0.0, 0)], maxlen=RATE_LOOKS)

    @property
    def is_over(self) -> bool:
        """Every job has ended, or is where the script leaves it."""
        left = sum(self.tally.states.get(job_id) == state for job_id, state in self._left.items())
        return self.tally.ended + left == len(self.script)

    @property
    def moves_per_s(self) -> float:
        """Of late; once it is over, on the whole."""
        (since_s, before), (until_s, after) = self._looks[0], self._looks[-1]
        if self.is_over:
            since_s, before = 0.0, 0
        return (after - before) / max(until_s - since_s, 1e-3)

    def look(self, now_s: float) -> None:
        """Take in what was written and told since the last look."""
        self.elapsed_s = now_s - self._began_s
        while page := self._client.events(limit=PAGE, cursor=self._cursor):
            self._cursor = page.cursor
            for event in page:
                self._take_in(event)
        for told in self.cast.hear():
            self._hear(told)
        self._looks.append((self.elapsed_s, self.tally.moves))

    def direct(self) -> None:
        """Kill a worker when the moment has come, and let another take its place."""
        self.cast.check()
        if self.blow is not None:
            return
        self.blow = self._director.strike(self._client, self.cast, self.elapsed_s)
        if self.blow is None:
            return
        self._rescue = Rescue(self.blow)
        name, pid, held = self.blow.worker, self.blow.pid, len(self.blow.held)
        self.news.add(self.elapsed_s, f"{name} (pid {pid}) was killed with SIGKILL, holding {held} running jobs", BAD)
        fresh = self.cast.start_worker()
        self.news.add(self.elapsed_s, f"{fresh.name} (pid {fresh.pid}) takes its place", GOOD)

    def conclude(self) -> None:
        left = f" but {', '.join(self._left)}, which waits for you" if self._left else ""
        self.news.add(self.elapsed_s, f"every job has ended{left}; the workers leave")

    def _take_in(self, event: Event) -> None:
        if event.job_id not in self.tally.lifecycles:
            return  # somebody else is trying things on the same file; the audit will say so
        lifecycle = BUILT_IN[self.tally.lifecycles[event.job_id]]
        self.tally.add(event)
        self.news.add_first(self.elapsed_s, headline_of(event, lifecycle))
        if self._rescue is not None:
            for text in self._rescue.follow(event, lifecycle):
                self.news.add(self.elapsed_s, text, GOOD)

    def _hear(self, told: Told) -> None:
        self.told[told.what] += 1
        self.news.add_first(self.elapsed_s, headline_of_told(told))
