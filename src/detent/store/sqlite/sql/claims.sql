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

-- name: lane
-- The first jobs of one kind in one queue that are due, after a place in the order.
select order_at, job from detent_records
where tenant = ?1 and queue = ?2 and kind = ?3 and claim_at <= ?4 and (order_at, job) > (?5, ?6)
order by order_at, job
limit ?7

-- name: depth_max
select depth_max from detent_queues where tenant = ? and name = ? and depth_max is not null

-- name: depth
-- How many jobs wait in a queue, counted no further than to its limit.
select count(*) from (
    select 1 from detent_records where tenant = ? and queue = ? and claim_at is not null limit ?
)

-- name: limit_queue
insert into detent_queues (tenant, name, depth_max) values (?, ?, ?)
on conflict (tenant, name) do update set depth_max = excluded.depth_max
