"""One event per mutation, in order and without a gap, each saying when, who, why and what it belongs to."""

from itertools import pairwise
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.errors import Refused
from detent.kernel import Change, Error, Event, decide, evolve
from detent.kernel.command import (
    Approve,
    Cancel,
    Claim,
    Command,
    Complete,
    DeadLetter,
    Deny,
    Enqueue,
    Expire,
    Fail,
    Release,
    Renew,
    ReportProgress,
    RequestCancel,
    Requeue,
    Retry,
    Schedule,
    Start,
    Submit,
    TimeOut,
)
from detent.kernel.job import Progress
from detent.kernel.notes import compensated
from tests.chance import examples
from tests.driving import ACTS, START, WAITS_S, WORKER, Life, Step, live
from tests.kernel.tables import (
    LEASED_PLACES,
    POLICIES,
    ROWS,
    TABLES,
    asked_by,
    bring_to,
    lifecycle_of,
    one_who_may,
    used_up,
)

every_lifecycle = pytest.mark.parametrize("name", POLICIES)
long_stories: Final = st.lists(
    st.tuples(st.sampled_from(sorted(ACTS)), st.sampled_from(WAITS_S)), min_size=10, max_size=60
)
READY: Final = {"dispatch": "SCHEDULED", "document": "QUEUED"}


def ready(name: str) -> Life:
    return bring_to(name, READY.get(name, "queued"))


# -- one per mutation ------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-03", "ALL-04")
@every_lifecycle
@settings(max_examples=examples(60), deadline=None)
@given(story=long_stories)
def test_revisions_of_a_life_are_counted_without_a_gap(name: str, story: list[Step]) -> None:
    life = live(ready(name), [("claim", 0.0), *story])

    assert [event.rev for event in life.events] == list(range(1, len(life.events) + 1))
    assert life.job.rev == len(life.events)
    assert all(before.to_state == after.from_state for before, after in pairwise(life.events))
    assert all(before.at <= after.at for before, after in pairwise(life.events))
    assert (life.job.state, life.job.updated_at) == (life.events[-1].to_state, life.events[-1].at)


@pytest.mark.requirement("ALL-03", "ALL-04")
@every_lifecycle
@settings(max_examples=examples(60), deadline=None)
@given(story=long_stories)
def test_each_answer_writes_as_many_events_as_it_moves_the_revision(name: str, story: list[Step]) -> None:
    life = ready(name)
    for act, wait_s in [("claim", 0.0), *story]:
        life.wait(wait_s)
        command = ACTS[act](life)
        if command is None:
            continue
        before, written = life.job, len(life.events)

        answer = life.ask(command)

        events = life.events[written:]
        assert life.job.rev == before.rev + len(events)
        assert bool(events) == (isinstance(answer, Change) and answer.answer == "applied")
        assert all(event.at == max(life.now, before.updated_at) for event in events)


@pytest.mark.requirement("ALL-04")
@pytest.mark.parametrize(("name", "state"), LEASED_PLACES)
def test_renewals_count_too(name: str, state: str) -> None:
    life = bring_to(name, state)
    before = life.job.rev

    for _ in range(3):
        life.do(Renew(**life.as_owner()))

    assert life.job.rev == before + 3
    assert [event.rev for event in life.events[-3:]] == [before + 1, before + 2, before + 3]


@pytest.mark.requirement("ALL-04", "ALL-03")
@pytest.mark.parametrize("name", ["standard", "dispatch", "engine", "document"])
def test_second_request_to_cancel_is_no_mutation(name: str) -> None:
    life = bring_to(name, {"dispatch": "RUNNING", "document": "RUNNING"}.get(name, "running"))
    first = life.do(RequestCancel())

    second = life.do(RequestCancel())

    assert (second.answer, second.events, second.job.rev) == ("unchanged", (), first.job.rev)


@pytest.mark.requirement("ALL-03")
@pytest.mark.parametrize(("name", "state"), LEASED_PLACES)
def test_progress_is_a_note_and_no_mutation(name: str, state: str) -> None:
    life = bring_to(name, state)
    before = life.job.rev
    implied_start = 1 if (name, state) == ("dispatch", "DISPATCHED") else 0

    change = life.progress(0.5)

    assert [(note.kind, note.rev) for note in change.notes] == [("progress", life.job.rev)]
    assert life.job.rev == before + implied_start
    assert life.job.progress == Progress(0.5)


