-- Access tokens: who may do what. The secret of a token is nowhere here; digest is its SHA-256, in hexadecimal.

-- tenant null: for any tenant, which only an admin's is. scopes is a list in JSON. expires_at null: it never does.
create table detent_tokens (
    id text not null primary key check (id <> ''),
    tenant text check (tenant <> ''),
    name text not null check (name <> ''),
    scopes text not null check (scopes <> '[]'),
    worker text check (worker <> ''),
    digest text not null check (length(digest) = 64 and digest not glob '*[^0-9a-f]*'),
    created_at integer not null,
    created_by text not null,
    expires_at integer check (expires_at > created_at),
    revoked_at integer,
    revoked_by text,
    check (tenant is not null or instr(scopes, '"admin"') > 0),
    check (worker is null or instr(scopes, '"work"') > 0),
    check ((revoked_at is null) = (revoked_by is null))
) strict, without rowid;

create index detent_tokens_tenant on detent_tokens (tenant, created_at);
create index detent_tokens_expiry on detent_tokens (expires_at) where expires_at is not null;
create index detent_tokens_revoked on detent_tokens (revoked_at) where revoked_at is not null;

-- Nobody makes one last longer or reach further, and one that was revoked stays so.
create trigger detent_tokens_fixed before update on detent_tokens
when (old.id, old.tenant, old.name, old.scopes, old.worker, old.digest, old.created_at, old.created_by, old.expires_at)
    is not (new.id, new.tenant, new.name, new.scopes, new.worker, new.digest, new.created_at, new.created_by,
        new.expires_at)
or (old.revoked_at is not null and (old.revoked_at, old.revoked_by) is not (new.revoked_at, new.revoked_by))
begin
    select raise(abort, 'detent: a token never changes, but for being revoked once');
end;
