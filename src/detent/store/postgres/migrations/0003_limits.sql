-- Limits per key: how many jobs of a key are leased at once, and how many are claimed in a while.

-- Jobs that share a key share their limits; null: it has none.
alter table detent_jobs add column limit_key text collate "C";

-- Copies, for the index. concurrency_max is what the job's policy says.
alter table detent_records add column limit_key text collate "C", add column concurrency_max bigint;

-- Who holds a key, and how many at most may: a claim counts the leased ones only, however many wait.
create index detent_records_limited on detent_records (tenant, limit_key, concurrency_max)
    where limit_key is not null and owner is not null;

-- The claims of keys that have a rate, as the planning counts them (limits.py). None is taken before full_until; from
-- expires_at on the row says nothing any more.
create table detent_rates (
    tenant text collate "C" not null,
    limit_key text collate "C" not null,
    content text not null,
    full_until bigint not null,
    expires_at bigint not null,
    primary key (tenant, limit_key)
)
with (fillfactor = 60);

create index detent_rates_full on detent_rates (tenant, full_until);
create index detent_rates_expiry on detent_rates (expires_at);
