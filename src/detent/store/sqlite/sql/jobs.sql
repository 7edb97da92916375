-- Reading and writing single jobs. Columns come in the order of the kernel's fields, so that a row makes a record by
-- position: `rows.py` reads them so.

-- name: columns
-- The number, the spec, the record, and what was said at length. Part of every statement that reads jobs.
select
    r.job,
    j.id, j.kind, j.lifecycle, j.policy, j.tenant, j.queue, j.priority, j.payload, j.run_at, j.dedupe_key,
    j.correlation_id, j.trace_id, j.parent_job_id, j.workflow_id, j.step_index, j.topic, j.context_ptr, j.adapter_id,
    j.env, j.limit_key,
    r.state, r.phase, r.created_at, r.updated_at, r.rerun_of, r.rev, r.attempt, r.owner, r.lease_s, r.lease_expires_at,
    r.heartbeat_by, r.last_owner, r.last_lease_expires_at, r.due_at, r.claim_at, r.wake_at, r.order_at, r.deadline_at,
    r.cancel_by, r.failures, r.crashes, r.interruptions, r.retries, r.verdict, r.rule, r.result_ptr, r.payload_digest,
    r.result_digest, r.error_digest, r.checkpoint_digest, r.claimed_at, r.started_at, r.ended_at,
    c.result, c.error, c.last_error, c.checkpoint, c.progress

-- name: by_id
{columns}
from detent_jobs j
cross join detent_records r on r.job = j.job
left join detent_contents c on c.job = j.job
where j.tenant = ? and j.id = ?

-- name: by_ids
-- A batch in one statement: half the price of one each.
{columns}
from json_each(?2) k
cross join detent_jobs j on j.tenant = ?1 and j.id = k.value
cross join detent_records r on r.job = j.job
left join detent_contents c on c.job = j.job

-- name: by_numbers
{columns}
from json_each(?) k
cross join detent_records r on r.job = k.value
cross join detent_jobs j on j.job = r.job
left join detent_contents c on c.job = r.job

-- name: by_dedupe_key
{columns}
from detent_dedupe_keys k
cross join detent_jobs j on j.job = k.job
cross join detent_records r on r.job = j.job
left join detent_contents c on c.job = j.job
where k.tenant = ? and k.kind = ? and k.dedupe_key = ?

-- name: due
-- What the reconciler has to look at. Those that waited longest come first.
select job from detent_records where wake_at <= ? order by wake_at limit ?

-- name: data_version
-- Another number than before: somebody else has written to the file.
pragma data_version

-- name: last_number
-- The newest number that was given to a job, pruned ones included.
select seq from sqlite_sequence where name = 'detent_jobs'

-- name: insert_job
insert into detent_jobs (
    job, id, kind, lifecycle, policy, tenant, queue, priority, payload, run_at, dedupe_key, correlation_id, trace_id,
    parent_job_id, workflow_id, step_index, topic, context_ptr, adapter_id, env, limit_key
) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: insert_record
-- The record as the first event leaves it. Counters begin at zero by themselves.
insert into detent_records (
    job, tenant, queue, kind, adapter, limit_key, concurrency_max, lifecycle, rev, state, updated_at, {names}
) values (?, ?, ?, ?, ?, ?, ?, ?, 1, ?, ?, {marks})

-- name: move_record
-- Compare and set: one step of rev, and only the columns that the event changed.
update detent_records set {assignments}, state = ?, rev = ?, updated_at = ? where job = ? and rev = ?

-- name: say
-- What was said at length, under the columns it was said for.
insert into detent_contents (job, {names}) values (?, {marks})
on conflict (job) do update set {assignments}

-- name: take_dedupe_key
insert into detent_dedupe_keys (tenant, kind, dedupe_key, job) values (?, ?, ?, ?)

-- name: free_dedupe_key
delete from detent_dedupe_keys where tenant = ? and kind = ? and dedupe_key = ? and job = ?
