-- Who may do what, for a database that `detent migrate` has made ready. Run it as the owner of Detent's tables, and again
-- after every migration: it says all of it each time, so that a role has just these rights afterwards.
--
-- detent_app          programs and workers: every verb. It adds events and never changes or removes one; it removes
--                     neither jobs nor what has ended.
-- detent_maintenance  prune and purge: it removes what has ended, and can neither add nor move a job.
-- detent_reader       listings, histories, verify and replay.
--
-- These are roles for roles: `create role web login in role detent_app`. Whoever runs this makes them if they are not
-- there, or somebody who may has to make them first. On PostgreSQL 14 and older everybody may create tables in the
-- schema public, unless that is taken away: `revoke create on schema public from public`.

begin;

do $$
declare
    name text;
begin
    foreach name in array array['detent_app', 'detent_maintenance', 'detent_reader'] loop
        if not exists (select 1 from pg_roles where rolname = name) then
            execute format('create role %I nologin', name);
        end if;
    end loop;
end
$$;

-- What all three need: the schema, its functions, and to read. Only Detent's own tables are meant, whatever else there
-- is in the schema: so there are no default privileges here, which would be for every table of this owner's.
do $$
declare
    roles constant text := 'detent_app, detent_maintenance, detent_reader';
    here constant text := quote_ident(current_schema());
    item text;
begin
    execute format('grant usage on schema %s to %s', here, roles);
    for item in
        select oid::regprocedure::text from pg_proc
        where pronamespace = here::regnamespace and starts_with(proname, 'detent_')
    loop
        execute format('grant execute on function %s to %s', item, roles);
    end loop;
    for item in
        select oid::regclass::text from pg_class
        where relnamespace = here::regnamespace and relkind in ('r', 'v') and starts_with(relname, 'detent_')
    loop
        execute format('revoke all on %s from %s', item, roles);
        execute format('grant select on %s to %s', item, roles);
    end loop;
end
$$;

-- Definitions are added. A version that is there never changes.
grant insert on detent_lifecycles, detent_moves, detent_policies to detent_app;

-- Jobs begin, move and end. A record is deleted when its job ends, and the schema sees to it that it is only then.
grant insert on detent_jobs, detent_events, detent_event_details, detent_notes, detent_ended to detent_app;
grant insert, update, delete on detent_records to detent_app;
grant usage on sequence detent_jobs_job_seq to detent_app;

-- A receipt that has expired is written over. The limit of a queue is set, and locked by whoever fills the queue.
grant insert, update on detent_receipts, detent_queues, detent_paces to detent_app;

-- Queues are paused and go on. Workers report themselves, and what the calendar asks for is kept and moves on.
grant insert, delete on detent_pauses to detent_app;
grant insert, update, delete on detent_workers, detent_schedules to detent_app;

-- Tokens are made and revoked. Nothing else of one changes.
grant insert, update (revoked_at, revoked_by) on detent_tokens to detent_app;

-- The claims of limit keys are counted.
grant insert, update on detent_rates to detent_app;

-- What has ended goes with all that was kept of it. Rows are locked before they go, and for that PostgreSQL wants the
-- right to update a column; none of these can be changed all the same, or it does not matter.
grant delete on detent_ended, detent_events, detent_event_details, detent_notes, detent_receipts, detent_jobs,
    detent_rates, detent_tokens to detent_maintenance;
grant update (job) on detent_ended, detent_event_details, detent_notes to detent_maintenance;
grant update (expires_at) on detent_receipts, detent_rates, detent_tokens to detent_maintenance;

commit;
