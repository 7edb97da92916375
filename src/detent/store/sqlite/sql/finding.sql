-- Listings of jobs, newest first, and counts. What is asked for is put together from the filters below.

-- name: find
-- The record says which; only these are read whole. Specs and contents are large, and a sort would carry them along.
{columns}
from (
    select r.job from detent_records r
    where r.tenant = :tenant and r.job < :before {filters}
    order by r.job desc
    limit :limit
) p
cross join detent_records r on r.job = p.job
cross join detent_jobs j on j.job = p.job
left join detent_contents c on c.job = p.job
order by p.job desc

-- name: find_both
-- Where the record does not say enough.
{columns}
from detent_records r
cross join detent_jobs j on j.job = r.job
left join detent_contents c on c.job = r.job
where r.tenant = :tenant and r.job < :before {filters}
order by r.job desc
limit :limit

-- name: find_linked
-- Where an index of the spec narrows it down, it leads.
{columns}
from detent_jobs j
cross join detent_records r on r.job = j.job
left join detent_contents c on c.job = j.job
where j.tenant = :tenant and j.job < :before {filters}
order by j.job desc
limit :limit

-- name: count
-- How many, for each combination of the columns below that was asked for. No job is read whole.
select count(*) {values}
from {tables}
where r.tenant = :tenant {filters}
{grouping}

-- name: counted_records
-- The record alone, if it has all that is asked for: specs hold payloads, and are slow to go through.
detent_records r

-- name: counted_both
detent_records r cross join detent_jobs j on j.job = r.job

-- name: counted_links
detent_jobs j cross join detent_records r on r.job = j.job and j.tenant = :tenant

-- name: count_by_lifecycle
-- All versions of a lifecycle together.
(select l.name from detent_lifecycles l where l.lifecycle = r.lifecycle)

-- name: count_by_state
r.state

-- name: count_by_phase
r.phase

-- name: count_by_outcome
r.outcome

-- name: count_by_queue
r.queue

-- name: count_by_kind
r.kind

-- name: filter_find_state
and r.state = :state

-- name: filter_find_phase
and r.phase = :phase

-- name: filter_find_live
and r.ended_at is null

-- name: filter_find_outcome
-- Most jobs succeed: walking back over them finds a page soon. The plus keeps the index of ends out of it.
and +r.outcome = :outcome

-- name: filter_find_rare_outcome
-- The others are few: their index finds them all at once.
and r.outcome = :outcome and r.ended_at is not null

-- name: filter_find_queue
and r.queue = :queue

-- name: filter_find_kind
and r.kind = :kind

-- name: filter_find_lifecycle
and r.lifecycle in (select lifecycle from detent_lifecycles where name = :lifecycle)

-- name: filter_find_owner
and r.owner = :owner

-- name: filter_find_correlation_id
and j.correlation_id = :correlation_id

-- name: filter_find_own_correlation_id
and j.id = :correlation_id and j.correlation_id is null

-- name: filter_find_parent_job_id
and j.parent_job_id = :parent_job_id

-- name: filter_find_workflow_id
and j.workflow_id = :workflow_id

-- name: filter_find_dedupe_key
and j.dedupe_key = :dedupe_key

-- name: filter_find_limit_key
and j.limit_key = :limit_key

-- name: filter_find_topic
and j.topic = :topic

-- name: filter_find_created_from
and r.created_at >= :created_from

-- name: filter_find_created_until
and r.created_at <= :created_until

-- name: filter_find_ended_from
and r.ended_at >= :ended_from

-- name: filter_find_ended_until
and r.ended_at <= :ended_until

-- name: last_record
select coalesce(max(job), 0) from detent_records

-- name: stories
-- Jobs in the order of their numbers: a walk over the whole store.
{columns}
from detent_records r
cross join detent_jobs j on j.job = r.job
left join detent_contents c on c.job = r.job
where r.job > :after and r.job <= :last and (:tenant is null or r.tenant = :tenant)
order by r.job
limit :limit
