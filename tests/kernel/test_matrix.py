"""Every verb, from every state, by every role, in all five lifecycles: what the tables allow happens, nothing else."""

import msgspec
import pytest

from detent.errors import REFUSALS, Refused
from detent.kernel import Change, Error, Job, decide
from detent.kernel.command import (
    Approve,
    Cancel,
    Claim,
    Command,
    Complete,
    Deny,
    Enqueue,
    Expire,
    Fail,
    RequestCancel,
    Schedule,
    Start,
    TimeOut,
)
from detent.lifecycle import words
from tests.driving import START, WORKER, Life
from tests.kernel.tables import (
    DECLARED,
    ENDED_PLACES,
    FIRST,
    LEASED,
    OTHER_WORKER,
    OUTCOMES,
    PATHS,
    PHASES,
    PLACES,
    POLICIES,
    ROLES,
    ROWS,
    TABLES,
    VERBS,
    WITH_START,
    WORKERS,
    Row,
    allowed_from,
    asked_by,
    bring_to,
    lifecycle_of,
    one_who_may,
    row_of,
    used_up,
)

the_tables = pytest.mark.requirement("STD-01", "DSP-03", "ENG-01", "CON-01", "DOC-01")
every_lifecycle = pytest.mark.parametrize("name", DECLARED)
every_place = pytest.mark.parametrize(("name", "state"), PLACES)


def expected(name: str, state: str, verb: str, role: str) -> str:
    """What the table says: the code of a refusal, or `accepted`."""
    row = row_of(name, state, verb)
    if row is None:
        return "illegal_move"
    # Any worker passes for the owner until it is asked who holds the lease.
    if role not in row.by and not (role in WORKERS and row.by & WORKERS):
        return "wrong_actor"
    is_owners = role in WORKERS and "worker" not in row.by
    return "not_owner" if is_owners and PHASES[name][state] not in LEASED else "accepted"


def told(answer: Change | Refused, row: Row | None = None) -> str:
    """In one word, or with the state when it is not one that the row leads to."""
    if isinstance(answer, Refused):
        return answer.code
    if answer.answer != "applied":
        return answer.answer
    is_in_row = row is not None and answer.job.state in row.to
    return "accepted" if is_in_row else f"accepted, to {answer.job.state}"


def answer_to(life: Life, command: Command) -> Change | Refused:
    return decide(life.lifecycle, life.job, command, life.now)


@the_tables
@every_lifecycle
def test_lifecycle_has_the_states_of_the_table_and_no_others(name: str) -> None:
    states = lifecycle_of(name).states

    assert {state.name: state.phase for state in states} == PHASES[name]
    assert {state.name: state.outcome for state in states if state.outcome is not None} == OUTCOMES[name]


@the_tables
@every_lifecycle
def test_lifecycle_has_the_moves_of_the_table_and_no_others(name: str) -> None:
    declared = {
        (source, move.verb, source if move.target == "same" else move.target, role)
        for move in lifecycle_of(name).moves
        for source in move.sources or ("-",)
        for role in move.by
    }
    first, by = FIRST[name]

    assert declared == {("-", "enqueue", first, by)} | {
        (state, verb, to, role) for (state, verb), row in DECLARED[name].items() for to in row.to for role in row.by
    }


@the_tables
def test_tables_speak_of_every_verb_and_every_role() -> None:
    assert ("enqueue", *VERBS) == words.VERBS
    assert words.ROLES == ROLES
    assert set(PATHS) == set(PLACES)


@the_tables
@pytest.mark.requirement("ALL-02", "ALL-17")
@pytest.mark.parametrize("verb", VERBS)
@every_place
def test_answer_to_each_role_is_the_tables(name: str, state: str, verb: str) -> None:
    life = bring_to(name, state, verb=verb)
    row = row_of(name, state, verb)

    answers = {role: told(answer_to(life, asked_by(life.job, verb, role)), row) for role in ROLES}

    assert answers == {role: expected(name, state, verb, role) for role in ROLES} | settled(name, state, verb)


def settled(name: str, state: str, verb: str) -> dict[str, str]:
    """`dispatch` grants a request for what already is to those who could have asked for it."""
    return dict.fromkeys(SETTLED.get((name, state, verb), ()), "unchanged")


