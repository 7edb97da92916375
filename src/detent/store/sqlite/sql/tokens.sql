-- Access tokens.

-- name: keep_token
-- One whose id is there stays as it is; whether it is the same one is looked at afterwards.
insert into detent_tokens (id, tenant, name, scopes, worker, digest, created_at, created_by, expires_at)
values (?, ?, ?, ?, ?, ?, ?, ?, ?)
on conflict (id) do nothing

-- name: token
-- Asked with every request of a service.
select id, tenant, name, scopes, worker, digest, created_at, created_by, expires_at, revoked_at, revoked_by
from detent_tokens
where id = ?

-- name: tokens
select id, tenant, name, scopes, worker, digest, created_at, created_by, expires_at, revoked_at, revoked_by
from detent_tokens
where ?1 is null or tenant = ?1
order by created_at desc, id desc
limit ?2

-- name: count_tokens
-- Those of a tenant, or for any, that are not over.
select count(*) from detent_tokens
where tenant is ?1 and revoked_at is null and (expires_at is null or expires_at > ?2)

-- name: revoke_token
-- The first who revokes it stands.
update detent_tokens set
    revoked_by = case when revoked_at is null then ?4 else revoked_by end,
    revoked_at = coalesce(revoked_at, ?3)
where id = ?2 and (?1 is null or tenant = ?1)
returning 1

-- name: expired_tokens
-- Those that have been over for long, whoever's they are.
delete from detent_tokens where id in (
    select id from detent_tokens where expires_at <= ?1 or revoked_at <= ?1 limit ?2
)
