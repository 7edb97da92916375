"""A worker of the demo: a process that claims jobs and lets their acts take turns. `python -m` runs it.

It is a loop as simple as one can be; what a worker owes its jobs beyond that is not shown here.
"""

from time import monotonic, sleep
from typing import Final

from msgspec import Struct

import detent
from detent.client import SyncClient
from detent.errors import Refused
from detent.surfaces.cli.demo.acting import ACTS, Acting, Heeded, Turn
from detent.surfaces.cli.demo.child import Casting, Leaving, Told, casting, tell
from detent.surfaces.cli.demo.script import QUEUE

CLAIM_MAX: Final = 3  # at once, so that nobody takes all there is
TICK_S: Final = 0.02
CLAIM_EVERY_S: Final = 0.06
RESULTS: Final = ("complete", "fail")


class Doing(Struct):
    turn: Turn
    acting: Acting
    due_s: float


class Worker:
    def __init__(self, client: SyncClient, part: Casting, leaving: Leaving) -> None:
        self._client = client
        self._name = part.name
        self._capacity = part.capacity
        self._leaving = leaving
        self._doing: list[Doing] = []
        self._claim_at_s = 0.0

    def run(self) -> None:
        while not self._leaving.is_orphaned and not (self._leaving.is_asked and not self._doing):
            self._claim(monotonic())
            self._doing = [doing for doing in self._doing if self._goes_on(doing, monotonic())]
            sleep(TICK_S)

    def _claim(self, now_s: float) -> None:
        room = min(self._capacity - len(self._doing), CLAIM_MAX)
        if self._leaving.is_asked or room <= 0 or now_s < self._claim_at_s:
            return
        self._claim_at_s = now_s + CLAIM_EVERY_S
        for job in self._client.claim(worker=self._name, queues=[QUEUE], limit=room):
            turn = Turn(self._client, self._name, job)
            self._doing.append(Doing(turn, ACTS[turn.act.do](turn), now_s))

    def _goes_on(self, doing: Doing, now_s: float) -> bool:
        """One more thing of an act whose time has come. Refused: the job is no longer this worker's."""
        if now_s < doing.due_s:
            return True
        try:
            doing.due_s = now_s + next(doing.acting)
        except (StopIteration, Heeded):
            return False
        except Refused as refused:
            what = "late" if refused.verb in RESULTS else "lost"
            tell(Told(what, self._name, refused.job_id, refused.code))
            return False
        return True


def main() -> None:
    part = casting()
    leaving = Leaving(part.parent_pid)
    with detent.connect(part.url) as client:
        Worker(client, part, leaving).run()


if __name__ == "__main__":
    main()
