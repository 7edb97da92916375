"""The baseline that the PostgreSQL store is measured against: the same tables, indexes and triggers, written by plain
psycopg with SQL made for these very lives. No decisions, no records, no client: whoever wants more speed than this
has to change the tables. A store filled this way passes `verify`.
"""

from typing import Any, Final

import psycopg

from detent.kernel.clock import micros
from detent.kernel.digest import digest
from detent.kernel.job import NULL
from detent.lifecycles import STANDARD
from detent.store.clock import host_clock, new_id
from detent.store.rows import text
from detent.testing.raw import KIND, PAYLOAD, WORKER

_LEASE_US: Final = micros(STANDARD.defaults.lease_s)
_LEASE_S: Final = STANDARD.defaults.lease_s
_ENQUEUE: Final = """
with k as materialized (
    select nextval('detent_jobs_job_seq') as job, id from unnest($1::text[]) as id
), jobs as (
    insert into detent_jobs (job, tenant, id, kind, lifecycle, policy, queue, priority, payload)
    select job, 'default', id, $2, $3, $4, 'default', 0, $5 from k
), records as (
    insert into detent_records (
        job, tenant, queue, kind, lifecycle, state, phase, created_at, updated_at, rev, due_at, claim_at, order_at,
        payload_digest
    )
    select job, 'default', 'default', $2, $3, 'queued', 'ready', $6, $6, 1, $6, $6, $6, $7 from k
)
insert into detent_events (
    tenant, job, rev, type, verb, to_state, at, actor, role, attempt, changes, payload, version
)
select 'default', job, 1, 'job_queued', 'enqueue', 'queued', $6, 'client', 'client', 0, $8, $9, 1 from k
"""
_CLAIM: Final = """
with k as materialized (
    select job from detent_records
    where tenant = 'default' and queue = 'default' and kind = $1 and adapter = '' and claim_at is not null
        and claim_at <= $2
    order by order_at, job limit $3 for update skip locked
), moved as (
    update detent_records r set
        state = 'assigned', phase = 'held', rev = 2, updated_at = $2, attempt = 1, owner = $4, lease_s = $5,
        claimed_at = $2, claim_at = null, order_at = null, due_at = null, lease_expires_at = $6, heartbeat_by = $6,
        wake_at = $6, look_at = $6
    from k where r.job = k.job
), events as (
    insert into detent_events (
        tenant, job, rev, type, verb, from_state, to_state, at, actor, role, worker, attempt, changes, version
    )
    select 'default', job, 2, 'job_claimed', 'claim', 'queued', 'assigned', $2, $4, 'worker', $4, 1, $7, 1 from k
)
select k.job, j.id, j.kind, j.payload from k join detent_jobs j on j.job = k.job
"""
_START: Final = """
with moved as (
    update detent_records r set
        state = 'running', phase = 'active', rev = 3, updated_at = $2, started_at = $2, lease_expires_at = $3,
        heartbeat_by = $3, wake_at = $3
    from unnest($1::bigint[]) as k (job) where r.job = k.job and r.rev = 2 returning r.job
)
insert into detent_events (
    tenant, job, rev, type, verb, from_state, to_state, at, actor, role, worker, attempt, changes, version
)
select 'default', job, 3, 'job_started', 'start', 'assigned', 'running', $2, $4, 'owner', $4, 1, $5, 1 from moved
"""
_COMPLETE: Final = """
with gone as (
    delete from detent_records r using unnest($1::bigint[]) as k (job)
    where r.job = k.job and r.rev = 3 returning r.*
), ended as (
    insert into detent_ended (
        job, tenant, queue, kind, adapter, lifecycle, state, phase, created_at, updated_at, rev, attempt, last_owner,
        last_lease_expires_at, claimed_at, started_at, payload_digest, result_digest, outcome, ended_at, result
    )
    select
        job, tenant, queue, kind, adapter, lifecycle, 'succeeded', 'ended', created_at, $2, 4, attempt, owner,
        lease_expires_at, claimed_at, started_at, payload_digest, $3, 'success', $2, $4
    from gone
)
insert into detent_events (
    tenant, job, rev, type, verb, from_state, to_state, at, actor, role, worker, attempt, changes, version
)
select 'default', job, 4, 'job_succeeded', 'complete', 'running', 'succeeded', $2, $5, 'owner', $5, 1, $6, 1 from gone
"""


class RawPostgres:
    """Full lives, four moves each, in batches: enqueue, claim, start, complete. The store must have been opened."""

    def __init__(self, url: str) -> None:
        self._raw: psycopg.Connection[Any] = psycopg.connect(url, autocommit=True, prepare_threshold=0)
        for setting in ("plan_cache_mode = force_generic_plan", "enable_seqscan = off", "jit = off"):
            self._raw.execute(f"set {setting}", prepare=False)
        self._cursor = psycopg.RawCursor(self._raw)
        found = self._ask("select lifecycle from detent_lifecycles where name = $1 and version = $2", (
            STANDARD.name, STANDARD.version
        ))  # fmt: skip
        self._lifecycle = found[0][0]
        self._policy = self._ask("select min(policy) from detent_policies", ())[0][0]

    def close(self) -> None:
        self._raw.close()

    def enqueue(self, batch: int) -> None:
        now = self._now()
        changes = {
            "phase": "ready", "due_at": now, "claim_at": now, "order_at": now, "deadline_at": None, "wake_at": None,
            "created_at": now, "retries": 0, "payload_digest": digest(PAYLOAD),
        }  # fmt: skip
        said = text({"kind": KIND, "queue": "default"})
        ids = [new_id() for _ in range(batch)]
        row = (ids, KIND, self._lifecycle, self._policy, PAYLOAD, now, digest(PAYLOAD), text(changes), said)
        self._cursor.execute(_ENQUEUE, row)

    def claim(self, batch: int) -> list[int]:
        now = self._now()
        ends = now + _LEASE_US
        changes = {
            "phase": "held", "attempt": 1, "owner": WORKER, "lease_s": _LEASE_S, "claimed_at": now, "claim_at": None,
            "order_at": None, "due_at": None, "lease_expires_at": ends, "heartbeat_by": ends, "wake_at": ends,
        }  # fmt: skip
        found = self._ask(_CLAIM, (KIND, now, batch, WORKER, _LEASE_S, ends, text(changes)))
        return [row[0] for row in found]

    def start(self, numbers: list[int]) -> int:
        now = self._now()
        ends = now + _LEASE_US
        changes = {
            "phase": "active", "started_at": now, "lease_expires_at": ends, "heartbeat_by": ends, "wake_at": ends,
        }  # fmt: skip
        self._cursor.execute(_START, (numbers, now, ends, WORKER, text(changes)))
        return ends

    def complete(self, numbers: list[int], ends: int) -> None:
        now = self._now()
        changes = {
            "owner": None, "lease_s": None, "lease_expires_at": None, "heartbeat_by": None, "last_owner": WORKER,
            "last_lease_expires_at": ends, "phase": "ended", "ended_at": now, "wake_at": None,
            "result_digest": digest(NULL),
        }  # fmt: skip
        self._cursor.execute(_COMPLETE, (numbers, now, digest(NULL), NULL, WORKER, text(changes)))

    def _now(self) -> int:
        """As the store reckons it, without asking the server just for that."""
        return host_clock()

    def _ask(self, sql: str, values: tuple[Any, ...]) -> list[Any]:
        return self._cursor.execute(sql, values).fetchall()
