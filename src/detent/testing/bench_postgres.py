"""What the PostgreSQL store is measured for beyond lives beside raw SQL, and where: in a schema of its own that is gone
afterwards, so that nobody's jobs are touched.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from statistics import median
from time import perf_counter
from typing import Final
from urllib.parse import parse_qsl, quote, urlsplit

import psycopg

from detent.client import SyncClient, connect
from detent.client.addresses import for_libpq
from detent.store.clock import new_id
from detent.store.postgres.address import Address
from detent.store.postgres.failing import store_error
from detent.testing.bench import Comparison, Raw
from detent.testing.raw import KIND, WORKER
from detent.testing.raw_postgres import RawPostgres

CALLERS: Final = 100
CALLS: Final = 20  # by each of many
ALONE: Final = 200  # by one
CLAIMS: Final = 100
ROUNDS: Final = 5

Step = Callable[[], object]


def _nothing() -> None:
    """Nobody watches."""


# Jobs that ended long ago, in bulk, and no statistics made of them.
_ENDED: Final = """
with made as (
    insert into detent_jobs (tenant, id, kind, lifecycle, policy, queue, priority, payload)
    select 'default', $1 || n, $2, l.lifecycle, (select min(policy) from detent_policies), 'default', 0, '{}'
    from generate_series(1, $3) n, (select lifecycle from detent_lifecycles where name = 'standard') l
    returning job, lifecycle
), events as (
    insert into detent_events (
        tenant, job, rev, type, verb, from_state, to_state, at, actor, role, attempt, changes, version
    )
    select 'default', job, 1, 'job_queued', 'enqueue', null, 'succeeded', 1, 'bench', 'client', 0, '{}', 1 from made
)
insert into detent_ended (
    job, tenant, queue, kind, lifecycle, state, phase, created_at, updated_at, rev, payload_digest, result_digest,
    outcome, ended_at
)
select job, 'default', 'default', $2, lifecycle, 'succeeded', 'ended', 1, 1, 1, 'p', 'r', 'success', 1 from made
"""


@contextmanager
def translated(url: str) -> Iterator[None]:
    """What goes wrong beside the store itself, in the same words."""
    try:
        yield
    except psycopg.Error as error:
        raise store_error(Address(url=for_libpq(url)).shown, error) from error


@contextmanager
def scratch(url: str) -> Iterator[str]:
    """The address of a schema of its own in the same database."""
    name = f"detent_bench_{new_id()[-8:]}"
    with psycopg.connect(for_libpq(url), autocommit=True) as owner:
        owner.execute(f"create schema {name}")
        try:
            yield _with_schema(url, name)
        finally:
            owner.execute(f"drop schema {name} cascade")


@contextmanager
def on_postgres(url: str) -> Iterator[tuple[Raw, SyncClient]]:
    """Each in a schema of its own."""
    with scratch(url) as ours, scratch(url) as theirs, connect(ours) as client:
        with connect(theirs) as other:
            other.enqueue("first")  # the definitions, and the policy
        with closing(RawPostgres(for_libpq(theirs))) as raw:
            yield raw, client


def compare_callers(url: str, *, rounds: int = ROUNDS, on_round: Step = _nothing) -> Comparison:
    """Single enqueues by a hundred at once, who share transactions, beside those of one caller."""
    with scratch(url) as here:
        pairs = asyncio.run(_callers(here, rounds, on_round))
    return _compared(f"enqueue, {CALLERS} callers", "one caller", pairs)


def compare_history(url: str, ended: int, *, rounds: int = ROUNDS, on_round: Step = _nothing) -> Comparison:
    """Claims where so many jobs have ended, just loaded in bulk, beside claims where none have."""
    with scratch(url) as full, scratch(url) as empty, connect(full) as old, connect(empty) as new:
        old.enqueue(KIND)
        with psycopg.connect(for_libpq(full), autocommit=True) as loader:
            loader.execute("alter table detent_ended disable trigger detent_ended_come")  # they never began
            psycopg.RawCursor(loader).execute(_ENDED, (new_id(), KIND, ended))
            loader.execute("alter table detent_ended enable trigger detent_ended_come")
        pairs = []
        for _ in range(rounds + 1):
            pairs.append((_claims(old), _claims(new)))
            on_round()
    return _compared(f"claim, {ended:,} ended", "none ended", pairs[1:])


async def _callers(url: str, rounds: int, on_round: Step) -> list[tuple[float, float]]:
    async with connect(url) as client:

        async def call(times: int) -> None:
            for _ in range(times):
                await client.enqueue(KIND, {})

        pairs = []
        for _ in range(rounds + 1):
            began = perf_counter()
            await asyncio.gather(*[call(CALLS) for _ in range(CALLERS)])
            together = perf_counter()
            await call(ALONE)
            pairs.append((CALLERS * CALLS / (together - began), ALONE / (perf_counter() - together)))
            on_round()
        return pairs[1:]


def _claims(client: SyncClient) -> float:
    """So many a second, one at a time."""
    client.enqueue_many([{"kind": KIND, "payload": {}} for _ in range(CLAIMS)])
    began = perf_counter()
    for _ in range(CLAIMS):
        assert client.claim(worker=WORKER, kinds=[KIND]), "as many wait as are claimed"
    return CLAIMS / (perf_counter() - began)


def _compared(what: str, beside: str, pairs: list[tuple[float, float]]) -> Comparison:
    return Comparison(
        what=what,
        per_s=round(median(ours for ours, _ in pairs)),
        beside=beside,
        beside_per_s=round(median(theirs for _, theirs in pairs)),
        ratio=round(median(ours / theirs for ours, theirs in pairs), 3),
    )


def _with_schema(url: str, schema: str) -> str:
    """What else is set for the server in the address stays, but for the path, which is the last to be read."""
    given = dict(parse_qsl(urlsplit(url).query)).get("options", "")
    head, _, query = url.partition("?")
    others = [each for each in query.split("&") if each and not each.startswith("options=")]
    return f"{head}?{'&'.join([*others, 'options=' + quote(f'{given} -csearch_path={schema}'.strip())])}"
