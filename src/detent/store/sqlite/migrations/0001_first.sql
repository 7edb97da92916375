-- The first schema. It mirrors the kernel: a job's spec, which never changes; its record, which moves; the log; the
-- notes. It knows phases and outcomes, never the name of a state: a lifecycle's own words are rows of detent_moves.
--
-- What the kernel refuses, the schema refuses by itself, whoever writes: the constraints on detent_records and the
-- triggers below. All tables have the prefix detent_, because users keep tables of their own in the same file.
-- Moments are microseconds since the epoch.

-- Definitions, by name and version, as they were registered. A version never changes.
create table detent_lifecycles (
    lifecycle integer primary key,
    name text not null,
    version integer not null,
    digest text not null,
    definition text not null,
    unique (name, version)
) strict;

-- Every declared move, as data: what the triggers look up. source is '' for the first move of all.
create table detent_moves (
    lifecycle integer not null references detent_lifecycles (lifecycle),
    source text not null,
    verb text not null,
    target text not null,
    phase text not null check (phase in ('parked', 'ready', 'held', 'active', 'ended')),
    outcome text check (outcome in ('success', 'failure', 'cancelled')),
    primary key (lifecycle, source, verb, target)
) strict, without rowid;

-- Settings of job types, each kept once however many jobs have them.
create table detent_policies (
    policy integer primary key,
    digest text not null unique,
    content text not null
) strict;

-- What each job is: written once.
create table detent_jobs (
    job integer primary key autoincrement,
    tenant text not null,
    id text not null,
    kind text not null,
    lifecycle integer not null,
    policy integer not null,
    queue text not null,
    priority integer not null,
    payload blob not null,
    run_at integer,
    dedupe_key text,
    correlation_id text,  -- null: its own id
    trace_id text,
    parent_job_id text,
    workflow_id text,
    step_index integer,
    topic text,
    context_ptr text,
    adapter_id text,
    env text,
    unique (tenant, id)
) strict;

create index detent_jobs_correlation on detent_jobs (tenant, correlation_id) where correlation_id is not null;
create index detent_jobs_parent on detent_jobs (tenant, parent_job_id) where parent_job_id is not null;
create index detent_jobs_workflow on detent_jobs (tenant, workflow_id, step_index) where workflow_id is not null;

-- Where each job is: one narrow row, which every move rewrites. tenant, queue, kind and adapter are copies for the
-- index; adapter is '' for a job that names none.
create table detent_records (
    job integer primary key,
    tenant text not null,
    queue text not null,
    kind text not null,
    adapter text not null default '',
    lifecycle integer not null,
    state text not null,
    phase text not null,
    outcome text,
    created_at integer not null,
    updated_at integer not null,
    rerun_of text,
    rev integer not null check (rev > 0),
    attempt integer not null default 0 check (attempt >= 0),
    owner text,
    lease_s real,
    lease_expires_at integer,
    heartbeat_by integer,
    last_owner text,
    last_lease_expires_at integer,
    due_at integer,
    claim_at integer,
    wake_at integer,
    order_at integer,
    deadline_at integer,
    cancel_by integer,
    failures integer not null default 0,
    crashes integer not null default 0,
    interruptions integer not null default 0,
    retries integer not null default 0,
    verdict text,
    rule text,
    result_ptr text,
    payload_digest text not null,
    result_digest text,
    error_digest text,
    checkpoint_digest text,
    claimed_at integer,
    started_at integer,
    ended_at integer,
    check ((phase = 'held' or phase = 'active') = (owner is not null)),
    check ((owner is null) = (lease_expires_at is null)),
    check ((phase = 'ended') = (outcome is not null)),
    check ((phase = 'ended') = (ended_at is not null)),
    check ((outcome is 'success') = (result_digest is not null)),
    check ((outcome is 'failure') = (error_digest is not null)),
    check (phase <> 'ended' or (claim_at is null and wake_at is null)),
    check ((claim_at is null) = (order_at is null))
) strict;

-- What can be claimed, in its order: one run of entries for each kind and adapter in a queue, so that a worker never
-- steps over jobs that are not for it.
create index detent_records_claimable on detent_records (tenant, queue, kind, adapter, order_at, job, claim_at)
    where claim_at is not null;
-- Those of them that go after others though they are due: of a priority below the ordinary. A claim that has come to
-- the present in the order need look at no others, however many jobs wait for later.
create index detent_records_patient on detent_records (tenant, queue, kind, adapter, order_at, job, claim_at)
    where claim_at is not null and order_at > claim_at;
-- What the reconciler looks at, and when.
create index detent_records_waking on detent_records (wake_at) where wake_at is not null;
-- What has not ended, however much has.
create index detent_records_live on detent_records (job) where ended_at is null;
-- What has, for retention and for listings of failures.
create index detent_records_ended on detent_records (tenant, outcome, ended_at) where ended_at is not null;

