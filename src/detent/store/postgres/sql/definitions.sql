-- Lifecycles, their moves, and policies; and which store this is.

-- name: identity
select identity from detent_store

-- name: lifecycles
select lifecycle, name, version, digest, definition from detent_lifecycles order by lifecycle

-- name: lock_lifecycles
-- Two programs that bring the same definition: one after the other. To lock the table, one would need the right to
-- change what is in it.
select pg_advisory_xact_lock(1685352053)

-- name: insert_lifecycle
insert into detent_lifecycles (name, version, digest, definition)
values (:name::text, :version::bigint, :digest::text, :definition::text)
returning lifecycle

-- name: insert_move
insert into detent_moves (lifecycle, source, verb, target, phase, outcome)
select :lifecycle::bigint, k.*
from unnest(:sources::text[], :verbs::text[], :targets::text[], :phases::text[], :outcomes::text[]) k

-- name: policy
select content from detent_policies where policy = :policy::bigint

-- name: policy_by_digest
select policy from detent_policies where digest = :digest::text

-- name: insert_policy
-- Nothing comes back if somebody else has just brought the same.
insert into detent_policies (digest, content) values (:digest::text, :content::text)
on conflict (digest) do nothing
returning policy
