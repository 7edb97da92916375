-- Finding what can be claimed.

-- name: kinds
-- The kinds that wait in a queue, each found by one step into the index, however many jobs wait.
with recursive waiting (kind) as (
    select min(kind) from detent_records where tenant = ?1 and queue = ?2 and claim_at is not null
    union all
    select (
        select min(kind) from detent_records
        where tenant = ?1 and queue = ?2 and kind > waiting.kind and claim_at is not null
    )
    from waiting where waiting.kind is not null
)
select kind from waiting where kind is not null

-- name: adapters
-- The adapters that jobs of a kind in a queue wait for, found likewise.
with recursive waiting (adapter) as (
    select min(adapter) from detent_records where tenant = ?1 and queue = ?2 and kind = ?3 and claim_at is not null
    union all
    select (
        select min(adapter) from detent_records
        where tenant = ?1 and queue = ?2 and kind = ?3 and adapter > waiting.adapter and claim_at is not null
    )
    from waiting where waiting.adapter is not null
)
select adapter from waiting where adapter is not null

-- name: lane
-- The first jobs of one kind and adapter in one queue that are due, after a place in the order, up to the present.
select order_at, job from detent_records indexed by detent_records_claimable
where tenant = ?1 and queue = ?2 and kind = ?3 and adapter = ?4 and claim_at <= ?5
    and order_at <= ?5 and (order_at, job) > (?6, ?7) {passed}
order by order_at, job
limit ?8

-- name: patient_lane
-- Beyond the present only those can be due that let others go first.
select order_at, job from detent_records indexed by detent_records_patient
where tenant = ?1 and queue = ?2 and kind = ?3 and adapter = ?4 and claim_at <= ?5
    and order_at > ?5 and order_at > claim_at and (order_at, job) > (?6, ?7) {passed}
order by order_at, job
limit ?8

-- name: passing_over
-- Part of a lane: without the keys that take no job now.
and (limit_key is null or limit_key not in (select value from json_each(?9)))

-- name: depth_max
select depth_max from detent_queues where tenant = ? and name = ? and depth_max is not null

-- name: depth
-- How many jobs wait in a queue, counted no further than is needed.
select count(*) from (
    select 1 from detent_records where tenant = ? and queue = ? and claim_at is not null limit ?
)

-- name: oldest_ready
-- Since when the first of the jobs that are due waits, in each queue. The index alone answers, and only what waits is in it.
select queue, min(claim_at) from detent_records indexed by detent_records_claimable
where tenant = ?1 and (?2 is null or queue = ?2) and claim_at <= ?3
group by queue

-- name: limit_queue
insert into detent_queues (tenant, name, depth_max) values (?, ?, ?)
on conflict (tenant, name) do update set depth_max = excluded.depth_max
