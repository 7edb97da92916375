"""kill -9 at random moments: whatever was acknowledged is there, whatever was not is there once or not at all."""

import time
from random import Random
from typing import Final

from msgspec import Struct, field

from tests.store.processes.ledger import Item, Ledger
from tests.store.processes.outcome import Outcome
from tests.store.processes.program import Program
from tests.store.processes.settling import settle
from tests.store.processes.transactions import is_on_postgres, make_effects

LIFE_MS: Final = (5, 150)
CROWDS: Final = (1, 2, 1, 3)  # writers at a time, for some kills each; alone, a writer finds the file unclean
KILLS_PER_CROWD: Final = 5
LEASE_S: Final = 0.3


class Slaughter(Struct):
    """The writers of one campaign: some at work, one spare that has started already, since starting takes longest."""

    url: str
    random: Random
    ledger: Ledger = field(default_factory=Ledger)
    kills: int = 0
    in_doubt: list[list[Item]] = field(default_factory=list)
    spares: list[Program] = field(default_factory=list)
    working: list[tuple[Program, list[list[Item]]]] = field(default_factory=list)  # each with what it is to repeat
    started: int = 0

    def run(self, kills: int) -> None:
        try:
            while self.kills < kills:
                self._fill(CROWDS[self.kills // KILLS_PER_CROWD % len(CROWDS)])
                time.sleep(self.random.uniform(*LIFE_MS) / 1_000)
                self._kill(self.random.randrange(len(self.working)))
            while self.working:
                self._kill(0)
        finally:
            for program in (*self.spares, *(writer for writer, _ in self.working)):
                program.close()

    def _fill(self, crowd: int) -> None:
        while len(self.working) > crowd:
            self._kill(0)
        while len(self.working) < crowd:
            self._spare()
            writer, in_doubt = self.spares.pop(0), self.in_doubt
            self.working.append((writer, in_doubt))
            self.in_doubt = []
            writer.hear()
            writer.say(in_doubt=in_doubt)
            self._spare()

    def _spare(self) -> None:
        if self.spares:
            return
        self.started += 1
        synchronous = self.random.choice(("full", "normal"))
        url = self.url if is_on_postgres(self.url) else f"{self.url}?synchronous={synchronous}"
        seed = self.random.getrandbits(32)
        self.spares.append(Program("writer", url=url, name=f"w{self.started}", seed=seed, lease_s=LEASE_S))

    def _kill(self, number: int) -> None:
        writer, to_repeat = self.working.pop(number)
        with writer:
            asked = self.ledger.add(writer.kill())
        reached = {item["arguments"]["request_id"] for each in asked for item in each.items}
        self.in_doubt += [each.items for each in asked if each.answers is None]
        self.in_doubt += [items for items in to_repeat if items[0]["arguments"]["request_id"] not in reached]
        self.kills += 1


def run_kills(url: str, *, seed: int, kills: int) -> Outcome:
    outcome = Outcome()
    make_effects(url)
    began_s = time.monotonic()
    slaughter = Slaughter(url, Random(seed))
    slaughter.run(kills)
    took_s = time.monotonic() - began_s
    ledger = slaughter.ledger
    settled = settle(outcome, url, ledger)
    in_doubt = sum(1 for asked in ledger.asked if asked.answers is None)
    outcome.summary = (
        f"seed {seed}: {slaughter.kills} kills in {took_s:.0f} s; {len(ledger.asked)} calls, {in_doubt} of them never "
        f"answered and asked again; {sum(1 for _ in ledger.acknowledged())} acknowledgements kept; "
        f"{settled.left} of {settled.jobs} jobs were left to finish"
    )
    return outcome
