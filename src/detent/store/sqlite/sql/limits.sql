-- Limit keys: how far each is used.

-- name: used_up
-- Keys of a tenant that take no job now: as many as may are leased, or the rate has reached its bound.
select limit_key from detent_records indexed by detent_records_limited
where tenant = ?1 and limit_key is not null and owner is not null
group by limit_key
having count(*) >= min(concurrency_max)
union
select limit_key from detent_rates indexed by detent_rates_full where tenant = ?1 and full_until > ?2

-- name: key_use
-- How many jobs of a key are leased, and how many the strictest of them allows.
select count(*), min(concurrency_max) from detent_records indexed by detent_records_limited
where tenant = ? and limit_key = ? and limit_key is not null and owner is not null

-- name: key_rate
select content from detent_rates where tenant = ? and limit_key = ?

-- name: key_holders
-- Who holds a key: those that have held it longest.
select j.id, r.owner
from detent_records r indexed by detent_records_limited
cross join detent_jobs j on j.job = r.job
where r.tenant = ? and r.limit_key = ? and r.limit_key is not null and r.owner is not null
order by r.claimed_at, r.job
limit ?

-- name: keep_rate
insert into detent_rates (tenant, limit_key, content, full_until, expires_at) values (?, ?, ?, ?, ?)
on conflict (tenant, limit_key) do update
set content = excluded.content, full_until = excluded.full_until, expires_at = excluded.expires_at

-- name: expired_rates
delete from detent_rates where (tenant, limit_key) in (
    select tenant, limit_key from detent_rates where expires_at <= ? order by expires_at limit ?
)
