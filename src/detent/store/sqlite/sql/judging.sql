-- What waits for a verdict, and the pace of rules.

-- name: unjudged
-- The first jobs of one kind in one queue that wait in one state of a lifecycle for a verdict, the oldest first.
select created_at, job from detent_records indexed by detent_records_unjudged
where tenant = ?1 and lifecycle = ?2 and state = ?3 and queue = ?4 and kind = ?5 and (created_at, job) > (?6, ?7)
    and claim_at is null and owner is null and verdict is null and ended_at is null
order by created_at, job
limit ?8

-- name: pace
select next_at from detent_paces where tenant = ? and rule = ?

-- name: set_pace
insert into detent_paces (tenant, rule, next_at) values (?, ?, ?)
on conflict (tenant, rule) do update set next_at = excluded.next_at
