-- Listings of jobs, newest first, and counts. What is asked for is put together from the filters below.
--
-- A lookup that must go by an index stands in a subquery with `offset 0`, which the planner takes as it is: right after
-- a load it has no statistics, and would rather walk over everything.

-- name: found
-- Only the jobs of the page are read whole: specs and results are large.
{columns}
from (
    select a.job from ({asked}) a
    order by a.job desc
    limit :limit::bigint
) p
cross join lateral (select * from detent_all_records r where r.job = p.job offset 0) r
cross join lateral (select * from detent_jobs j where j.job = p.job offset 0) j
order by p.job desc

-- name: find
-- Which they are, the record says. Mostly a walk over the newest finds a page soon, and nothing has to be sorted. If it
-- does not, those that match are rare, and are looked for among the others by whatever index there is.
(
    with near as materialized (
        select r.job
        from (
            select * from {records} r where r.job < :before::bigint order by r.job desc limit :walked_max::bigint
        ) r
        where r.tenant = :tenant::text {filters}
        order by r.job desc
        limit :limit::bigint
    ),
    further as materialized (
        select w.job from {records} w
        where w.job < :before::bigint order by w.job desc limit 1 offset :walked_max::bigint
    )
    select job from near
    union all
    (
        select r.job from {records} r
        where (select count(*) from near) < :limit::bigint
            and (select job from further) is not null and r.job <= (select job from further)
            and r.tenant = :tenant::text {filters}
        order by r.job desc
        limit :limit::bigint
    )
)

-- name: find_linked
-- Where an index of the spec narrows it down, it leads.
(
    select j.job
    from (select j.job from detent_jobs j where j.tenant = :tenant::text and j.job < :before::bigint {links} offset 0) j
    cross join lateral (select * from {records} r where r.job = j.job offset 0) r
    where true {filters}
    order by j.job desc
    limit :limit::bigint
)

-- name: live_records
-- Where to look: at jobs that have not ended, at those that have, or at all.
(select *, null::bigint as ended_at, null::text as outcome from detent_records)

-- name: ended_records
detent_ended

-- name: all_records
detent_all_records

-- name: count
-- How many, for each combination of the columns below that was asked for. No job is read whole.
select count(*) {values}
from {tables}
where r.tenant = :tenant::text {filters}
{grouping}

-- name: counted_records
{records} r

-- name: counted_links
(select j.job from detent_jobs j where j.tenant = :tenant::text {links} offset 0) j
cross join lateral (select * from {records} r where r.job = j.job offset 0) r

-- name: count_by_lifecycle
-- All versions of a lifecycle together: they are added up afterwards.
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
and r.state = :state::text

-- name: filter_find_phase
and r.phase = :phase::text

-- name: filter_find_outcome
and r.outcome = :outcome::text

-- name: filter_find_queue
and r.queue = :queue::text

-- name: filter_find_kind
and r.kind = :kind::text

-- name: filter_find_lifecycle
and r.lifecycle = any (array(select l.lifecycle from detent_lifecycles l where l.name = :lifecycle::text))

-- name: filter_find_owner
and r.owner = :owner::text

-- name: filter_find_correlation_id
and j.correlation_id = :correlation_id::text

-- name: filter_find_own_correlation_id
and j.id = :correlation_id::text and j.correlation_id is null

-- name: filter_find_parent_job_id
and j.parent_job_id = :parent_job_id::text

-- name: filter_find_workflow_id
and j.workflow_id = :workflow_id::text

-- name: filter_find_dedupe_key
-- The record does not say; its spec does.
and (select j.dedupe_key from detent_jobs j where j.job = r.job) = :dedupe_key::text

-- name: filter_find_limit_key
-- The record of an ended job does not say; its spec does.
and (select j.limit_key from detent_jobs j where j.job = r.job) = :limit_key::text

-- name: filter_find_topic
and (select j.topic from detent_jobs j where j.job = r.job) = :topic::text

-- name: filter_find_created_from
and r.created_at >= :created_from::bigint

-- name: filter_find_created_until
and r.created_at <= :created_until::bigint

-- name: filter_find_ended_from
and r.ended_at >= :ended_from::bigint

-- name: filter_find_ended_until
and r.ended_at <= :ended_until::bigint

-- name: last_record
select greatest((select max(job) from detent_records), (select max(job) from detent_ended), 0)

-- name: stories
-- Jobs in the order of their numbers: a walk over the whole store.
{columns}
from (
    select r.job from detent_all_records r
    where r.job > :after::bigint and r.job <= :last::bigint and (:tenant::text is null or r.tenant = :tenant::text)
    order by r.job
    limit :limit::bigint
) p
cross join lateral (select * from detent_all_records r where r.job = p.job offset 0) r
cross join lateral (select * from detent_jobs j where j.job = p.job offset 0) j
order by p.job