# The rest of what it settles depends on the content or on the caller, and has tests of its own below.
SETTLED = {
    ("dispatch", "RUNNING", "start"): ("worker", "owner"),
    ("dispatch", "CANCELLED", "cancel"): ("client", "gateway", "operator"),
    ("dispatch", "DENIED", "deny"): ("scheduler", "operator"),
    ("dispatch", "TIMEOUT", "expire"): ("reconciler",),
    ("dispatch", "TIMEOUT", "time_out"): ("reconciler",),
}


@pytest.mark.requirement("ALL-02")
@every_place
def test_refusal_changes_nothing_and_says_where_the_job_is_and_what_is_allowed(name: str, state: str) -> None:
    life = bring_to(name, state)
    before = msgspec.msgpack.encode(life.job)

    refusals = [
        answer
        for verb in VERBS
        for role in ROLES
        if isinstance(answer := answer_to(life, asked_by(life.job, verb, role)), Refused)
    ]

    assert refusals
    assert {refused.code for refused in refusals} <= set(REFUSALS)
    assert {refused.state for refused in refusals} == {state}
    assert {tuple(sorted(refused.allowed)) for refused in refusals} == {tuple(sorted(allowed_from(name, state)))}
    assert msgspec.msgpack.encode(life.job) == before


@pytest.mark.requirement("ALL-02")
@every_place
def test_refusal_tells_a_person_the_state_the_verb_the_reason_and_the_way_on(name: str, state: str) -> None:
    life = bring_to(name, state)
    verb = next(
        verb for verb in VERBS if verb not in allowed_from(name, state) and (state, verb) not in WITH_START[name]
    )

    refused = answer_to(life, asked_by(life.job, verb, "policy"))

    assert isinstance(refused, Refused)
    for word in (life.job.id, state, verb, "illegal_move", name, *allowed_from(name, state)):
        assert word in str(refused)


@pytest.mark.requirement("ALL-10", "ALL-02")
@pytest.mark.parametrize(("name", "state"), ENDED_PLACES)
def test_no_verb_of_anybody_leaves_an_end(name: str, state: str) -> None:
    life = bring_to(name, state)

    answers = [answer_to(life, asked_by(life.job, verb, role)) for verb in VERBS for role in ROLES]

    assert {told(answer) for answer in answers} <= {"illegal_move"} | ({"unchanged"} if name == "dispatch" else set())
    assert not any(answer.events or answer.notes for answer in answers if isinstance(answer, Change))


@the_tables
@pytest.mark.parametrize(("name", "state", "verb"), ROWS)
def test_each_row_is_written_as_one_move_of_its_own(name: str, state: str, verb: str) -> None:
    life = bring_to(name, state, verb=verb)
    role = one_who_may(name, state, verb)

    change = life.do(asked_by(life.job, verb, role))

    (event,) = change.events
    assert (event.verb, event.from_state) == (verb, state)
    assert event.to_state in TABLES[name][state, verb].to
    assert event.role == role


@the_tables
@pytest.mark.parametrize(("name", "state", "verb"), ROWS)
def test_every_target_of_a_row_is_reached_and_the_budget_chooses_between_two(name: str, state: str, verb: str) -> None:
    row = TABLES[name][state, verb]
    policies = [POLICIES[name], used_up(POLICIES[name])] if len(row.to) == 2 else [POLICIES[name]]

    lives = [bring_to(name, state, verb=verb, policy=policy) for policy in policies]
    reached = [life.do(asked_by(life.job, verb, one_who_may(name, state, verb))).job for life in lives]

    assert {job.state for job in reached} == row.to
    assert [job.is_ended for job in reached[1:]] == [True] * (len(reached) - 1)


# -- owners ----------------------------------------------------------------------------------------------------------

OWNERS = [
    (name, state, verb) for name, state, verb in ROWS if "owner" in TABLES[name][state, verb].by and verb != "claim"
]


@the_tables
@pytest.mark.requirement("ALL-07", "CON-03")
@pytest.mark.parametrize(("name", "state", "verb"), OWNERS)
def test_row_of_the_owner_is_closed_to_every_other_worker(name: str, state: str, verb: str) -> None:
    life = bring_to(name, state, verb=verb)

    answers = {
        role: told(answer_to(life, asked_by(life.job, verb, role, worker=OTHER_WORKER))) for role in sorted(WORKERS)
    }

    assert answers == {"owner": "not_owner", "worker": "not_owner"}