-- What was said at length: rewritten only when something is said.
create table detent_contents (
    job integer primary key,
    result blob,
    error text,
    last_error text,
    checkpoint blob,
    progress text
) strict;

-- Dedupe keys of jobs that have not ended: one job for each.
create table detent_dedupe_keys (
    tenant text not null,
    kind text not null,
    dedupe_key text not null,
    job integer not null,
    primary key (tenant, kind, dedupe_key)
) strict, without rowid;

-- The log: one row for each mutation. seq is the order of commit, and never given twice.
create table detent_events (
    seq integer primary key autoincrement,
    tenant text not null,
    job integer not null,
    rev integer not null,
    type text not null,
    verb text not null,
    from_state text,
    to_state text not null,
    at integer not null,
    actor text not null,
    role text not null,
    worker text,
    attempt integer not null,
    request_id text,
    trace_id text,
    cause text,
    changes text not null,
    payload text,
    version integer not null
) strict;

create unique index detent_events_job on detent_events (job, rev);
create index detent_events_type on detent_events (tenant, type, at);

-- What a heartbeat carried: kept for a while only, so that the log can stay whole without it.
create table detent_event_details (
    seq integer primary key,
    payload text not null,
    expires_at integer not null
) strict;

create index detent_event_details_expiry on detent_event_details (expires_at);

-- What was said of a job without moving it.
create table detent_notes (
    seq integer primary key autoincrement,
    tenant text not null,
    job integer not null,
    rev integer not null,
    kind text not null,
    type text not null,
    at integer not null,
    actor text not null,
    payload blob not null,
    version integer not null,
    expires_at integer
) strict;

create index detent_notes_job on detent_notes (job, kind, seq);
create index detent_notes_expiry on detent_notes (expires_at) where expires_at is not null;

-- What is remembered of requests that were carried out. Kept by verb (job_id is '') or by job (verb is '').
create table detent_receipts (
    tenant text not null,
    verb text not null,
    job_id text not null,
    request_id text not null,
    digest text not null,
    answer_job_id text not null,
    rev integer not null,
    claimed text,
    expires_at integer not null,
    primary key (tenant, verb, job_id, request_id)
) strict, without rowid;

create index detent_receipts_expiry on detent_receipts (expires_at);

-- What is set for a queue.
create table detent_queues (
    tenant text not null,
    name text not null,
    depth_max integer,
    primary key (tenant, name)
) strict, without rowid;

-- A job begins in a declared way, with its first event already in the log.
create trigger detent_records_begin before insert on detent_records
when not exists (
    select 1 from detent_events e join detent_moves m
        on m.lifecycle = new.lifecycle and m.source = '' and m.verb = e.verb and m.target = new.state
        and m.phase = new.phase
    where e.job = new.job and e.rev = 1 and e.from_state is null and e.to_state = new.state
) or new.rev <> 1 or exists (select 1 from detent_records where job = new.job)
begin
    select raise(abort, 'detent: a job begins with its first event, in a declared way');
end;

-- Every move is one step of rev, is declared, has its event in the log, and none leaves an end.
create trigger detent_records_move before update on detent_records
when old.phase = 'ended' or new.rev <> old.rev + 1 or new.job <> old.job or new.lifecycle <> old.lifecycle
or not exists (
    select 1 from detent_events e join detent_moves m
        on m.lifecycle = old.lifecycle and m.source = old.state and m.verb = e.verb and m.target = new.state
        and m.phase = new.phase and m.outcome is new.outcome
    where e.job = old.job and e.rev = new.rev and e.from_state = old.state and e.to_state = new.state
)
begin
    select raise(abort, 'detent: an ended job stays, and a move is declared, one step of rev, with its event');
end;

create trigger detent_records_kept before delete on detent_records
when old.phase <> 'ended'
begin
    select raise(abort, 'detent: only an ended job can be removed');
end;

create trigger detent_jobs_fixed before update on detent_jobs
begin
    select raise(abort, 'detent: what a job is never changes');
end;

create trigger detent_jobs_kept before delete on detent_jobs
when exists (select 1 from detent_records where job = old.job)
begin
    select raise(abort, 'detent: a job is removed after its record');
end;

create trigger detent_events_fixed before update on detent_events
begin
    select raise(abort, 'detent: an event never changes');
end;

create trigger detent_events_kept before delete on detent_events
when exists (select 1 from detent_records where job = old.job)
begin
    select raise(abort, 'detent: events are removed after the record of their job');
end;

create trigger detent_lifecycles_fixed before update on detent_lifecycles
begin
    select raise(abort, 'detent: a version of a lifecycle never changes');
end;
