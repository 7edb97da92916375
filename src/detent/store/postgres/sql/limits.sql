-- Limit keys: how far each is used.

-- name: passing_over
-- Part of a lane: without the keys that take no job now.
and (i.limit_key is null or i.limit_key <> all (:passed::text[]))

-- name: used_up
-- Keys of a tenant that take no job now: as many as may are leased, or the rate has reached its bound.
select r.limit_key from detent_records r
where r.tenant = :tenant::text and r.limit_key is not null and r.owner is not null
group by r.limit_key
having count(*) >= min(r.concurrency_max)
union
select t.limit_key from detent_rates t where t.tenant = :tenant::text and t.full_until > :now::bigint

-- name: lock_keys
-- For whoever is about to count them, until its transaction ends. Who does not get one does not wait. Nor is a key for
-- a transaction that would count what there was when it began.
select k.limit_key,
    current_setting('transaction_isolation') = 'read committed' and pg_try_advisory_xact_lock(
        hashtextextended(s.identity || E'\x1f' || :tenant::text || E'\x1f' || k.limit_key, 0)
    )
from detent_store s cross join unnest(:keys::text[]) as k (limit_key)

-- name: key_uses
-- How many jobs of each key are leased, how many the strictest of them allows, its rate, and the moment: by a statement
-- of its own, after the keys were locked, so that it sees what others have just left.
select k.limit_key, u.leased, u.strictest, t.content, detent_now()
from unnest(:keys::text[]) as k (limit_key)
cross join lateral (
    select count(*) as leased, min(r.concurrency_max) as strictest from detent_records r
    where r.tenant = :tenant::text and r.limit_key = k.limit_key and r.limit_key is not null and r.owner is not null
) u
left join detent_rates t on t.tenant = :tenant::text and t.limit_key = k.limit_key

-- name: key_holders
-- Who holds a key: those that have held it longest.
select j.id, r.owner
from (
    select r.job, r.owner, r.claimed_at from detent_records r
    where r.tenant = :tenant::text and r.limit_key = :limit_key::text and r.limit_key is not null
        and r.owner is not null
    offset 0
) r
join detent_jobs j on j.job = r.job
order by r.claimed_at, r.job
limit :limit::bigint

-- name: keep_rates
insert into detent_rates (tenant, limit_key, content, full_until, expires_at)
select * from unnest(
    :tenants::text[], :keys::text[], :contents::text[], :full_untils::bigint[], :expiries::bigint[]
)
on conflict (tenant, limit_key) do update
set content = excluded.content, full_until = excluded.full_until, expires_at = excluded.expires_at

-- name: expired_rates
with gone as (
    delete from detent_rates t using (
        select tenant, limit_key from detent_rates
        where expires_at <= :now::bigint order by expires_at limit :limit::bigint
        for update skip locked
    ) k
    where t.tenant = k.tenant and t.limit_key = k.limit_key
    returning 1
)
select count(*) from gone
