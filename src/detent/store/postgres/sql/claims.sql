-- Finding what can be claimed.

-- name: kinds
-- The kinds that wait in a queue, each found by one step into the index, however many jobs wait.
with recursive waiting (kind) as (
    (
        select kind from detent_records where tenant = :tenant::text and queue = :queue::text and claim_at is not null
        order by kind limit 1
    )
    union all
    select (
        select r.kind from detent_records r
        where r.tenant = :tenant::text and r.queue = :queue::text and r.kind > waiting.kind and r.claim_at is not null
        order by r.kind limit 1
    )
    from waiting where waiting.kind is not null
)
select kind from waiting where kind is not null

-- name: given_lanes
-- One lane for each kind and adapter in each queue, from a place in its order on.
unnest(
    :queues::text[], :kinds::text[], :adapters::text[], :orders::bigint[], :jobs::bigint[]
) as l (queue, kind, adapter, order_at, job)

-- name: found_lanes
-- Those of any adapter that jobs wait for, found likewise, from their very start; but for those that are spared.
(
    with recursive waiting (queue, kind, adapter) as (
        select q.name, k.name, (
            select r.adapter from detent_records r
            where r.tenant = :tenant::text and r.queue = q.name and r.kind = k.name and r.claim_at is not null
            order by r.adapter limit 1
        )
        from unnest(:queues::text[]) as q (name) cross join unnest(:kinds::text[]) as k (name)
        union all
        select w.queue, w.kind, (
            select r.adapter from detent_records r
            where r.tenant = :tenant::text and r.queue = w.queue and r.kind = w.kind and r.adapter > w.adapter
                and r.claim_at is not null
            order by r.adapter limit 1
        )
        from waiting w where w.adapter is not null
    )
    select w.queue, w.kind, w.adapter, :first::bigint as order_at, 0::bigint as job
    from waiting w where w.adapter is not null and (w.queue, w.kind, w.adapter) not in (
        select s.queue, s.kind, s.adapter
        from unnest(:spared_queues::text[], :spared_kinds::text[], :spared_adapters::text[]) as s (queue, kind, adapter)
    )
) l

-- name: look
-- The first jobs of each kind and adapter in each queue, after a place in the order: locked, for whoever asked first.
-- What somebody else has locked is passed over.
{of_each}
from (select coalesce(:now::bigint, detent_now()) as moment offset 0) c
cross join {lanes}
cross join lateral (
    {jobs}
) r
cross join lateral (select * from detent_jobs i where i.job = r.job offset 0) j
order by r.order_at, r.job

-- name: lane
-- Those that are due, up to the present.
select * from detent_records i
where not {is_paused}
    and i.tenant = :tenant::text and i.queue = l.queue and i.kind = l.kind and i.adapter = l.adapter
    and i.claim_at is not null and i.claim_at <= c.moment
    and i.order_at <= c.moment and (i.order_at, i.job) > (l.order_at, l.job)
    {passed}
order by i.order_at, i.job
limit :limit::bigint
{locked}

-- name: patient_lane
-- Beyond the present only those can be due that let others go first.
select * from detent_records i
where not {is_paused}
    and i.tenant = :tenant::text and i.queue = l.queue and i.kind = l.kind and i.adapter = l.adapter
    and i.claim_at is not null and i.claim_at <= c.moment
    and i.order_at > c.moment and i.order_at > i.claim_at and (i.order_at, i.job) > (l.order_at, l.job)
    {passed}
order by i.order_at, i.job
limit :limit::bigint
{locked}

-- name: locked
-- For whoever asked first; others pass them over.
for update skip locked

-- name: both_lanes
-- On one journey, where there is room for all that there is as a rule.
select * from (
    {lane}
) d
union all
select * from (
    {patient_lane}
) p

-- name: all_of_it
{live_columns}, c.moment

