-- Retention, counts and checks.

-- name: old_jobs
-- Jobs of one outcome that ended before a moment, oldest first.
select r.job from detent_records r
where r.tenant = ? and r.outcome = ? and r.ended_at < ?
order by r.ended_at
limit ?

-- name: ended_jobs
-- Those of these jobs that have ended.
select j.job from json_each(?2) k
cross join detent_jobs j on j.tenant = ?1 and j.id = k.value
cross join detent_records r on r.job = j.job and r.ended_at is not null

-- name: remove_record
delete from detent_records where job = ?

-- name: remove_details
delete from detent_event_details where seq in (select seq from detent_events where job = ?)

-- name: remove_events
delete from detent_events where job = ?

-- name: remove_notes
delete from detent_notes where job = ?

-- name: remove_contents
delete from detent_contents where job = ?

-- name: remove_receipts
-- Of verbs on the job: a new job of the same id has not heard them. Those that made it answer with nothing any more.
delete from detent_receipts where (tenant, verb, job_id) in (select tenant, '', id from detent_jobs where job = ?)

-- name: remove_job
delete from detent_jobs where job = ?

-- name: expired_details
delete from detent_event_details where seq in (
    select seq from detent_event_details where expires_at <= ? order by expires_at limit ?
)

-- name: expired_notes
delete from detent_notes where seq in (select seq from detent_notes where expires_at <= ? order by expires_at limit ?)

-- name: expired_receipts
delete from detent_receipts where (tenant, verb, job_id, request_id) in (
    select tenant, verb, job_id, request_id from detent_receipts where expires_at <= ? order by expires_at limit ?
)

-- name: count_orphan_events
select count(*) from detent_events where job not in (select job from detent_records)

-- name: count_orphan_notes
select count(*) from detent_notes where job not in (select job from detent_records)

-- name: count_missing_events
-- Every revision of every job has its event: what the log lacks.
select coalesce((select sum(rev) from detent_records), 0)
    - (select count(*) from detent_events where job in (select job from detent_records))

-- name: integrity
pragma integrity_check(20)

-- name: quick_check
pragma quick_check(5)
