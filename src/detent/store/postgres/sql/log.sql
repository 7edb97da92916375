-- The log, its details, notes and receipts.

-- name: insert_event
-- Numbered in their order: what happens to a job later in a statement has the higher number.
events as (
    insert into detent_events (
        tenant, job, rev, type, verb, from_state, to_state, at, actor, role, worker, attempt, request_id, trace_id,
        cause, changes, payload, version
    )
    select
        tenant, job, rev, type, verb, from_state, to_state, at, actor, role, worker, attempt, request_id, trace_id,
        cause, changes, payload, version
    from {rows} k {in_order}
)

-- name: for_groups
-- Rows that are each for all jobs of a group.
(
    select m.job, {listed}
    from unnest(:{p}members::bigint[], :{p}groups::bigint[]) as m (job, shared)
    join unnest(:{p}row_groups::bigint[]{arrays}) with ordinality as u (shared{aliases}, place)
        on u.shared = m.shared
)

-- name: insert_detail
details as (
    insert into detent_event_details (job, rev, payload, expires_at) select job, rev, payload, expires_at from {rows} k
)

-- name: insert_note
-- Of one kind a job keeps so many: whoever repeats itself does not fill the store.
notes as (
    insert into detent_notes (tenant, job, rev, kind, type, at, actor, payload, version, expires_at)
    select tenant, job, rev, kind, type, at, actor, payload, version, expires_at
    from (select k.*, row_number() over (partition by job, kind order by place) as nth from {rows} k) k
    where (select count(*) from detent_notes n where n.job = k.job and n.kind = k.kind) + nth <= k.kept_max
    order by place
)

-- name: receipt
select k.place, r.digest, r.answer_job_id, r.rev, r.claimed
from unnest(:tenants::text[], :verbs::text[], :job_ids::text[], :request_ids::text[])
    with ordinality as k (tenant, verb, job_id, request_id, place)
join detent_receipts r on r.tenant = k.tenant and r.verb = k.verb and r.job_id = k.job_id
    and r.request_id = k.request_id
where r.expires_at > :now::bigint

-- name: keep_receipt
-- One that is there already stands, unless it has expired or the job it answers with is gone; then it is counted here.
-- That fewer are counted than were brought tells whoever wrote that somebody else was first.
receipts as (
    insert into detent_receipts as old (
        tenant, verb, job_id, request_id, digest, answer_job_id, rev, claimed, expires_at
    )
    select tenant, verb, job_id, request_id, digest, answer_job_id, rev, claimed, expires_at from {rows} k
    on conflict (tenant, verb, job_id, request_id) do update set
        digest = excluded.digest, answer_job_id = excluded.answer_job_id, rev = excluded.rev,
        claimed = excluded.claimed, expires_at = excluded.expires_at
    where old.expires_at <= (select moment from clock)
        or not exists (select 1 from detent_jobs j where j.tenant = old.tenant and j.id = old.answer_job_id)
    returning 1
)

-- name: event_fields
-- Part of every statement that reads events.
    e.seq, e.tenant, j.id, e.rev, e.type, e.verb, e.from_state, e.to_state, e.at, e.actor, e.role, e.worker, e.attempt,
    e.request_id, j.correlation_id, e.trace_id, e.cause, e.changes, coalesce(e.payload, d.payload), e.version

-- name: events_of
-- The logs of these jobs, each in the order of its revisions.
select k.job, {event_fields}
from unnest(:jobs::bigint[]) as k (job)
cross join lateral (select id, correlation_id from detent_jobs where job = k.job offset 0) j
cross join lateral (select * from detent_events where job = k.job offset 0) e
left join lateral (
    select payload from detent_event_details where job = e.job and rev = e.rev offset 0
) d on true
order by k.job, e.rev

-- name: present
-- The moment of a statement: what is committed in its eyes, the number that the next transaction will get, and the last
-- event. Those from the end of the snapshot up to the next number are under way too, though a snapshot does not list
-- them; `age` counts back from the next number, and is asked after the snapshot was taken. So an event that is not
-- committed yet, and has a lower seq than one that is, was written by a transaction that is listed or is one of those.
-- That holds on a primary: a standby's snapshots list nothing. After a restore the events have the numbers of another
-- server's transactions: one that a cursor names, and that this server never gave out, counts as ended.
present as materialized (
    select
        s.snapshot,
        pg_snapshot_xmax(s.snapshot)::text::bigint + greatest(age(pg_snapshot_xmax(s.snapshot)::xid), 0) as next,
        coalesce((select max(seq) from detent_events), 0) as last
    from (select pg_current_snapshot() as snapshot offset 0) s
)

