-- What is kept beside jobs: paused queues, workers, schedules.

-- name: pause_queue
-- One that is paused stays paused since when it was, by whoever it was.
insert into detent_pauses (tenant, queue, paused_at, paused_by, paused_reason)
values (:tenant::text, :queue::text, coalesce(:now::bigint, detent_now()), :by::text, :reason::text)
on conflict (tenant, queue) do nothing

-- name: resume_queue
delete from detent_pauses where tenant = :tenant::text and queue = :queue::text

-- name: is_paused
-- Part of what a claim asks of each lane: true, and nothing in it is looked at.
(select p.queue from detent_pauses p where p.tenant = :tenant::text and p.queue = l.queue) is not null

-- name: queues
-- Those for which something is set: a limit, or that they are paused.
select n.name, q.depth_max, p.paused_at, p.paused_by, p.paused_reason
from (
    select name from detent_queues where tenant = :tenant::text and depth_max is not null
    union
    select queue from detent_pauses where tenant = :tenant::text
) n
left join detent_queues q on q.tenant = :tenant::text and q.name = n.name
left join detent_pauses p on p.tenant = :tenant::text and p.queue = n.name
where :name::text is null or n.name = :name::text
order by n.name
limit :limit::bigint

-- name: report_worker
insert into detent_workers (
    tenant, name, host, pid, started_at, queues, kinds, adapters, slots, slots_used, version, is_draining,
    lanes, seen_at
) values (
    :tenant::text, :name::text, :host::text, :pid::bigint, :started_at::bigint, :queues::text, :kinds::text,
    :adapters::text, :slots::bigint, :slots_used::bigint, :version::text, :is_draining::boolean,
    :lanes::text, coalesce(:now::bigint, detent_now())
)
on conflict (tenant, name) do update set
    host = excluded.host, pid = excluded.pid, started_at = excluded.started_at, queues = excluded.queues,
    kinds = excluded.kinds, adapters = excluded.adapters, slots = excluded.slots, slots_used = excluded.slots_used,
    version = excluded.version, is_draining = excluded.is_draining, lanes = excluded.lanes,
    seen_at = excluded.seen_at

-- name: forget_worker
delete from detent_workers where tenant = :tenant::text and name = :name::text

-- name: forget_workers
-- Those not heard of for long, whoever's they are.
delete from detent_workers w using (
    select tenant, name from detent_workers
    where seen_at < coalesce(:now::bigint, detent_now()) - :kept::bigint
    order by seen_at limit :limit::bigint
    for update skip locked
) k
where w.tenant = k.tenant and w.name = k.name

-- name: workers
select
    tenant, name, host, pid, started_at, queues, kinds, adapters, slots, slots_used, version, is_draining,
    lanes, seen_at
from detent_workers
where tenant = :tenant::text and seen_at >= coalesce(:now::bigint, detent_now()) - :within::bigint
order by seen_at desc, name
limit :limit::bigint

-- name: keep_schedule
-- Another expression, or another zone, makes other ticks: it goes on from the one that is brought. In the order of
-- their names, so that two who bring the same do not wait for each other in a ring.
insert into detent_schedules as old (tenant, name, cron, zone, kind, payload, digest, next_at)
select :tenant::text, k.name, k.cron, k.zone, k.kind, k.payload, k.digest, k.next_at
from unnest(
    :names::text[], :crons::text[], :zones::text[], :kinds::text[], :payloads::bytea[], :digests::text[],
    :nexts::bigint[]
) as k (name, cron, zone, kind, payload, digest, next_at)
order by k.name
on conflict (tenant, name) do update set
    next_at = case when old.cron = excluded.cron and old.zone = excluded.zone then old.next_at else excluded.next_at end,
    cron = excluded.cron, zone = excluded.zone, kind = excluded.kind, payload = excluded.payload,
    digest = excluded.digest
where old.digest <> excluded.digest

-- name: schedules
select
    tenant, name, cron, zone, kind, payload, digest, next_at, last_at, paused_at, paused_by, paused_reason
from detent_schedules
where tenant = :tenant::text
order by name
limit :limit::bigint

-- name: advance_schedule
-- Compare and set: who finds it at that tick has it, unless it is paused. And the transaction, in case its end is not
-- heard of.
update detent_schedules set
    next_at = :next_at::bigint, last_at = case when paused_at is null then next_at else last_at end
where tenant = :tenant::text and name = :name::text and next_at = :expected::bigint
returning paused_at is null, pg_current_xact_id()::text, detent_now()

-- name: pause_schedule
update detent_schedules set
    paused_by = case when paused_at is null then :by::text else paused_by end,
    paused_reason = case when paused_at is null then :reason::text else paused_reason end,
    paused_at = coalesce(paused_at, :now::bigint, detent_now())
where tenant = :tenant::text and name = :name::text
returning 1

-- name: resume_schedule
-- What it has not gone on to by itself, because nobody was there, has passed by all the same.
update detent_schedules set
    next_at = case
        when paused_at is null then next_at else greatest(next_at, coalesce(:now::bigint, detent_now()))
    end,
    paused_at = null, paused_by = null, paused_reason = null
where tenant = :tenant::text and name = :name::text
returning 1

-- name: forget_schedule
delete from detent_schedules where tenant = :tenant::text and name = :name::text returning 1
