-- What is kept beside jobs: paused queues, workers, schedules.

-- name: pause_queue
-- One that is paused stays paused since when it was, by whoever it was.
insert into detent_pauses (tenant, queue, paused_at, paused_by, paused_reason) values (?, ?, ?, ?, ?)
on conflict (tenant, queue) do nothing

-- name: resume_queue
delete from detent_pauses where tenant = ? and queue = ?

-- name: is_paused
-- Asked by every claim, unless the session knows.
select 1 from detent_pauses where tenant = ? and queue = ?

-- name: queues
-- Those for which something is set: a limit, or that they are paused.
select n.name, q.depth_max, p.paused_at, p.paused_by, p.paused_reason
from (
    select name from detent_queues where tenant = ?1 and depth_max is not null
    union
    select queue from detent_pauses where tenant = ?1
) n
left join detent_queues q on q.tenant = ?1 and q.name = n.name
left join detent_pauses p on p.tenant = ?1 and p.queue = n.name
where ?2 is null or n.name = ?2
order by n.name
limit ?3

-- name: report_worker
insert into detent_workers (
    tenant, name, host, pid, started_at, queues, kinds, adapters, slots, slots_used, version, is_draining,
    lanes, seen_at
) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (tenant, name) do update set
    host = excluded.host, pid = excluded.pid, started_at = excluded.started_at, queues = excluded.queues,
    kinds = excluded.kinds, adapters = excluded.adapters, slots = excluded.slots, slots_used = excluded.slots_used,
    version = excluded.version, is_draining = excluded.is_draining, lanes = excluded.lanes,
    seen_at = excluded.seen_at

-- name: forget_worker
delete from detent_workers where tenant = ? and name = ?

-- name: forget_workers
-- Those not heard of for long, whoever's they are.
delete from detent_workers where (tenant, name) in (
    select tenant, name from detent_workers where seen_at < ? order by seen_at limit ?
)

-- name: workers
select
    tenant, name, host, pid, started_at, queues, kinds, adapters, slots, slots_used, version, is_draining,
    lanes, seen_at
from detent_workers
where tenant = ? and seen_at >= ?
order by seen_at desc, name
limit ?

-- name: keep_schedule
-- Another expression, or another zone, makes other ticks: it goes on from the one that is brought.
insert into detent_schedules (tenant, name, cron, zone, kind, payload, digest, next_at)
values (?, ?, ?, ?, ?, ?, ?, ?)
on conflict (tenant, name) do update set
    next_at = case when cron = excluded.cron and zone = excluded.zone then next_at else excluded.next_at end,
    cron = excluded.cron, zone = excluded.zone, kind = excluded.kind, payload = excluded.payload,
    digest = excluded.digest
where digest <> excluded.digest

-- name: schedules
select
    tenant, name, cron, zone, kind, payload, digest, next_at, last_at, paused_at, paused_by, paused_reason
from detent_schedules
where tenant = ?
order by name
limit ?

-- name: advance_schedule
-- Compare and set: who finds it at that tick has it, unless it is paused.
update detent_schedules set next_at = ?4, last_at = case when paused_at is null then next_at else last_at end
where tenant = ?1 and name = ?2 and next_at = ?3
returning paused_at is null

-- name: pause_schedule
update detent_schedules set
    paused_by = case when paused_at is null then ?4 else paused_by end,
    paused_reason = case when paused_at is null then ?5 else paused_reason end,
    paused_at = coalesce(paused_at, ?3)
where tenant = ?1 and name = ?2
returning 1

-- name: resume_schedule
-- What it has not gone on to by itself, because nobody was there, has passed by all the same.
update detent_schedules set
    next_at = case when paused_at is null then next_at else max(next_at, ?3) end,
    paused_at = null, paused_by = null, paused_reason = null
where tenant = ?1 and name = ?2
returning 1

-- name: forget_schedule
delete from detent_schedules where tenant = ? and name = ? returning 1
