-- Limits per key: how many jobs of a key are leased at once, and how many are claimed in a while.

-- Jobs that share a key share their limits; null: it has none.
alter table detent_jobs add column limit_key text;

-- Copies, for the indexes. concurrency_max is what the job's policy says.
alter table detent_records add column limit_key text;
alter table detent_records add column concurrency_max integer;

-- Who holds a key, and how many at most may: a claim counts the leased ones only, however many wait.
create index detent_records_limited on detent_records (tenant, limit_key, concurrency_max)
    where limit_key is not null and owner is not null;

-- What can be claimed has the key, too: a claim that passes over thousands of a key that is used up reads no record.
drop index detent_records_claimable;
create index detent_records_claimable on detent_records (tenant, queue, kind, adapter, order_at, job, claim_at, limit_key)
    where claim_at is not null;
drop index detent_records_patient;
create index detent_records_patient on detent_records (tenant, queue, kind, adapter, order_at, job, claim_at, limit_key)
    where claim_at is not null and order_at > claim_at;

-- The claims of keys that have a rate, as the planning counts them (limits.py). None is taken before full_until; from
-- expires_at on the row says nothing any more.
create table detent_rates (
    tenant text not null,
    limit_key text not null,
    content text not null,
    full_until integer not null,
    expires_at integer not null,
    primary key (tenant, limit_key)
) strict, without rowid;

create index detent_rates_full on detent_rates (tenant, full_until);
create index detent_rates_expiry on detent_rates (expires_at);
