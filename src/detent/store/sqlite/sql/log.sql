-- The log, its details, notes and receipts.

-- name: insert_event
insert into detent_events (
    tenant, job, rev, type, verb, from_state, to_state, at, actor, role, worker, attempt, request_id, trace_id, cause,
    changes, payload, version
) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: insert_detail
insert into detent_event_details (seq, payload, expires_at)
select seq, ?3, ?4 from detent_events where job = ?1 and rev = ?2

-- name: insert_note
-- Of one kind a job keeps so many: whoever repeats itself does not fill the store.
insert into detent_notes (tenant, job, rev, kind, type, at, actor, payload, version, expires_at)
select ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10
where (select count(*) from detent_notes where job = ?2 and kind = ?4) < ?11

-- name: receipt
select digest, answer_job_id, rev, claimed from detent_receipts
where tenant = ? and verb = ? and job_id = ? and request_id = ? and expires_at > ?

-- name: keep_receipt
insert or replace into detent_receipts (
    tenant, verb, job_id, request_id, digest, answer_job_id, rev, claimed, expires_at
) values (?, ?, ?, ?, ?, ?, ?, ?, ?)

-- name: event_columns
select {event_fields}

-- name: event_fields
-- Part of every statement that reads events.
    e.seq, e.tenant, j.id, e.rev, e.type, e.verb, e.from_state, e.to_state, e.at, e.actor, e.role, e.worker, e.attempt,
    e.request_id, j.correlation_id, e.trace_id, e.cause, e.changes, coalesce(e.payload, d.payload), e.version

-- name: events_of
-- One job's log.
{event_columns}
from detent_events e
left join detent_jobs j on j.job = e.job
left join detent_event_details d on d.seq = e.seq
where e.job = ?
order by e.rev

-- name: events_between
-- The logs of jobs whose numbers follow one another, each in the order of its revisions.
select e.job, {event_fields}
from detent_events e
left join detent_jobs j on j.job = e.job
left join detent_event_details d on d.seq = e.seq
where e.job between :first and :last and (:tenant is null or e.tenant = :tenant)
order by e.job, e.rev

-- name: notes_between
select job, tenant, rev, kind, type, at, actor, payload, version from detent_notes
where job between :first and :last and (:tenant is null or tenant = :tenant)
order by job, seq

-- name: events
-- The log in the order of commit, from a place on. Not by the index of types: it would sort the whole log.
{event_columns}
from detent_events e not indexed
cross join detent_jobs j on j.job = e.job
left join detent_event_details d on d.seq = e.seq
where e.seq > :after and e.tenant = :tenant {filters}
order by e.seq {order}
limit :limit

-- name: events_of_job
{event_columns}
from detent_jobs j
cross join detent_events e on e.job = j.job
left join detent_event_details d on d.seq = e.seq
where j.tenant = :tenant and j.id = :job_id and e.seq > :after {filters}
order by e.seq {order}
limit :limit

-- name: events_by_correlation
-- A correlation id that was not given is the job's own.
{event_columns}
from (
    select job, tenant, id, correlation_id, queue, kind from detent_jobs
    where tenant = :tenant and correlation_id = :correlation_id
    union all
    select job, tenant, id, correlation_id, queue, kind from detent_jobs
    where tenant = :tenant and id = :correlation_id and correlation_id is null
) j
cross join detent_events e on e.job = j.job
left join detent_event_details d on d.seq = e.seq
where e.seq > :after {filters}
order by e.seq {order}
limit :limit

-- name: events_by_type
-- Of one type in a span of time, along the index of types, and yet in the order of commit.
{event_columns}
from (
    select seq from detent_events indexed by detent_events_type
    where tenant = :tenant and type = :type and at >= :at_from and at <= :at_until and seq > :after
    order by seq limit :limit
) k
cross join detent_events e on e.seq = k.seq
cross join detent_jobs j on j.job = e.job
left join detent_event_details d on d.seq = e.seq
order by e.seq

-- name: filter_job_id
and j.id = :job_id

-- name: filter_type
and e.type = :type

-- name: filter_verb
and e.verb = :verb

-- name: filter_correlation_id
and coalesce(j.correlation_id, j.id) = :correlation_id

-- name: filter_queue
and j.queue = :queue

-- name: filter_kind
and j.kind = :kind

-- name: filter_at_from
and e.at >= :at_from

-- name: filter_at_until
and e.at <= :at_until

-- name: look_back
-- The place before the newest so many events; nothing, if there are no more than these.
select seq from detent_events order by seq desc limit 1 offset ?

-- name: end_of_log
select coalesce(max(seq), 0) from detent_events

-- name: notes_of
select tenant, rev, kind, type, at, actor, payload, version from detent_notes where job = ? order by seq

-- name: notes_of_kind
-- What was said of a job in one way.
select tenant, rev, kind, type, at, actor, payload, version from detent_notes where job = ? and kind = ? order by seq