@pytest.mark.requirement("ALL-03", "ALL-11")
def test_clock_that_steps_back_does_not_reorder_the_events() -> None:
    life = bring_to("standard", "running")
    last = life.job.updated_at
    life.now = last - 60_000_000

    life.complete()

    assert life.events[-1].at == last


# -- several moves in one change -------------------------------------------------------------------------------------


def moves_of(change: Change) -> list[tuple[str, str | None, str]]:
    return [(event.verb, event.from_state, event.to_state) for event in change.events]


def assert_one_change(change: Change) -> None:
    """Consecutive revisions on one base, at one moment, for one request: nothing can come between."""
    revs = [event.rev for event in change.events]
    assert revs == list(range(change.before.rev + 1, change.before.rev + 1 + len(revs)))
    assert len({(event.at, event.request_id, event.actor, event.trace_id) for event in change.events}) == 1


TWO_MOVES: dict[str, tuple[str, str, dict[str, Any], type[Command], list[tuple[str, str, str]]]] = {
    "claim and start in standard": (
        "standard", "queued", {"worker": WORKER, "start": True}, Claim,
        [("claim", "queued", "assigned"), ("start", "assigned", "running")],
    ),
    "claim and start in dispatch": (
        "dispatch", "SCHEDULED", {"worker": WORKER, "start": True}, Claim,
        [("claim", "SCHEDULED", "DISPATCHED"), ("start", "DISPATCHED", "RUNNING")],
    ),
    "claim and start in engine": (
        "engine", "queued", {"worker": WORKER, "start": True}, Claim,
        [("claim", "queued", "dispatched"), ("start", "dispatched", "running")],
    ),
    "claim and start in contract": (
        "contract", "queued", {"worker": WORKER, "start": True}, Claim,
        [("claim", "queued", "claimed"), ("start", "claimed", "running")],
    ),
    "implied start and completion": (
        "dispatch", "DISPATCHED", {"worker": WORKER, "attempt": 1}, Complete,
        [("start", "DISPATCHED", "RUNNING"), ("complete", "RUNNING", "SUCCEEDED")],
    ),
    "implied start and failure": (
        "dispatch", "DISPATCHED", {"worker": WORKER, "attempt": 1, "error": Error("E")}, Fail,
        [("start", "DISPATCHED", "RUNNING"), ("fail", "RUNNING", "FAILED")],
    ),
    "schedule and deny": (
        "dispatch", "PENDING", {"verdict": "deny", "rule": "no-night-jobs"}, Schedule,
        [("schedule", "PENDING", "SCHEDULED"), ("deny", "SCHEDULED", "DENIED")],
    ),
}  # fmt: skip


@pytest.mark.requirement("ALL-03", "ALL-04")
@pytest.mark.parametrize("case", TWO_MOVES)
def test_two_moves_asked_for_together_are_two_events_in_one_change(case: str) -> None:
    name, state, fields, command, moves = TWO_MOVES[case]
    life = bring_to(name, state)

    change = life.do(command(**fields, request_id="r-1", trace_id="t-1"))

    assert moves_of(change) == moves
    assert_one_change(change)


@pytest.mark.requirement("ALL-03")
def test_enqueue_that_submits_is_two_events_in_one_change() -> None:
    made = decide(lifecycle_of("document"), None, Enqueue(job_id="job-1", kind="scan", submit=True), START)

    assert isinstance(made, Change)
    assert moves_of(made) == [("enqueue", None, "CREATED"), ("submit", "CREATED", "QUEUED")]
    assert_one_change(made)


@pytest.mark.requirement("ALL-03")
def test_claim_into_an_active_state_has_no_start_to_bring_along() -> None:
    life = bring_to("document", "QUEUED")

    change = life.claim(start=True)

    assert moves_of(change) == [("claim", "QUEUED", "RUNNING")]


@pytest.mark.requirement("ALL-03")
def test_progress_of_a_dispatched_job_starts_it() -> None:
    life = bring_to("dispatch", "DISPATCHED")

    change = life.do(ReportProgress(worker=WORKER, attempt=1, progress=Progress(0.1)))

    assert moves_of(change) == [("start", "DISPATCHED", "RUNNING")]
    assert [note.kind for note in change.notes] == ["progress"]


