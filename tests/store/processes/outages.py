"""A server that crashes, and connections that break, under writers who say what they were told.

What was acknowledged is there; what was answered with an error is there at most once, and not at all if the error says
so; nothing else is. A reader of the log sees each event once all the same.
"""

import time
from collections import Counter
from random import Random
from typing import Final

import psycopg
from msgspec import Struct, field

import detent
from tests.postgres.server import Server, database_of
from tests.store.processes.gathering import gathered
from tests.store.processes.ledger import Ledger
from tests.store.processes.outcome import Outcome
from tests.store.processes.settling import settle
from tests.store.processes.tailing import judge, log_of
from tests.store.processes.transactions import make_effects

LEASE_S: Final = 5.0
PLAIN: Final = 0.4  # of the calls have no request id
EVENTS_PER_JOB: Final = 3.5  # a little less than each leaves, so that there is work until the last outage
STALLED_S: Final = 60.0
LOOK_S: Final = 0.01
LAST_JOB: Final = "last"
# Who is in the middle of a commit can only be seen from close by: looked for on the server itself.
AT_COMMIT: Final = """
do $$
declare
    victim integer;
begin
    for n in 1..400 loop
        perform pg_stat_clear_snapshot();
        select pid into victim from pg_stat_activity
        where datname = '{database}' and state = 'active' and query = 'commit' limit 1;
        exit when victim is not null and pg_terminate_backend(victim);
        perform pg_sleep(0.0005);
    end loop;
    if victim is null then
        raise no_data_found;
    end if;
end $$
"""


class Outages(Struct):
    """Brings them about, evenly over the work."""

    server: Server
    url: str
    random: Random
    counts: Counter[str] = field(default_factory=Counter)

    def run(self, restarts: int, terminations: int, events: int) -> None:
        planned = ["restart"] * restarts + ["terminate"] * terminations
        self.random.shuffle(planned)
        for number, what in enumerate(planned, start=1):
            self._wait_for(events * number // (len(planned) + 1))
            time.sleep(self.random.uniform(0, 0.03))
            if what == "restart":
                self.server.restart("immediate")
                self.counts["restarts"] += 1
            else:
                self._terminate()

    def _terminate(self) -> None:
        if self.random.random() < 0.5 and self._terminated_at_commit():
            self.counts["in a commit"] += 1
        else:
            self.counts["anywhere"] += self.server.terminate_backends(1, self.url)

    def _terminated_at_commit(self) -> bool:
        try:
            self.server.psql(AT_COMMIT.format(database=database_of(self.url)))
        except psycopg.errors.NoDataFound:
            return False
        return True

    def _wait_for(self, events: int) -> None:
        """Until so many were written."""
        deadline_s = time.monotonic() + STALLED_S
        while self.server.psql("select coalesce(max(seq), 0) from detent_events", self.url)[0][0] < events:
            assert time.monotonic() < deadline_s, f"{events} events were not written in time"
            time.sleep(LOOK_S)


def run_outages(
    server: Server, url: str, *, seed: int, jobs: int, restarts: int, terminations: int, writers: int = 4
) -> Outcome:
    outcome, ledger, random = Outcome(), Ledger(), Random(seed)
    make_effects(url)
    outages = Outages(server, url, random)
    began_s = time.monotonic()
    with gathered("tailer", [{"url": url, "after": "0", "last_job": LAST_JOB}]) as (reader,):
        with gathered("writer", _given(url, writers, jobs, random)) as programs:
            for program in programs:
                program.say(in_doubt=[])
            outages.run(restarts, terminations, round(EVENTS_PER_JOB * jobs))
            for program in programs:
                ledger.add(program.ended(STALLED_S))
        took_s = time.monotonic() - began_s
        settled = settle(outcome, url, ledger)
        with detent.connect(url) as client:
            client.enqueue("last", job_id=LAST_JOB)
            judge(outcome, "a reader", reader.ended()[0]["seen"], log_of(client))
    done = outages.counts
    outcome.expect(settled.jobs >= jobs * 0.9, f"only {settled.jobs} jobs were made")
    outcome.expect_equal("restarts", done["restarts"], restarts)
    outcome.expect_equal("terminations", done["in a commit"] + done["anywhere"], terminations)
    lost = Counter(asked.lost for asked in ledger.asked if asked.lost is not None)
    outcome.summary = (
        f"seed {seed}: {restarts} crashes and {terminations} lost connections ({done['in a commit']} of them in a "
        f"commit) in {took_s:.0f} s, {writers} writers; {len(ledger.asked)} calls, of which {dict(lost)}; "
        f"{sum(1 for _ in ledger.acknowledged())} acknowledgements kept; "
        f"{settled.left} of {settled.jobs} jobs were left to finish"
    )
    return outcome


def _given(url: str, writers: int, jobs: int, random: Random) -> list[dict[str, object]]:
    """Every other one has no patience, so that it hears of every outage."""
    same = {"lease_s": LEASE_S, "jobs": jobs // writers, "plain": PLAIN}
    return [
        {
            "url": url + ("?retry_s=0" if number % 2 else ""),
            "name": f"w{number}",
            "seed": random.getrandbits(32),
            **same,
        }
        for number in range(writers)
    ]
