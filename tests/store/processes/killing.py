"""kill -9 at random moments: whatever was acknowledged is there, whatever was not is there once or not at all."""

import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Final

from msgspec import Struct, field

import detent
from detent.client import SyncClient
from detent.kernel.job import Job
from tests.store.processes.ledger import Item, Ledger
from tests.store.processes.outcome import Outcome
from tests.store.processes.program import Program
from tests.store.processes.stores import all_stories, url_of

LIFE_MS: Final = (5, 150)
CROWDS: Final = (1, 2, 1, 3)  # writers at a time, for some kills each; alone, a writer finds the file unclean
KILLS_PER_CROWD: Final = 5
DRAIN_BATCH: Final = 500
DRAIN_S_MAX: Final = 20.0
EFFECTS: Final = "create table if not exists effects (job_id text primary key, attempt integer not null)"


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
        url, seed = f"{self.url}?synchronous={synchronous}", self.random.getrandbits(32)
        self.spares.append(Program("writer", url=url, name=f"w{self.started}", seed=seed))

    def _kill(self, number: int) -> None:
        writer, to_repeat = self.working.pop(number)
        with writer:
            asked = self.ledger.add(writer.kill())
        reached = {item["arguments"]["request_id"] for each in asked for item in each.items}
        self.in_doubt += [each.items for each in asked if each.answers is None]
        self.in_doubt += [items for items in to_repeat if items[0]["arguments"]["request_id"] not in reached]
        self.kills += 1


def run_kills(folder: Path, *, seed: int, kills: int) -> Outcome:
    outcome, url = Outcome(), url_of(folder)
    began_s = time.monotonic()
    slaughter = Slaughter(url, Random(seed))
    slaughter.run(kills)
    took_s = time.monotonic() - began_s
    ledger = slaughter.ledger
    with detent.connect(url) as client:
        drained = drain(client)
        _judge(outcome, client, ledger)
    in_doubt = sum(1 for asked in ledger.asked if asked.answers is None)
    outcome.summary = (
        f"seed {seed}: {slaughter.kills} kills in {took_s:.0f} s; {len(ledger.asked)} calls, {in_doubt} of them never "
        f"answered and asked again; {sum(1 for _ in ledger.acknowledged())} acknowledgements kept; "
        f"{drained} jobs were left to finish"
    )
    return outcome


def drain(client: SyncClient) -> int:
    """Work off what is left, as if nobody would be killed any more. What cannot be is there for the audit to find."""
    done, deadline_s = 0, time.monotonic() + DRAIN_S_MAX
    while time.monotonic() < deadline_s and _is_live(client):
        client.reconcile(limit=DRAIN_BATCH)
        claimed = client.claim(worker="healer", limit=DRAIN_BATCH, start=True)
        client.complete_many({"job_id": job.id, "worker": "healer", "attempt": job.attempt} for job in claimed)
        done += len(claimed)
        time.sleep(0 if claimed else 0.05)  # the leases of the dead run out by themselves
    return done


def _is_live(client: SyncClient) -> bool:
    return any(client.find(phase=phase, limit=1).items for phase in ("ready", "held", "active"))


def _judge(outcome: Outcome, client: SyncClient, ledger: Ledger) -> None:
    stories = all_stories(client)
    records = {story.job.id: story.job for story in stories}
    outcome.expect_clean(client.verify())
    outcome.faults += [*ledger.failed(), *ledger.lost(records), *ledger.torn(records)]
    outcome.expect_clean(ledger.audited(stories))
    outcome.expect_equal("jobs that nobody could end", [job.id for job in records.values() if not job.is_ended], [])
    outcome.expect(client.replay().is_same, "the log does not add up to the records")
    outcome.faults += _false_effects(client, records)


def _false_effects(client: SyncClient, records: dict[str, Job]) -> Iterator[str]:
    """Effects in the writers' own table without the completion that was to come with them."""
    with client.transaction() as tx:
        tx.execute(EFFECTS)
        effects = tx.execute("select job_id, attempt from effects")
    for job_id, attempt in effects:
        job = records[job_id]
        if (job.state, job.attempt) != ("succeeded", attempt):
            yield f"the effect of job {job_id}, attempt {attempt}, is there; the job is '{job.state}'"
