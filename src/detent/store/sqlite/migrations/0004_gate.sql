-- What the gate goes by: the jobs that wait for a verdict, and the pace at which a rule lets jobs through.

-- Jobs that wait for somebody's word and have had no verdict yet, the oldest first: one run of entries for each kind in a
-- queue, so that a worker asks its policy about what it would run itself, and steps over nothing else.
create index detent_records_unjudged on detent_records (tenant, lifecycle, queue, kind, created_at, job)
    where claim_at is null and owner is null and verdict is null and ended_at is null;

-- From when on the next job of a rule may be due. It is the whole store's, so that a rate holds however many gates
-- there are.
create table detent_paces (
    tenant text not null,
    rule text not null,
    next_at integer not null,
    primary key (tenant, rule)
) strict, without rowid;
