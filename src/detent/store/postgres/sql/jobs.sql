-- Reading and writing jobs. Columns come in the order of the kernel's fields, so that a row makes a record by position:
-- `rows.py` reads them so.

-- name: spec_columns
    j.id, j.kind, j.lifecycle, j.policy, j.tenant, j.queue, j.priority, j.payload, j.run_at, j.dedupe_key,
    j.correlation_id, j.trace_id, j.parent_job_id, j.workflow_id, j.step_index, j.topic, j.context_ptr, j.adapter_id,
    j.env, j.limit_key

-- name: columns
-- The number, the spec, the record, and what was said at length: of a job, ended or not.
select
    r.job,
    {spec_columns},
    r.state, r.phase, r.created_at, r.updated_at, r.rerun_of, r.rev, r.attempt, r.owner, r.lease_s, r.lease_expires_at,
    r.heartbeat_by, r.last_owner, r.last_lease_expires_at, r.due_at, r.claim_at, r.wake_at, r.order_at, r.deadline_at,
    r.cancel_by, r.failures, r.crashes, r.interruptions, r.retries, r.verdict, r.rule, r.result_ptr, r.payload_digest,
    r.result_digest, r.error_digest, r.checkpoint_digest, r.claimed_at, r.started_at, r.ended_at,
    r.result, r.error, r.last_error, r.checkpoint, r.progress

-- name: live_columns
-- The same of a job that has not ended.
select
    r.job,
    {spec_columns},
    r.state, r.phase, r.created_at, r.updated_at, r.rerun_of, r.rev, r.attempt, r.owner, r.lease_s, r.lease_expires_at,
    r.heartbeat_by, r.last_owner, r.last_lease_expires_at, r.due_at, r.claim_at, r.wake_at, r.order_at, r.deadline_at,
    r.cancel_by, r.failures, r.crashes, r.interruptions, r.retries, r.verdict, r.rule, r.result_ptr, r.payload_digest,
    r.result_digest, r.error_digest, r.checkpoint_digest, r.claimed_at, r.started_at, null::bigint,
    null::bytea, null::text, r.last_error, r.checkpoint, r.progress

-- name: by_ids
{columns}
from unnest(:tenants::text[], :ids::text[]) as k (tenant, id)
join detent_jobs j on j.tenant = k.tenant and j.id = k.id
join detent_all_records r on r.job = j.job

-- name: lock_by_ids
-- Jobs that have not ended, for whoever is about to move them, and the moment at which each was locked. A record that
-- somebody else is moving is left out: nobody waits in line here.
{live_columns}, detent_now()
from unnest(:tenants::text[], :ids::text[]) as k (tenant, id)
join detent_jobs j on j.tenant = k.tenant and j.id = k.id
join detent_records r on r.job = j.job
for update of r skip locked

-- name: by_dedupe_key
{live_columns}
from unnest(:tenants::text[], :kinds::text[], :dedupe_keys::text[]) as k (tenant, kind, dedupe_key)
join detent_records r on r.tenant = k.tenant and r.kind = k.kind and r.dedupe_key = k.dedupe_key
join detent_jobs j on j.job = r.job

-- name: moment
select detent_now()

-- name: look_again
-- Leases that were renewed since their entry was made: it is set right before anybody counts on it.
update detent_records r set look_at = r.wake_at
from (
    select job from detent_records
    where look_at <= coalesce(:now::bigint, (select detent_now())) and wake_at > look_at
    order by look_at limit :limit::bigint
    for update skip locked
) k
where r.job = k.job
returning r.job

-- name: due
-- What the reconciler has to look at. Those that waited longest come first.
{live_columns}, detent_now()
from detent_records r
join detent_jobs j on j.job = r.job
where r.look_at <= coalesce(:now::bigint, (select detent_now()))
    and r.wake_at <= coalesce(:now::bigint, (select detent_now()))
order by r.look_at, r.job
limit :limit::bigint
for update of r skip locked

-- name: clock
-- Part of every statement that writes. What it writes comes in rows, `{rows}`: columns that differ from row to row as
-- arrays, and those that do not as single values.
clock as materialized (select coalesce(:clock::bigint, detent_now()) as moment)

