-- Retention, counts and checks. Whatever is removed was locked before, so that two that remove do not wait for each
-- other in a ring. Jobs that have not ended, which is what claims look at, are never touched.

-- name: old_jobs
-- Jobs of each outcome that ended before a moment, oldest first. Those that somebody else is removing are left to them.
select r.job
from unnest(:outcomes::text[], :befores::bigint[]) as k (outcome, before)
cross join lateral (
    select r.job from detent_ended r
    where r.tenant = :tenant::text and r.outcome = k.outcome and r.ended_at < k.before
    order by r.ended_at
    limit :limit::bigint
    for update skip locked
) r
limit :limit::bigint

-- name: ended_jobs
-- Those of these jobs that have ended.
select r.job from detent_ended r
where r.job = any (
    array(
        select j.job from unnest(:ids::text[]) as k (id)
        join detent_jobs j on j.tenant = :tenant::text and j.id = k.id
    )
)
order by r.job
for update

-- name: remove_record
with gone as (delete from detent_ended where job = any (:jobs::bigint[]) returning 1) select count(*) from gone

-- name: remove_details
with gone as (delete from detent_event_details where job = any (:jobs::bigint[]) returning 1) select count(*) from gone

-- name: remove_events
with gone as (delete from detent_events where job = any (:jobs::bigint[]) returning 1) select count(*) from gone

-- name: remove_notes
delete from detent_notes where job = any (:jobs::bigint[])

-- name: remove_receipts
-- Of verbs on the job: a new job of the same id has not heard them. Those that made it answer with nothing any more.
delete from detent_receipts r using detent_jobs j
where j.job = any (:jobs::bigint[]) and r.tenant = j.tenant and r.verb = '' and r.job_id = j.id

-- name: remove_job
delete from detent_jobs where job = any (:jobs::bigint[])

-- name: expired_details
with gone as (
    delete from detent_event_details d using (
        select job, rev from detent_event_details
        where expires_at <= :now::bigint order by expires_at limit :limit::bigint
        for update skip locked
    ) k
    where d.job = k.job and d.rev = k.rev
    returning 1
)
select count(*) from gone

-- name: expired_notes
with gone as (
    delete from detent_notes n using (
        select seq from detent_notes
        where expires_at <= :now::bigint order by expires_at limit :limit::bigint
        for update skip locked
    ) k
    where n.seq = k.seq
    returning 1
)
select count(*) from gone

-- name: expired_receipts
with gone as (
    delete from detent_receipts r using (
        select tenant, verb, job_id, request_id from detent_receipts
        where expires_at <= :now::bigint order by expires_at limit :limit::bigint
        for update skip locked
    ) k
    where (r.tenant, r.verb, r.job_id, r.request_id) = (k.tenant, k.verb, k.job_id, k.request_id)
    returning 1
)
select count(*) from gone

-- name: count_orphan_events
select count(*) from detent_events e
where not exists (select 1 from detent_records r where r.job = e.job)
    and not exists (select 1 from detent_ended r where r.job = e.job)

-- name: count_orphan_notes
select count(*) from detent_notes n
where not exists (select 1 from detent_records r where r.job = n.job)
    and not exists (select 1 from detent_ended r where r.job = n.job)

-- name: count_missing_events
-- Every revision of every job has its event: what the log lacks. Events without a record are none of them.
select coalesce((select sum(rev) from detent_all_records), 0)::bigint
    - (select count(*) from detent_events) + :orphans::bigint

-- name: count_doubled_records
-- A job has ended or has not.
select count(*) from detent_records r join detent_ended d on d.job = r.job

-- name: count_missing_records
select count(*) from detent_jobs j
where not exists (select 1 from detent_records r where r.job = j.job)
    and not exists (select 1 from detent_ended r where r.job = j.job)

-- name: count_missing_specs
select count(*) from detent_all_records r where not exists (select 1 from detent_jobs j where j.job = r.job)

-- name: integrity
-- Pages that were not as they had been written, as far as the server has noticed; nothing, if it does not look.
select checksum_failures from pg_stat_database where datname = current_database() and checksum_failures > 0