@pytest.mark.requirement("ALL-03")
@pytest.mark.parametrize("case", TWO_MOVES)
def test_record_after_a_change_is_what_its_events_make_of_the_record_before(case: str) -> None:
    name, state, fields, command, _ = TWO_MOVES[case]
    life = bring_to(name, state)
    change = life.do(command(**fields))

    folded = change.before
    for event in change.events:
        folded = evolve(folded, event)

    assert (folded.state, folded.rev, folded.phase, folded.owner) == (
        change.job.state,
        change.job.rev,
        change.job.phase,
        change.job.owner,
    )


# -- what they are called --------------------------------------------------------------------------------------------

# By verb and the state it leads to.
VOCABULARY: Final[dict[str, dict[tuple[str, str], str]]] = {
    "standard": {
        ("enqueue", "queued"): "job_queued",
        ("claim", "assigned"): "job_claimed",
        ("start", "running"): "job_started",
        ("renew", "assigned"): "job_lease_renewed",
        ("renew", "running"): "job_lease_renewed",
        ("complete", "succeeded"): "job_succeeded",
        ("fail", "failed"): "job_failed",
        ("cancel", "cancelled"): "job_cancelled",
        ("dead_letter", "dead_lettered"): "job_dead_lettered",
        ("retry", "queued"): "job_retried",
        ("time_out", "queued"): "job_timed_out",
        ("time_out", "dead_lettered"): "job_dead_lettered",
        ("expire", "queued"): "job_lease_expired",
        ("expire", "dead_lettered"): "job_dead_lettered",
        ("release", "queued"): "job_released",
        ("request_cancel", "assigned"): "job_cancel_requested",
        ("request_cancel", "running"): "job_cancel_requested",
    },
    "dispatch": {
        ("enqueue", "PENDING"): "job_accepted",
        ("schedule", "SCHEDULED"): "job_scheduled",
        ("approve", "SCHEDULED"): "job_approved",
        ("deny", "DENIED"): "job_denied",
        ("claim", "DISPATCHED"): "job_dispatched",
        ("start", "RUNNING"): "job_started",
        ("renew", "DISPATCHED"): "job_lease_renewed",
        ("renew", "RUNNING"): "job_lease_renewed",
        ("complete", "SUCCEEDED"): "job_succeeded",
        ("fail", "FAILED"): "job_failed",
        ("time_out", "TIMEOUT"): "job_timed_out",
        ("expire", "TIMEOUT"): "job_timed_out",
        ("cancel", "CANCELLED"): "job_cancelled",
        ("request_cancel", "DISPATCHED"): "job_cancel_requested",
        ("request_cancel", "RUNNING"): "job_cancel_requested",
    },
    "engine": {
        ("enqueue", "queued"): "JOB_QUEUED",
        ("claim", "dispatched"): "JOB_DISPATCHED",
        ("start", "running"): "JOB_RUNNING",
        ("renew", "dispatched"): "JOB_LEASE_RENEWED",
        ("renew", "running"): "JOB_LEASE_RENEWED",
        ("complete", "completed"): "JOB_COMPLETED",
        ("fail", "failed"): "JOB_FAILED",
        ("time_out", "failed"): "JOB_FAILED",
        ("expire", "failed"): "JOB_FAILED",
        ("cancel", "failed"): "JOB_FAILED",
        ("request_cancel", "dispatched"): "JOB_CANCEL_REQUESTED",
        ("request_cancel", "running"): "JOB_CANCEL_REQUESTED",
    },
    "contract": {
        ("enqueue", "queued"): "enqueued",
        ("claim", "claimed"): "claimed",
        ("start", "running"): "started",
        ("renew", "claimed"): "heartbeat",
        ("renew", "running"): "heartbeat",
        ("complete", "succeeded"): "succeeded",
        ("fail", "failed"): "failed",
        ("stall", "stalled"): "stalled",
        ("requeue", "queued"): "requeued",
    },
    "document": {
        ("enqueue", "CREATED"): "job_created",
        ("submit", "QUEUED"): "job_queued",
        ("claim", "RUNNING"): "job_started",
        ("renew", "RUNNING"): "job_lease_renewed",
        ("complete", "SUCCEEDED"): "job_succeeded",
        ("fail", "FAILED"): "job_failed",
        ("retry", "RETRYING"): "job_retrying",
        ("release", "RETRYING"): "job_released",
        ("requeue", "QUEUED"): "job_requeued",
        ("expire", "RETRYING"): "job_lease_expired",
        ("expire", "FAILED"): "job_failed",
        ("time_out", "RETRYING"): "job_timed_out",
        ("time_out", "FAILED"): "job_failed",
        ("cancel", "FAILED"): "job_failed",
        ("request_cancel", "RUNNING"): "job_cancel_requested",
    },
}


