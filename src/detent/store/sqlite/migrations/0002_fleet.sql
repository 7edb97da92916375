-- What is kept beside jobs: which queues are paused, which workers there are, what the calendar asks for.

-- A queue that is here is paused. It has a table of its own: nobody who fills a queue keeps it from being paused.
create table detent_pauses (
    tenant text not null,
    queue text not null,
    paused_at integer not null,
    paused_by text not null,
    paused_reason text,
    primary key (tenant, queue)
) strict, without rowid;

-- What each worker last said of itself. queues, kinds and adapters are lists in JSON; null: any.
create table detent_workers (
    tenant text not null,
    name text not null,
    host text not null,
    pid integer not null,
    started_at integer not null,
    queues text not null,
    kinds text,
    adapters text,
    slots integer not null,
    slots_used integer not null,
    version text not null,
    is_draining integer not null check (is_draining in (0, 1)),
    seen_at integer not null,
    primary key (tenant, name)
) strict, without rowid;

create index detent_workers_seen on detent_workers (seen_at);

-- Jobs that come again and again, each with the moment of its next tick.
create table detent_schedules (
    tenant text not null,
    name text not null,
    cron text not null,
    zone text not null,
    kind text not null,
    payload blob not null,
    digest text not null,
    next_at integer not null,
    last_at integer,
    paused_at integer,
    paused_by text,
    paused_reason text,
    primary key (tenant, name)
) strict, without rowid;
