-- Access tokens.

-- name: keep_token
-- One whose id is there stays as it is; whether it is the same one is looked at afterwards.
insert into detent_tokens (id, tenant, name, scopes, worker, digest, created_at, created_by, expires_at)
select :id::text, :tenant::text, :name::text, :scopes::text, :worker::text, :digest::text, n.now, :by::text,
    n.now + :lifetime::bigint
from (select coalesce(:now::bigint, detent_now()) as now) n
on conflict (id) do nothing

-- name: token
-- Asked with every request of a service. And the time, by which it may have expired.
select id, tenant, name, scopes, worker, digest, created_at, created_by, expires_at, revoked_at, revoked_by,
    coalesce(:now::bigint, detent_now())
from detent_tokens
where id = :id::text

-- name: tokens
select id, tenant, name, scopes, worker, digest, created_at, created_by, expires_at, revoked_at, revoked_by
from detent_tokens
where :tenant::text is null or tenant = :tenant::text
order by created_at desc, id desc
limit :limit::bigint

-- name: count_tokens
-- Those of a tenant, or for any, that are not over.
select count(*) from detent_tokens
where tenant is not distinct from :tenant::text and revoked_at is null
    and (expires_at is null or expires_at > :now::bigint)

-- name: revoke_token
-- The first who revokes it stands.
update detent_tokens set
    revoked_by = case when revoked_at is null then :by::text else revoked_by end,
    revoked_at = coalesce(revoked_at, :now::bigint, detent_now())
where id = :id::text and (:tenant::text is null or tenant = :tenant::text)
returning 1

-- name: expired_tokens
-- Those that have been over for long, whoever's they are.
with gone as (
    delete from detent_tokens t using (
        select id from detent_tokens
        where expires_at <= :now::bigint or revoked_at <= :now::bigint limit :limit::bigint
        for update skip locked
    ) k
    where t.id = k.id
    returning 1
)
select count(*) from gone