@pytest.mark.requirement("STD-11", "CON-06", "ENG-05")
@every_lifecycle
def test_event_types_are_the_published_ones(name: str) -> None:
    events = [*Life(lifecycle_of(name)).events]
    for row_name, state, verb in ROWS:
        if row_name == name:
            events += events_of_row(name, state, verb)

    assert {(event.verb, event.to_state): event.type for event in events} == VOCABULARY[name]


def events_of_row(name: str, state: str, verb: str) -> list[Event]:
    """With attempts left, and, where the budget chooses, with the last one used up."""
    policies = [POLICIES[name], used_up(POLICIES[name])] if len(TABLES[name][state, verb].to) > 1 else [POLICIES[name]]
    lives = [bring_to(name, state, verb=verb, policy=policy) for policy in policies]
    return [
        event for life in lives for event in life.do(asked_by(life.job, verb, one_who_may(name, state, verb))).events
    ]


HEARTBEATS: Final = {
    "standard": ("job_lease_renewed", "job_heartbeat"),
    "dispatch": ("job_lease_renewed", "job_heartbeat"),
    "engine": ("JOB_LEASE_RENEWED", "JOB_HEARTBEAT"),
    "contract": ("heartbeat", "heartbeat"),
    "document": ("job_lease_renewed", "job_heartbeat"),
}


@pytest.mark.requirement("STD-11", "STD-03", "CON-06")
@pytest.mark.parametrize(("name", "state"), LEASED_PLACES)
def test_renewal_that_carries_something_is_called_a_heartbeat(name: str, state: str) -> None:
    life = bring_to(name, state)
    renewals = [
        life.do(Renew(**life.as_owner(), **carried))
        for carried in (
            {},
            {"checkpoint": b"1"},
            {"progress": Progress(0.5)},
            {"checkpoint": b"2", "progress": Progress(1)},
        )
    ]

    types = [event.type for change in renewals for event in change.events]

    plain, heartbeat = HEARTBEATS[name]
    assert types == [plain, heartbeat, heartbeat, heartbeat]
    assert (life.job.checkpoint, life.job.progress) == (b"2", Progress(1))


@pytest.mark.requirement("STD-11")
def test_compensation_is_noted_under_its_published_name() -> None:
    job = bring_to("standard", "failed").job

    note = compensated(lifecycle_of("standard"), job, by_job_id="job-2", now=job.updated_at)

    assert (note.type, note.kind, note.rev, note.payload) == (
        "job_compensated",
        "compensated",
        job.rev,
        {"by_job_id": "job-2"},
    )


# -- what they say ---------------------------------------------------------------------------------------------------


@pytest.mark.requirement("STD-12", "ALL-11")
@every_lifecycle
@settings(max_examples=examples(30), deadline=None)
@given(story=long_stories)
def test_every_event_has_the_fields_of_the_schema(name: str, story: list[Step]) -> None:
    life = live(ready(name), [("claim", 0.0), *story])

    for event in life.events:
        assert event.id == f"default:job-1:{event.rev}"
        assert (event.tenant, event.job_id, event.version) == ("default", "job-1", 1)
        assert event.type in {*VOCABULARY[name].values(), *HEARTBEATS[name]}
        assert event.at >= START
        assert event.actor
        assert event.role
        assert event.correlation_id == "job-1"
        assert isinstance(event.payload, dict | None)
    assert len({event.id for event in life.events}) == len(life.events)


@pytest.mark.requirement("CON-06")
@pytest.mark.parametrize(("state", "verb"), list(TABLES["contract"]))
def test_contract_events_tell_from_to_when_who_and_for_which_request(state: str, verb: str) -> None:
    life = bring_to("contract", state, verb=verb)
    command = asked_by(life.job, verb, one_who_may("contract", state, verb), request_id="r-1", actor="alice")

    (event,) = life.do(command).events

    assert (event.from_state, event.at, event.actor, event.request_id) == (state, life.now, "alice", "r-1")
    assert {event.to_state} == TABLES["contract"][state, verb].to