@the_tables
@pytest.mark.parametrize(("name", "state", "verb"), OWNERS)
def test_naming_the_owner_as_worker_does_not_lend_its_role_to_somebody_else(name: str, state: str, verb: str) -> None:
    life = bring_to(name, state, verb=verb)
    others = [role for role in ROLES if role not in TABLES[name][state, verb].by | WORKERS]

    answers = {role: told(answer_to(life, asked_by(life.job, verb, role, worker=WORKER))) for role in others}

    assert answers == dict.fromkeys(others, "wrong_actor")


# -- after a request to cancel ---------------------------------------------------------------------------------------

STOPPABLE = [(name, state) for name, state, verb in ROWS if verb == "request_cancel"]


def asked_to_stop(name: str, state: str) -> Life:
    life = bring_to(name, state)
    life.do(RequestCancel(role="client"))
    return life


@the_tables
@pytest.mark.requirement("ALL-17")
@pytest.mark.parametrize(("name", "state"), STOPPABLE)
def test_cancel_opens_to_owner_and_reconciler_once_it_was_requested(name: str, state: str) -> None:
    life = asked_to_stop(name, state)
    row = TABLES[name][state, "cancel"]
    life.now = life.job.cancel_by or 0

    answers = {role: told(answer_to(life, asked_by(life.job, "cancel", role)), row) for role in ROLES}

    may = row.by | {"owner", "worker", "reconciler"}
    assert answers == {role: "accepted" if role in may else "wrong_actor" for role in ROLES}


@pytest.mark.requirement("ALL-17")
@pytest.mark.parametrize(("name", "state"), STOPPABLE)
def test_reconciler_does_not_cut_the_grace_short(name: str, state: str) -> None:
    life = asked_to_stop(name, state)
    life.now = (life.job.cancel_by or 0) - 1

    refused = answer_to(life, asked_by(life.job, "cancel", "reconciler"))

    assert told(refused) == "not_due"


@pytest.mark.requirement("ALL-17")
@pytest.mark.parametrize(("name", "state"), STOPPABLE)
def test_cancel_after_a_request_is_still_not_for_a_worker_without_the_lease(name: str, state: str) -> None:
    life = asked_to_stop(name, state)

    refused = answer_to(life, asked_by(life.job, "cancel", "worker", worker=OTHER_WORKER))

    assert told(refused) == "not_owner"


@pytest.mark.requirement("ALL-17")
@pytest.mark.parametrize(("name", "state"), STOPPABLE)
def test_soft_cancel_of_a_leased_job_is_a_request_and_a_second_one_writes_nothing(name: str, state: str) -> None:
    life = bring_to(name, state)
    first = life.do(Cancel(mode="soft", role="client"))
    second = life.do(Cancel(mode="soft", role="client"))

    assert [(event.verb, event.to_state) for event in first.events] == [("request_cancel", state)]
    assert (second.answer, second.events, life.job.rev) == ("unchanged", (), first.job.rev)


@pytest.mark.requirement("ALL-17", "CON-01")
@pytest.mark.parametrize("state", ["claimed", "running"])
@pytest.mark.parametrize("command", [Cancel(mode="soft"), Cancel(mode="hard"), RequestCancel()])
def test_contract_refuses_cancel_in_every_form_and_lists_what_is_allowed(state: str, command: Command) -> None:
    life = bring_to("contract", state)

    refused = life.ask(command)

    assert isinstance(refused, Refused)
    assert refused.code == "illegal_move"
    assert set(refused.allowed) == allowed_from("contract", state)


# -- what `dispatch` adds --------------------------------------------------------------------------------------------


@the_tables
@pytest.mark.parametrize(("verb", "to"), [("complete", "SUCCEEDED"), ("fail", "FAILED")])
def test_result_of_a_dispatched_job_takes_the_two_moves_of_the_table(verb: str, to: str) -> None:
    life = bring_to("dispatch", "DISPATCHED")

    change = life.do(asked_by(life.job, verb, "owner"))

    moves = [(event.verb, event.from_state, event.to_state) for event in change.events]
    assert moves == [("start", "DISPATCHED", "RUNNING"), (verb, "RUNNING", to)]


SAME_AGAIN: list[tuple[str, Command]] = [
    ("SCHEDULED", Schedule(verdict="allow", rule="first")),
    ("DISPATCHED", Claim(worker=WORKER)),
    ("RUNNING", Start(worker=WORKER, attempt=1)),
    ("SUCCEEDED", Complete(worker=WORKER, attempt=1, result=b"{}")),
    ("FAILED", Fail(worker=WORKER, attempt=1, error=Error("PermanentError", "no luck"))),
    ("CANCELLED", Cancel()),
    ("DENIED", Deny(rule="first")),
    ("TIMEOUT", Expire(role="reconciler")),
    ("TIMEOUT", TimeOut(role="reconciler")),
]