-- name: insert_record
-- New jobs: what they are, where they are, and their first events, each from one row.
{p}begun as materialized (
    select nextval('detent_jobs_job_seq') as job, k.* from {rows} k
),
{p}jobs as (
    insert into detent_jobs (
        job, id, kind, lifecycle, policy, tenant, queue, priority, payload, run_at, dedupe_key, correlation_id,
        trace_id, parent_job_id, workflow_id, step_index, topic, context_ptr, adapter_id, env,
        limit_key
    )
    select
        job, id, kind, lifecycle, policy, tenant, queue, priority, payload, run_at, dedupe_key, correlation_id,
        job_trace_id, parent_job_id, workflow_id, step_index, topic, context_ptr, adapter_id, env,
        limit_key
    from {p}begun
),
{p}records as (
    insert into detent_records (
        job, tenant, queue, kind, adapter, dedupe_key, limit_key, concurrency_max, lifecycle, rev, state, updated_at,
        look_at, {names}
    )
    select
        job, tenant, queue, kind, coalesce(adapter_id, ''), dedupe_key, limit_key, concurrency_max, lifecycle, 1,
        to_state, at, wake_at, {names}
    from {p}begun
),
{p}events as (
    insert into detent_events (
        tenant, job, rev, type, verb, from_state, to_state, at, actor, role, worker, attempt, request_id, trace_id,
        cause, changes, payload, version
    )
    select
        tenant, job, 1, type, 'enqueue', null, to_state, at, actor, role, worker, event_attempt, request_id, trace_id,
        cause, changes, event_payload, version
    from {p}begun
)

-- name: move_record
-- Compare and set: only the columns that its events changed. An owner's move needs the lease.
{p}moved as (
    update detent_records r set {assignments}, state = k.to_state, rev = k.to_rev, updated_at = k.at
    from {rows} k
    where r.job = k.job and r.rev = k.from_rev
        and (k.leased is null or r.lease_expires_at > (select moment from clock)) {unsaid}
    returning 1
)

-- name: end_records
-- Compare and set likewise: the record goes from the living to the ended.
{p}gone as (
    delete from detent_records r
    using {rows} k
    where r.job = k.job and r.rev = k.from_rev
        and (k.leased is null or r.lease_expires_at > (select moment from clock)) {unsaid}
    returning r.*, k.to_rev as last_rev_, k.to_state as last_state_, k.at as last_at_, {last}
),
{p}ended as (
    insert into detent_ended (job, rev, state, updated_at, {kept}, {names})
    select job, last_rev_, last_state_, last_at_, {kept}, {last_names} from {p}gone
)

-- name: unsaid
-- For what was decided on a record that is remembered: what is said without a move does not count as a revision.
and r.progress is not distinct from k.said

-- name: say
-- What was said at length without a move.
{p}said as (
    update detent_records r set {assignments}
    from {rows} k
    where r.job = k.job
    returning 1
)

-- name: written
-- Whole or not at all. The numbers of the new jobs, and the transaction, in case its end is not heard of.
select
    case when {counts} <> :wanted::bigint then detent_not_whole({counts}, :wanted::bigint) end,
    {begun}, pg_current_xact_id()::text, detent_now()

-- name: written_guarded
-- As above, but decided on what was remembered, at a moment that was reckoned, which must be about now.
select
    case when {counts} <> :wanted::bigint or abs((select moment from clock) - :reckoned::bigint) > :tolerance::bigint
        {unlimited}
    then detent_not_whole({counts}, :wanted::bigint) end,
    {begun}, pg_current_xact_id()::text, detent_now()

-- name: unlimited
-- None of the queues that new jobs wait in may have a limit, which would have to be looked at first.
or exists (
    select 1 from detent_queues q
    where q.tenant = :guarded_tenant::text and q.name = any (:guarded_queues::text[]) and q.depth_max is not null
)

-- name: transaction_status
-- What became of a transaction whose end was not heard of. A number that was not given out yet is one that a crash made
-- the server forget; it is asked after one was taken, so that it can no longer be.
select case when :transaction::xid8 < pg_current_xact_id() then pg_xact_status(:transaction::xid8) else 'aborted' end

-- name: event_written
-- The same, by one of its events.
select e.verb, e.at, e.actor, e.worker, e.attempt, e.to_state
from detent_jobs j
join detent_events e on e.job = j.job and e.rev = :rev::bigint
where j.tenant = :tenant::text and j.id = :id::text