@pytest.mark.requirement("ALL-11")
def test_correlation_id_is_the_jobs_own_unless_one_was_given() -> None:
    alone = Life(lifecycle_of("standard"))
    together = Life(lifecycle_of("standard"), correlation_id="order-7")
    for life in (alone, together):
        life.claim(start=True)
        life.complete()

    assert {event.correlation_id for event in alone.events} == {"job-1"}
    assert {event.correlation_id for event in together.events} == {"order-7"}


@pytest.mark.requirement("ALL-11")
def test_trace_id_is_the_calls_own_or_else_the_one_the_job_was_enqueued_under() -> None:
    life = Life(lifecycle_of("standard"), trace_id="t-enqueue")
    life.claim()
    life.do(Start(worker=WORKER, attempt=1, trace_id="t-start"))
    life.do(Renew(worker=WORKER, attempt=1))

    assert [event.trace_id for event in life.events] == ["t-enqueue", "t-enqueue", "t-start", "t-enqueue"]


@pytest.mark.requirement("ALL-11")
@pytest.mark.parametrize(
    ("name", "state", "verb"), [row for row in ROWS if row[2] in ("cancel", "claim", "start", "renew")]
)
def test_reason_that_was_given_is_the_cause_on_the_record(name: str, state: str, verb: str) -> None:
    life = bring_to(name, state, verb=verb)
    role = one_who_may(name, state, verb)

    (event,) = life.do(asked_by(life.job, verb, role, reason="because I say so")).events

    assert "because I say so" in (event.cause or "")


CAUSES: dict[str, tuple[str, str, Command, str]] = {
    "a retryable failure": (
        "standard", "running", Fail(worker=WORKER, attempt=1, error=Error("TransientError", "no luck")), "no luck",
    ),
    "a final failure": (
        "standard", "running", Fail(worker=WORKER, attempt=1, error=Error("PermanentError", "never")), "never",
    ),
    "a lost lease": ("standard", "running", Expire(), "stopped renewing"),
    "a run limit": ("standard", "running", TimeOut(role="reconciler"), "is over"),
    "a retry by the system": ("standard", "running", Retry(error=Error("Busy", "try later")), "try later"),
    "a dead letter": ("standard", "queued", DeadLetter(role="operator", reason="poison"), "poison"),
    "a verdict": ("dispatch", "PENDING", Schedule(verdict="allow", rule="office-hours"), "allow by rule office-hours"),
    "a denial": ("dispatch", "SCHEDULED", Deny(rule="office-hours"), "office-hours"),
    "a cancelled engine job": ("engine", "queued", Cancel(reason="not needed"), "not needed"),
}  # fmt: skip


@pytest.mark.requirement("ALL-11")
@pytest.mark.parametrize("case", CAUSES)
def test_event_says_what_caused_it(case: str) -> None:
    name, state, command, said = CAUSES[case]
    life = bring_to(name, state, verb=command.verb)

    (event,) = life.do(command).events

    assert said in (event.cause or "")


@pytest.mark.requirement("ALL-11")
@pytest.mark.parametrize(("name", "state"), LEASED_PLACES)
def test_what_the_system_does_by_itself_has_a_cause_and_its_name(name: str, state: str) -> None:
    life = bring_to(name, state)

    (event,) = life.reconcile().events

    assert (event.actor, event.role) == ("reconciler", "reconciler")
    assert event.cause


@pytest.mark.requirement("ALL-11")
def test_implied_start_names_what_implied_it() -> None:
    life = bring_to("dispatch", "DISPATCHED")

    start, _ = life.do(Complete(worker=WORKER, attempt=1)).events

    assert start.cause == "implied by complete"


# -- who: the role that allowed it, and the actor as told -----------------------------------------------------------

