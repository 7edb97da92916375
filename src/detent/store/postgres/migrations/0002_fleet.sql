-- What is kept beside jobs: which queues are paused, which workers there are, what the calendar asks for.

-- A queue that is here is paused. It has a table of its own: whoever fills a limited queue has its row locked, perhaps
-- for long, and must not keep anybody from pausing it.
create table detent_pauses (
    tenant text collate "C" not null,
    queue text collate "C" not null,
    paused_at bigint not null,
    paused_by text collate "C" not null,
    paused_reason text,
    primary key (tenant, queue)
);

-- What each worker last said of itself. queues, kinds and adapters are lists in JSON; null: any. No index has what a
-- report changes, so that its new version fits into the page of the old one; there are never many rows.
create table detent_workers (
    tenant text collate "C" not null,
    name text collate "C" not null,
    host text collate "C" not null,
    pid bigint not null,
    started_at bigint not null,
    queues text not null,
    kinds text,
    adapters text,
    slots bigint not null,
    slots_used bigint not null,
    version text collate "C" not null,
    is_draining boolean not null,
    seen_at bigint not null,
    primary key (tenant, name)
)
with (fillfactor = 50);

-- Jobs that come again and again, each with the moment of its next tick.
create table detent_schedules (
    tenant text collate "C" not null,
    name text collate "C" not null,
    cron text not null,
    zone text collate "C" not null,
    kind text collate "C" not null,
    payload bytea not null,
    digest text collate "C" not null,
    next_at bigint not null,
    last_at bigint,
    paused_at bigint,
    paused_by text collate "C",
    paused_reason text,
    primary key (tenant, name)
);
