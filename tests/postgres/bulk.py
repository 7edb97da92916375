"""Many ended jobs with their logs at once, past the triggers, as after a restore: without statistics."""

from typing import Any, Final

import psycopg

_JOBS: Final = """
    insert into detent_jobs (tenant, id, kind, lifecycle, policy, queue, priority, payload, workflow_id)
    select 'default', 'old-' || n, 'scan', 1, 1, 'q' || n %% 4, 0, repeat('x', 200)::bytea,
        case when n %% 1000 = 0 then 'w' end
    from generate_series(1, %s) n
"""
_ENDED: Final = """
    insert into detent_ended (
        job, tenant, queue, kind, lifecycle, state, phase, created_at, updated_at, rev, payload_digest, outcome,
        result_digest, error_digest, ended_at, result
    )
    select job, tenant, queue, kind, lifecycle, 'succeeded', 'ended', job, job, 2, 'd', outcome,
        case when outcome = 'success' then 'd' end, case when outcome = 'failure' then 'd' end, job,
        repeat('y', 200)::bytea
    from (select *, case when job % 1000 = 0 then 'failure' else 'success' end as outcome from detent_jobs) j
"""
_EVENTS: Final = """
    insert into detent_events (
        tenant, job, rev, type, verb, to_state, at, actor, role, attempt, changes, version
    )
    select tenant, job, rev, 'job_moved', 'complete', 'succeeded', job, 'a', 'worker', 1, '{}', 1
    from detent_jobs cross join generate_series(1, 2) rev
    order by job, rev
"""


def fill(connection: "psycopg.Connection[Any]", jobs: int) -> None:
    with connection.transaction():
        connection.execute("set local session_replication_role = replica")
        connection.execute(_JOBS, [jobs])
        connection.execute(_ENDED)
        connection.execute(_EVENTS)