@pytest.mark.requirement("DSP-05", "DSP-03")
@pytest.mark.parametrize(("state", "command"), SAME_AGAIN)
def test_dispatch_grants_what_already_is_without_a_trace(state: str, command: Command) -> None:
    life = bring_to("dispatch", state)

    change = life.do(command)

    assert (change.answer, change.events, change.notes) == ("unchanged", (), ())


NOT_THEIRS: list[tuple[str, Command]] = [
    ("SCHEDULED", Schedule(role="client", verdict="allow", rule="first")),
    ("DISPATCHED", Claim(role="client", worker=WORKER)),
    ("RUNNING", Start(role="reconciler", worker=WORKER, attempt=1)),
    ("SUCCEEDED", Complete(role="client", worker=WORKER, attempt=1, result=b"{}")),
    ("FAILED", Fail(role="client", worker=WORKER, attempt=1, error=Error("PermanentError", "no luck"))),
    ("CANCELLED", Cancel(role="policy")),
    ("CANCELLED", Cancel(actor="reconciler")),
    ("DENIED", Deny(actor="client", rule="first")),
    ("TIMEOUT", Expire(actor="client")),
]


@pytest.mark.requirement("DSP-03", "DSP-05")
@pytest.mark.parametrize(("state", "command"), NOT_THEIRS)
def test_dispatch_grants_nothing_to_a_role_that_could_not_have_asked(state: str, command: Command) -> None:
    life = bring_to("dispatch", state)

    answer = life.ask(command)

    assert told(answer) == "illegal_move"


@pytest.mark.requirement("DSP-03")
def test_approval_of_a_job_that_is_not_held_writes_nothing() -> None:
    life = bring_to("dispatch", "SCHEDULED")

    change = life.do(Approve(role="operator"))

    assert (change.answer, change.events) == ("unchanged", ())


# -- enqueue ---------------------------------------------------------------------------------------------------------


@the_tables
@pytest.mark.parametrize("role", ROLES)
@every_lifecycle
def test_enqueue_is_for_its_own_role_and_leads_to_the_first_state(name: str, role: str) -> None:
    first, by = FIRST[name]
    answer = decide(lifecycle_of(name), None, enqueue(role=role), START)

    if role == by:
        assert isinstance(answer, Change)
        assert [(event.from_state, event.to_state, event.rev) for event in answer.events] == [(None, first, 1)]
    else:
        assert isinstance(answer, Refused)
        assert (answer.code, answer.state, answer.allowed) == ("wrong_actor", None, ())


@pytest.mark.requirement("ALL-02")
@every_place
def test_enqueue_of_a_known_job_id_changes_nothing(name: str, state: str) -> None:
    life = bring_to(name, state)

    answer = answer_to(life, enqueue(payload=b'"other"'))

    assert isinstance(answer, Refused)
    assert (answer.code, answer.state) == ("job_exists", state)


@pytest.mark.requirement("DSP-05")
@pytest.mark.parametrize("state", PHASES["dispatch"])
def test_dispatch_grants_the_same_enqueue_again_in_any_state(state: str) -> None:
    life = bring_to("dispatch", state)

    change = life.do(enqueue(policy=POLICIES["dispatch"]))

    assert (change.answer, change.events, change.job) == ("unchanged", (), life.job)


@pytest.mark.requirement("CON-01")
@every_lifecycle
def test_enqueue_under_a_live_dedupe_key_answers_with_the_job_that_has_it(name: str) -> None:
    life = Life(lifecycle_of(name), dedupe_key="invoice-7")

    change = life.do(enqueue(job_id="job-2", dedupe_key="invoice-7"))

    assert (change.answer, change.events, change.job.id) == ("duplicate", (), "job-1")


def enqueue(**fields: object) -> Enqueue:
    return msgspec.convert({"job_id": "job-1", "kind": "scan"} | fields, Enqueue, builtin_types=(bytes,))


@the_tables
def test_every_place_is_reached_by_its_path() -> None:
    jobs: list[Job] = [bring_to(name, state).job for name, state in PLACES]

    assert [(job.spec.lifecycle, job.state, job.phase) for job in jobs] == [
        (name, state, PHASES[name][state]) for name, state in PLACES
    ]