-- name: what_differs
-- Of jobs that were never claimed: what they are, and whether they are like one that a claim was decided on.
select
    r.job, {spec_columns}, r.created_at, r.payload_digest, r.order_at,
    j.lifecycle = :like_lifecycle::bigint and j.policy = :like_policy::bigint and j.trace_id is null
    and j.limit_key is null
    and r.state = :like_state::text and r.rev = :like_rev::bigint and r.attempt = 0
    and r.updated_at <= :reckoned::bigint and r.claim_at <= :reckoned::bigint and r.rerun_of is null
    and r.owner is null and r.lease_s is null and r.lease_expires_at is null and r.heartbeat_by is null
    and r.last_owner is null and r.last_lease_expires_at is null and r.deadline_at is null and r.cancel_by is null
    and r.failures = 0 and r.crashes = 0 and r.interruptions = 0 and r.retries = 0
    and r.verdict is null and r.rule is null and r.result_ptr is null and r.checkpoint_digest is null
    and r.claimed_at is null and r.started_at is null
    and r.last_error is null and r.checkpoint is null and r.progress is null as is_alike

-- name: claim_at_once
-- The first jobs of the lanes, claimed as was decided on one like them; if one of them is not, or it was decided at
-- another moment than now, they are found and no more. The jobs are named by an array: joined with those that were found,
-- the records could be walked through, all of them, by a plan that was made while there were few.
with clock as materialized (select coalesce(:clock::bigint, detent_now()) as moment),
found as materialized (
    select * from (
        {look}
    ) l
    order by order_at, job limit :limit::bigint
),
alike as materialized (
    select
        bool_and(f.is_alike) and abs((select moment from clock) - :reckoned::bigint) <= :tolerance::bigint as is_so,
        detent_now() - (extract(epoch from statement_timestamp()) * 1000000)::bigint as took
    from found f
),
moved as (
    update detent_records r set {assignments}, state = k.to_state, rev = k.to_rev, updated_at = k.at
    from alike a, (select {step}) k
    where a.is_so and r.job = any (array(select f.job from found f)) and r.rev = k.from_rev
    returning 1
),
events as (
    insert into detent_events (
        tenant, job, rev, type, verb, from_state, to_state, at, actor, role, worker, attempt, request_id, trace_id,
        cause, changes, payload, version
    )
    select
        e.tenant, f.job, e.rev, e.type, e.verb, e.from_state, e.to_state, e.at, e.actor, e.role, e.worker, e.attempt,
        e.request_id, e.trace_id, e.cause, e.changes, e.payload, e.version
    from alike a, found f, unnest(
        :event_tenant::text[], :event_rev::bigint[], :event_type::text[], :event_verb::text[],
        :event_from_state::text[], :event_to_state::text[], :event_at::bigint[], :event_actor::text[],
        :event_role::text[], :event_worker::text[], :event_attempt::bigint[], :event_request_id::text[],
        :event_trace_id::text[], :event_cause::text[], :event_changes::text[], :event_payload::text[],
        :event_version::bigint[]
    ) with ordinality as e (
        tenant, rev, type, verb, from_state, to_state, at, actor, role, worker, attempt, request_id, trace_id, cause,
        changes, payload, version, place
    )
    where a.is_so
    order by e.place
)
select
    f.*, c.moment, a.took,
    case
        when a.is_so and (select count(*) from moved) <> (select count(*) from found)
        then detent_not_whole((select count(*) from moved), (select count(*) from found))
        else a.is_so
    end,
    pg_current_xact_id()::text
from alike a cross join clock c cross join found f
order by f.order_at, f.job

-- name: depth_max
-- The limits of these queues, if they have any. Locked: of those who fill a limited queue at the same time, each sees
-- what the one before has left, if it counts after this.
select q.tenant, q.name, q.depth_max
from unnest(:tenants::text[], :queues::text[]) as k (tenant, name)
join detent_queues q on q.tenant = k.tenant and q.name = k.name
where q.depth_max is not null
for update of q

-- name: depth
-- How many jobs wait in a queue, counted no further than is needed.
select count(*) from (
    select 1 from detent_records
    where tenant = :tenant::text and queue = :queue::text and claim_at is not null
    limit :counted_max::bigint
) w

-- name: oldest_ready
-- Since when the first of the jobs that are due waits, in each queue. The index alone answers, and only what waits is in it.
select queue, min(claim_at) from detent_records
where tenant = :tenant::text and (:queue::text is null or queue = :queue::text)
    and claim_at is not null and claim_at <= coalesce(:now::bigint, detent_now())
group by queue

-- name: limit_queue
insert into detent_queues (tenant, name, depth_max) values (:tenant::text, :queue::text, :depth_max::bigint)
on conflict (tenant, name) do update set depth_max = excluded.depth_max