-- name: page_of_events
-- A page, and what its cursors are made of. How many numbers are missing is counted if that is quick, and if it matters,
-- that is, if anything is under way: where none is missing, nothing can come late.
with {present},
page as materialized (
    select * from ({asked}) e
    order by e.seq {order}
    limit :limit::bigint
),
looked as materialized (
    select case when count(*) = :limit::bigint then max(seq) else (select last from present) end as until from page
),
counted as materialized (
    select l.until - :known::bigint - (
        select count(*) from detent_events where seq > :known::bigint and seq <= l.until
    ) as missing
    from looked l
    cross join present p
    where l.until - :known::bigint between 1 and :counted_max::bigint
        and pg_snapshot_xmin(p.snapshot)::text::bigint < p.next
)
select p.snapshot::text, p.next, p.last, c.missing, {event_fields}
from present p
left join counted c on true
left join page e on true
left join lateral (select id, correlation_id from detent_jobs where job = e.job offset 0) j on true
left join lateral (
    select payload from detent_event_details where job = e.job and rev = e.rev offset 0
) d on true
order by e.seq

-- name: events
-- The log in the order in which it was written, from a place on. Mostly a walk along the next events finds a page soon,
-- and nothing has to be sorted. If it does not, those that match are rare, and are looked for by whatever index there is.
(
    with near as materialized (
        select e.*
        from (select * from detent_events where seq > :after::bigint order by seq {order} limit :walked_max::bigint) e
        where e.tenant = :tenant::text {filters}
        order by e.seq {order}
        limit :limit::bigint
    ),
    further as materialized (
        select seq from detent_events
        where seq > :after::bigint order by seq {order} limit 1 offset :walked_max::bigint
    )
    select * from near
    union all
    (
        select e.* from detent_events e
        where (select count(*) from near) < :limit::bigint
            and (select seq from further) is not null and e.seq {beyond} (select seq from further)
            and e.seq > :after::bigint
            and e.tenant = :tenant::text {filters}
        order by e.seq {order}
        limit :limit::bigint
    )
)
{late_events}

-- name: late_events
-- And what was under way when the place was passed. A range of transactions is read whole: by seq, it has no order.
union all
(
    select e.*
    from unnest(:firsts::xid8[], :lasts::xid8[], :lows::bigint[]) as k (first, last, low)
    cross join lateral (
        select * from detent_events e
        where {is_late} and e.tenant = :tenant::text {filters}
        order by e.tx, e.seq
        limit case when k.first = k.last then :limit::bigint end
    ) e
)

-- name: is_late
-- Written so that only the index of transactions fits, and never a walk along all that was written since.
(e.tx, e.seq) > (k.first, k.low) and (e.tx, e.seq) <= (k.last, :after::bigint)
    and e.seq - k.low > 0 and e.seq - :after::bigint <= 0

-- name: events_of_job
(
    select e.* from detent_jobs j
    cross join lateral (select * from detent_events e where e.job = j.job offset 0) e
    where j.tenant = :tenant::text and j.id = :job_id::text
        and (e.seq > :after::bigint {or_late}) {filters}
)

-- name: events_by_correlation
-- A correlation id that was not given is the job's own.
(
    select e.*
    from (
        select job from detent_jobs where tenant = :tenant::text and correlation_id = :correlation_id::text
        union all
        select job from detent_jobs
        where tenant = :tenant::text and id = :correlation_id::text and correlation_id is null
    ) j
    cross join lateral (select * from detent_events e where e.job = j.job offset 0) e
    where (e.seq > :after::bigint {or_late}) {filters}
)

-- name: or_late
or exists (
    select 1 from unnest(:firsts::xid8[], :lasts::xid8[], :lows::bigint[]) as k (first, last, low)
    where e.tx >= k.first and e.tx <= k.last and e.seq > k.low
)

-- name: filter_type
and e.type = :type::text

-- name: filter_verb
and e.verb = :verb::text

-- name: filter_correlation_id
and (select coalesce(j.correlation_id, j.id) from detent_jobs j where j.job = e.job) = :correlation_id::text

-- name: filter_queue
and (select j.queue from detent_jobs j where j.job = e.job) = :queue::text

-- name: filter_kind
and (select j.kind from detent_jobs j where j.job = e.job) = :kind::text

-- name: filter_at_from
and e.at >= :at_from::bigint

-- name: filter_at_until
and e.at <= :at_until::bigint

-- name: look_back
-- The place before the newest so many events; nothing, if there are no more than these.
select seq from detent_events order by seq desc limit 1 offset :events::bigint

-- name: end_of_log
-- A page without events: its cursor is the end.
(select e.* from detent_events e where false)

-- name: is_beyond
-- Polled: two looks into indexes.
select (select coalesce(max(seq), 0) from detent_events) > :after::bigint
    or exists (
        select 1 from unnest(:firsts::xid8[], :lasts::xid8[], :lows::bigint[]) as k (first, last, low)
        cross join lateral (select 1 from detent_events e where {is_late} order by e.tx limit 1) e
    )

-- name: notes_of
select k.job, n.tenant, n.rev, n.kind, n.type, n.at, n.actor, n.payload, n.version
from unnest(:jobs::bigint[]) as k (job)
cross join lateral (select * from detent_notes where job = k.job offset 0) n
order by k.job, n.seq

-- name: notes_of_kind
-- What was said of a job in one way.
select tenant, rev, kind, type, at, actor, payload, version from detent_notes
where job = :job::bigint and kind = :kind::text order by seq
