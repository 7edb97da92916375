-- What waits for a verdict, and the pace of rules.

-- name: unjudged
-- The first jobs of each kind in each queue that wait in a state of a lifecycle for a verdict, the oldest first.
{live_columns}
from (
    select w.created_at, w.job
    from unnest(:lifecycles::bigint[], :states::text[]) as s (lifecycle, state)
    cross join unnest(:queues::text[]) as q (name)
    cross join unnest(:kinds::text[]) as k (name)
    cross join lateral (
        select i.created_at, i.job from detent_records i
        where i.tenant = :tenant::text and i.lifecycle = s.lifecycle and i.state = s.state
            and i.queue = q.name and i.kind = k.name
            and (i.created_at, i.job) > (:after::bigint, :after_job::bigint)
            and i.claim_at is null and i.owner is null and i.verdict is null
        order by i.created_at, i.job
        limit :limit::bigint
    ) w
    order by w.created_at, w.job
    limit :limit::bigint
) p
cross join lateral (select * from detent_records r where r.job = p.job offset 0) r
cross join lateral (select * from detent_jobs j where j.job = p.job offset 0) j
order by p.created_at, p.job

-- name: pace
-- Locked, so that whoever paces the same rule comes after. And the transaction, in case its end is not heard of.
insert into detent_paces as p (tenant, rule, next_at) values (:tenant::text, :rule::text, 0)
on conflict (tenant, rule) do update set next_at = p.next_at
returning p.next_at, pg_current_xact_id()::text, detent_now()

-- name: set_pace
update detent_paces set next_at = :next_at::bigint where tenant = :tenant::text and rule = :rule::text
