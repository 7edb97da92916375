-- Lifecycles, their moves, and policies.

-- name: lifecycles
select lifecycle, name, version, digest, definition from detent_lifecycles order by lifecycle

-- name: insert_lifecycle
insert into detent_lifecycles (name, version, digest, definition) values (?, ?, ?, ?)

-- name: insert_move
insert into detent_moves (lifecycle, source, verb, target, phase, outcome) values (?, ?, ?, ?, ?, ?)

-- name: policy
select content from detent_policies where policy = ?

-- name: policy_by_digest
select policy from detent_policies where digest = ?

-- name: insert_policy
insert into detent_policies (digest, content) values (?, ?)