WHO: dict[str, tuple[str, str, Command, tuple[str, str]]] = {
    "a worker": ("standard", "queued", Claim(worker="w"), ("w", "worker")),
    "the owner": ("standard", "assigned", Start(worker=WORKER, attempt=1), (WORKER, "owner")),
    "an owner that calls itself a worker": (
        "standard", "assigned", Start(worker=WORKER, attempt=1, role="worker"), (WORKER, "owner"),
    ),
    "a worker that calls itself an owner": ("standard", "queued", Claim(worker="w", role="owner"), ("w", "worker")),
    "a worker on a host": ("standard", "queued", Claim(worker="w", actor="host-7"), ("host-7", "worker")),
    "nobody named, for a cancel": ("standard", "queued", Cancel(), ("client", "client")),
    "nobody named, for a cancel in dispatch": ("dispatch", "PENDING", Cancel(), ("operator", "operator")),
    "nobody named, for a dead letter": ("standard", "queued", DeadLetter(), ("reconciler", "reconciler")),
    "nobody named, for a retry": ("standard", "running", Retry(), ("reconciler", "reconciler")),
    "nobody named, for a verdict": (
        "dispatch", "PENDING", Schedule(verdict="allow", rule="r"), ("scheduler", "scheduler"),
    ),
    "nobody named, for an approval": ("dispatch", "SCHEDULED", Approve(), ("operator", "operator")),
    "nobody named, for a denial": ("dispatch", "SCHEDULED", Deny(), ("scheduler", "scheduler")),
    "nobody named, for a submission": ("document", "CREATED", Submit(), ("client", "client")),
    "a person": ("standard", "queued", Cancel(actor="alice"), ("alice", "client")),
    "a person in a role": ("standard", "queued", Cancel(actor="alice", role="operator"), ("alice", "operator")),
    "a bare role name": ("standard", "queued", Cancel(actor="operator"), ("operator", "operator")),
    "a role given beside another's name": (
        "standard", "queued", Cancel(actor="client", role="operator"), ("client", "operator"),
    ),
    "a scheduler for a pool": (
        "dispatch", "SCHEDULED", Claim(actor="scheduler", worker="pool-1"), ("scheduler", "scheduler"),
    ),
    "a scheduler for a pool, by role": (
        "engine", "queued", Claim(role="scheduler", worker="pool-1"), ("pool-1", "scheduler"),
    ),
    "an operator by name": ("contract", "stalled", Requeue(actor="operator", expected_rev=4), ("operator", "operator")),
    "nobody named, for a requeue": ("contract", "stalled", Requeue(expected_rev=4), ("reconciler", "reconciler")),
    "a worker that releases": ("standard", "running", Release(worker=WORKER, attempt=1), (WORKER, "owner")),
    "a failure that the system answers with a retry": (
        "standard", "running", Fail(worker=WORKER, attempt=1, error=Error("TransientError")), (WORKER, "reconciler"),
    ),
}  # fmt: skip


@pytest.mark.requirement("ALL-11")
@pytest.mark.parametrize("case", WHO)
def test_event_names_the_actor_as_told_and_the_role_that_allowed_it(case: str) -> None:
    name, state, command, who = WHO[case]
    life = bring_to(name, state, verb=command.verb)

    (event,) = life.do(command).events

    assert (event.actor, event.role) == who


@pytest.mark.requirement("ALL-11")
@pytest.mark.parametrize("claimer", ["worker", "scheduler"])
def test_start_that_comes_with_a_claim_is_the_owners(claimer: str) -> None:
    life = bring_to("dispatch", "SCHEDULED")

    change = life.do(Claim(actor=claimer, worker="pool-1", start=True))

    assert [event.role for event in change.events] == [claimer, "owner"]
    assert change.job.owner == "pool-1"


@pytest.mark.requirement("ALL-11", "ALL-07")
@pytest.mark.parametrize("actor", ["owner", "worker"])
def test_calling_oneself_the_owner_without_a_worker_name_owns_nothing(actor: str) -> None:
    life = bring_to("standard", "running")

    refused = life.ask(Complete(actor=actor, attempt=1))

    assert isinstance(refused, Refused)
    assert refused.code == "not_owner"


@pytest.mark.requirement("ALL-11")
@every_lifecycle
def test_enqueue_is_by_its_own_role_unless_the_actor_names_another(name: str) -> None:
    by = "gateway" if name == "dispatch" else "client"
    made = decide(lifecycle_of(name), None, Enqueue(job_id="a", kind="scan", actor="alice"), START)
    refused = decide(lifecycle_of(name), None, Enqueue(job_id="a", kind="scan", actor="reconciler"), START)

    assert isinstance(made, Change)
    assert [(event.actor, event.role) for event in made.events] == [("alice", by)]
    assert isinstance(refused, Refused)
    assert refused.code == "wrong_actor"
