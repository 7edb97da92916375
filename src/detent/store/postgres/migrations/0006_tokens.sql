-- Access tokens: who may do what. The secret of a token is nowhere here; digest is its SHA-256, in hexadecimal.

-- tenant null: for any tenant, which only an admin's is. scopes is a list in JSON. expires_at null: it never does.
create table detent_tokens (
    id text collate "C" not null primary key check (id <> ''),
    tenant text collate "C" check (tenant <> ''),
    name text collate "C" not null check (name <> ''),
    scopes text collate "C" not null check (scopes <> '[]'),
    worker text collate "C" check (worker <> ''),
    digest text collate "C" not null check (digest ~ '^[0-9a-f]{64}$'),
    created_at bigint not null,
    created_by text collate "C" not null,
    expires_at bigint check (expires_at > created_at),
    revoked_at bigint,
    revoked_by text collate "C",
    check (tenant is not null or position('"admin"' in scopes) > 0),
    check (worker is null or position('"work"' in scopes) > 0),
    check ((revoked_at is null) = (revoked_by is null))
);

create index detent_tokens_tenant on detent_tokens (tenant, created_at);
create index detent_tokens_expiry on detent_tokens (expires_at) where expires_at is not null;
create index detent_tokens_revoked on detent_tokens (revoked_at) where revoked_at is not null;

-- Nobody makes one last longer or reach further, and one that was revoked stays so.
create trigger detent_tokens_fixed before update on detent_tokens for each row
when (
    (old.id, old.tenant, old.name, old.scopes, old.worker, old.digest, old.created_at, old.created_by, old.expires_at)
        is distinct from
        (new.id, new.tenant, new.name, new.scopes, new.worker, new.digest, new.created_at, new.created_by,
            new.expires_at)
    or (old.revoked_at is not null and (old.revoked_at, old.revoked_by) is distinct from (new.revoked_at, new.revoked_by))
)
execute function detent_refuse('a token never changes, but for being revoked once');
