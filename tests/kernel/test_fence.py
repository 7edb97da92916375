"""Only the owner with a live lease changes a leased job, and it names its attempt. What comes too late is noted."""

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from detent.errors import Refused
from detent.kernel import Change, Error, Job, decide, holds
from detent.kernel.command import COMMANDS, Claim, Command, Complete, Fail, Renew, RequestCancel, Requeue, Stall, Start
from detent.kernel.event import NOTE_BYTES_MAX
from detent.kernel.notes import late_result
from detent.lifecycle.words import NOTING
from tests.chance import examples
from tests.driving import WORKER, Life, Step, live, steps
from tests.kernel.tables import (
    CONTENT,
    LEASED_PLACES,
    OTHER_WORKER,
    PHASES,
    PLACES,
    POLICIES,
    ROLES,
    TABLES,
    WORKERS,
    asked_by,
    bring_to,
    lifecycle_of,
)

NOTE_ENCODED_BYTES_MAX = 64 * 1024

# By place: the verbs of its owner. Progress and artifacts are among them, though no moves.
OWNER_VERBS = [
    (name, state, verb)
    for name, state in LEASED_PLACES
    for verb in ("start", "renew", "complete", "fail", "release", "stall", *NOTING)
    if verb in NOTING or "owner" in TABLES[name].get((state, verb), ((), ()))[1]
]
owner_verbs = pytest.mark.parametrize(("name", "state", "verb"), OWNER_VERBS)
leased_places = pytest.mark.parametrize(("name", "state"), LEASED_PLACES)


def fenced(verb: str, **fence: Any) -> Command:
    return COMMANDS[verb](**{"worker": WORKER} | CONTENT.get(verb, {}) | fence)


def code_of(answer: Change | Refused) -> str:
    return answer.code if isinstance(answer, Refused) else answer.answer


def refused_without_effect(life: Life, command: Command) -> str:
    """The code of the refusal, after a look that it left the job alone."""
    before, events = life.job, len(life.events)
    answer = life.ask(command)
    assert isinstance(answer, Refused), f"accepted: {command}"
    assert (life.job, len(life.events)) == (before, events)
    return answer.code


# -- the fence -------------------------------------------------------------------------------------------------------


def is_rev_mandatory(name: str, verb: str) -> bool:
    """On every mutation of the contract lifecycle; what leaves a note is none."""
    return name == "contract" and verb not in NOTING


@pytest.mark.requirement("ALL-07", "CON-02")
@owner_verbs
def test_owner_verb_without_attempt_and_revision_is_refused(name: str, state: str, verb: str) -> None:
    life = bring_to(name, state)

    code = refused_without_effect(life, fenced(verb))

    assert code == ("rev_required" if is_rev_mandatory(name, verb) else "fence_required")


@pytest.mark.requirement("ALL-07")
@owner_verbs
def test_attempt_alone_is_fence_enough_unless_the_revision_is_mandatory(name: str, state: str, verb: str) -> None:
    life = bring_to(name, state)

    answer = life.ask(fenced(verb, attempt=life.job.attempt))

    assert code_of(answer) in ({"rev_required"} if is_rev_mandatory(name, verb) else {"applied", "noted"})


@pytest.mark.requirement("ALL-07", "CON-02")
@owner_verbs
def test_revision_alone_is_fence_enough(name: str, state: str, verb: str) -> None:
    life = bring_to(name, state)

    answer = life.ask(fenced(verb, expected_rev=life.job.rev))

    assert code_of(answer) in {"applied", "noted"}


@pytest.mark.requirement("CON-02")
@pytest.mark.parametrize(("state", "verb"), list(TABLES["contract"]))
@pytest.mark.parametrize("role", ROLES)
def test_contract_wants_the_revision_from_everybody_but_for_a_claim(state: str, verb: str, role: str) -> None:
    life = bring_to("contract", state, verb=verb)
    may = TABLES["contract"][state, verb].by
    command = asked_by(life.job, verb, role, expected_rev=None)

    code = code_of(life.ask(command))

    if role not in may and not (role in WORKERS and may & WORKERS):
        assert code == "wrong_actor"
    else:
        assert code == ("applied" if verb == "claim" else "rev_required")


@pytest.mark.requirement("CON-02", "ALL-06")
@pytest.mark.parametrize(("state", "verb"), list(TABLES["contract"]))
@pytest.mark.parametrize("off_by", [-1, 1])
def test_contract_refuses_another_revision_than_the_present_one(state: str, verb: str, off_by: int) -> None:
    life = bring_to("contract", state, verb=verb)
    role = "owner" if "owner" in TABLES["contract"][state, verb].by else min(TABLES["contract"][state, verb].by)

    code = refused_without_effect(life, asked_by(life.job, verb, role, expected_rev=life.job.rev + off_by))

    assert code == "stale_rev"


# -- the owner -------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-07", "CON-03")
@owner_verbs
def test_worker_without_the_lease_changes_nothing(name: str, state: str, verb: str) -> None:
    life = bring_to(name, state)
    job = life.job

    code = refused_without_effect(life, fenced(verb, worker=OTHER_WORKER, attempt=job.attempt, expected_rev=job.rev))

    assert code == "not_owner"


@pytest.mark.requirement("ALL-07", "CON-03")
@owner_verbs
def test_worker_that_does_not_give_its_name_changes_nothing(name: str, state: str, verb: str) -> None:
    life = bring_to(name, state)
    job = life.job

    code = refused_without_effect(
        life, fenced(verb, worker=None, role="owner", attempt=job.attempt, expected_rev=job.rev)
    )

    assert code == "not_owner"


@pytest.mark.requirement("ALL-07", "CON-03")
@owner_verbs
def test_owner_changes_nothing_from_the_moment_its_lease_is_over(name: str, state: str, verb: str) -> None:
    life = bring_to(name, state)
    fence = {"attempt": life.job.attempt, "expected_rev": life.job.rev}
    assert life.job.lease_expires_at is not None

    life.now = life.job.lease_expires_at
    at_the_end = refused_without_effect(life, fenced(verb, **fence))
    life.now = life.job.lease_expires_at - 1
    just_before = life.ask(fenced(verb, **fence))

    assert at_the_end == "lease_expired"
    assert code_of(just_before) in {"applied", "noted"}


@pytest.mark.requirement("ALL-07")
@pytest.mark.parametrize("name", ["standard", "contract", "document"])
@pytest.mark.parametrize("verb", ["renew", "complete", "fail", *NOTING])
def test_restarted_worker_of_the_same_name_cannot_speak_for_an_older_attempt(name: str, verb: str) -> None:
    life = bring_to(name, "RUNNING" if name == "document" else "running")
    claim_again(life)
    if name != "document":
        life.start()

    stale = refused_without_effect(life, fenced(verb, attempt=1, expected_rev=life.job.rev))
    fresh = life.ask(fenced(verb, attempt=2, expected_rev=life.job.rev))

    assert (life.job.attempt, stale) == (2, "not_owner")
    assert code_of(fresh) in {"applied", "noted"}


@pytest.mark.requirement("ALL-07")
@owner_verbs
@pytest.mark.parametrize("attempt", [0, 2])
def test_any_other_attempt_than_the_present_one_is_refused(name: str, state: str, verb: str, attempt: int) -> None:
    life = bring_to(name, state)

    code = refused_without_effect(life, fenced(verb, attempt=attempt, expected_rev=life.job.rev))

    assert code == "not_owner"


def claim_again(life: Life) -> None:
    """The same worker name takes the job a second time, after the first lease was lost."""
    while life.job.claim_at is None or life.job.is_leased:
        life.reconcile()
    life.now = max(life.now, life.job.claim_at)
    life.claim()


# -- at most one lease -----------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-01")
@leased_places
@pytest.mark.parametrize("worker", [WORKER, OTHER_WORKER])
def test_leased_job_cannot_be_claimed_even_when_its_lease_is_over(name: str, state: str, worker: str) -> None:
    life = bring_to(name, state)
    is_settled = name == "dispatch" and state == "DISPATCHED" and worker == WORKER
    before = life.job

    live_lease = life.ask(Claim(worker=worker))
    life.now = life.job.lease_expires_at or 0
    lease_over = life.ask(Claim(worker=worker))

    assert life.job == before
    assert code_of(live_lease) == ("unchanged" if is_settled else "illegal_move")
    assert code_of(lease_over) == "illegal_move"


@pytest.mark.requirement("ALL-01", "ALL-09")
@pytest.mark.parametrize(("name", "state"), PLACES)
def test_job_has_owner_and_lease_while_it_is_held_or_active_and_at_no_other_time(name: str, state: str) -> None:
    job = bring_to(name, state).job

    has = [
        job.owner is not None,
        job.lease_expires_at is not None,
        job.lease_s is not None,
        job.heartbeat_by is not None,
    ]

    assert has == [PHASES[name][state] in ("held", "active")] * 4


@pytest.mark.requirement("ALL-01", "ALL-07")
@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=examples(60), deadline=None)
@given(story=steps)
def test_of_two_workers_at_most_one_is_heard_at_any_moment(name: str, story: list[Step]) -> None:
    life = ready(name)
    for step in [("claim", 0.0), *story]:
        live(life, [step])
        job = life.job
        speak: list[Command] = [
            Renew(worker=worker, attempt=attempt, expected_rev=job.rev)
            for worker in (WORKER, OTHER_WORKER, "somebody-else")
            for attempt in range(job.attempt + 2)
        ]

        heard = [command for command in speak if isinstance(decide(life.lifecycle, job, command, life.now), Change)]

        is_live = job.lease_expires_at is not None and life.now < job.lease_expires_at
        assert [(command.worker, command.attempt) for command in heard] == [(job.owner, job.attempt)] * is_live


def ready(name: str) -> Life:
    """A job that can be claimed at once."""
    return bring_to(name, {"dispatch": "SCHEDULED", "document": "QUEUED"}.get(name, "queued"))


# -- attempts --------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-08", "CON-05")
@pytest.mark.parametrize("name", POLICIES)
@settings(max_examples=examples(60), deadline=None)
@given(story=steps)
def test_attempt_grows_by_one_on_every_claim_and_on_nothing_else(name: str, story: list[Step]) -> None:
    life = live(ready(name), [("claim", 0.0), *story])
    attempt = 0

    for event in life.events:
        attempt += event.verb == "claim"
        assert event.attempt == attempt
    assert life.job.attempt == attempt
    assert attempt > 0


@pytest.mark.requirement("ALL-08", "CON-05")
@pytest.mark.parametrize(
    ("name", "state"), [(name, state) for name, state in PLACES if (state, "claim") in TABLES[name]]
)
def test_claim_and_reclaim_count_one_attempt_each(name: str, state: str) -> None:
    life = bring_to(name, state, verb="claim")
    before = life.job.attempt

    life.claim()

    assert before == (1 if state == "stalled" else 0)
    assert life.job.attempt == before + 1


@pytest.mark.requirement("ALL-08")
@pytest.mark.parametrize("name", POLICIES)
def test_new_job_has_had_no_attempt(name: str) -> None:
    assert Life(lifecycle_of(name)).job.attempt == 0


@pytest.mark.requirement("CON-05", "ALL-08")
def test_operator_that_resets_the_counters_leaves_the_attempt_alone() -> None:
    life = bring_to("contract", "stalled")
    life.do(Requeue(role="operator", expected_rev=life.job.rev))

    assert (life.job.attempt, life.job.interruptions) == (1, 0)


# -- compare and set -------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-06", "ALL-01")
@leased_places
def test_change_decided_on_an_older_revision_does_not_hold(name: str, state: str) -> None:
    life = bring_to(name, state)
    decided = decided_on(life, Renew(**life.as_owner()))
    newer = decided_on(life, Renew(**life.as_owner())).job

    assert holds(decided, life.job, life.now)
    assert not holds(decided, newer, life.now)


@pytest.mark.requirement("ALL-06", "ALL-01")
@pytest.mark.parametrize(
    ("name", "state"), [(name, state) for name, state in PLACES if (state, "claim") in TABLES[name]]
)
def test_of_two_claims_decided_on_the_same_record_only_the_first_written_holds(name: str, state: str) -> None:
    life = bring_to(name, state, verb="claim")
    one, other = (decided_on(life, Claim(worker=worker)) for worker in (WORKER, OTHER_WORKER))

    assert holds(one, life.job, life.now)
    assert not holds(other, one.job, life.now)


@pytest.mark.requirement("ALL-06", "ALL-07")
@owner_verbs
def test_owners_change_does_not_hold_once_the_lease_ran_out_before_the_write(name: str, state: str, verb: str) -> None:
    life = bring_to(name, state)
    decided = decided_on(life, fenced(verb, attempt=life.job.attempt, expected_rev=life.job.rev))
    over = life.job.lease_expires_at or 0

    assert decided.needs_lease
    assert holds(decided, life.job, over - 1)
    assert not holds(decided, life.job, over)


@pytest.mark.requirement("ALL-06")
@leased_places
def test_systems_change_of_a_leased_job_needs_no_live_lease(name: str, state: str) -> None:
    life = bring_to(name, state)
    verb = "stall" if name == "contract" else "expire"
    life.now = life.job.heartbeat_by or 0
    decided = decided_on(life, asked_by(life.job, verb, "reconciler"))

    assert holds(decided, life.job, (life.job.lease_expires_at or 0) + 1)


@pytest.mark.requirement("ALL-06", "CON-02")
def test_request_to_cancel_is_not_overtaken_by_a_change_that_did_not_know_of_it() -> None:
    life = bring_to("standard", "running")
    completed = decided_on(life, Complete(worker=WORKER, attempt=1))
    life.do(RequestCancel(role="client"))

    assert not holds(completed, life.job, life.now)


def decided_on(life: Life, command: Command) -> Change:
    """Decided, not written."""
    answer = decide(life.lifecycle, life.job, command, life.now)
    assert isinstance(answer, Change), str(answer)
    return answer


# -- late results ----------------------------------------------------------------------------------------------------

RESULTS: list[Command] = [
    Complete(worker=WORKER, attempt=1, result=b'{"pages": 3}', result_ptr="mem://r", execution_ms=12),
    Fail(worker=WORKER, attempt=1, error=Error("TransientError", "no luck", code="E7"), execution_ms=12),
]


def run_late(name: str) -> Life:
    """Its worker went silent, and the system took the job away."""
    life = bring_to(name, "RUNNING" if name in ("dispatch", "document") else "running")
    life.now = life.job.heartbeat_by or 0
    life.do(asked_by(life.job, "stall" if name == "contract" else "expire", "reconciler"))
    return life


@pytest.mark.requirement("ALL-07", "DSP-06", "ALL-10")
@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("result", RESULTS, ids=["complete", "fail"])
def test_late_result_is_refused_and_kept_as_a_note(name: str, result: Command) -> None:
    life = run_late(name)
    before = life.job

    refused = life.ask(result)

    (note,) = life.notes
    assert isinstance(refused, Refused)
    assert life.job == before
    assert (note.kind, note.job_id, note.rev, note.actor) == ("late_result", "job-1", before.rev, WORKER)
    assert (note.payload["attempt"], note.payload["refused"]) == (1, refused.code)
    assert b"pages" in note.payload["result"] if isinstance(result, Complete) else note.payload["error"]["code"] == "E7"


@pytest.mark.requirement("ALL-07")
@pytest.mark.parametrize("result", RESULTS, ids=["complete", "fail"])
def test_result_after_the_lease_ran_out_is_a_late_one_though_nobody_noticed_yet(result: Command) -> None:
    life = bring_to("standard", "running")
    life.now = life.job.lease_expires_at or 0

    refused = life.ask(result)

    assert code_of(refused) == "lease_expired"
    assert [note.kind for note in life.notes] == ["late_result"]


@pytest.mark.requirement("ALL-07")
@pytest.mark.parametrize("name", ["standard", "contract", "document"])
@pytest.mark.parametrize("result", RESULTS, ids=["complete", "fail"])
def test_result_for_a_job_that_is_queued_again_is_a_late_one(name: str, result: Command) -> None:
    life = run_late(name)
    while life.job.phase != "ready":
        life.reconcile()

    refused = life.ask(result)

    assert isinstance(refused, Refused)
    assert [note.kind for note in life.notes] == ["late_result"]


@pytest.mark.requirement("ALL-07")
@pytest.mark.parametrize("result", RESULTS, ids=["complete", "fail"])
def test_result_of_an_older_attempt_is_a_late_one(result: Command) -> None:
    life = bring_to("standard", "running")
    claim_again(life)
    life.start()

    refused = life.ask(result)

    assert code_of(refused) == "not_owner"
    assert [note.payload["attempt"] for note in life.notes] == [1]


@pytest.mark.requirement("ALL-07")
@pytest.mark.parametrize("command", [*RESULTS, Complete(worker=WORKER, attempt=1, result=b"1", result_ptr="p" * 8_192)])
@pytest.mark.parametrize("text", ["x", "\N{SNOWMAN}"])
def test_note_of_a_late_result_is_bounded_whatever_was_sent(command: Command, text: str) -> None:
    life = run_late("standard")
    if isinstance(command, Complete):
        command = replace(command, result=text.encode() * 1_000_000)
    if isinstance(command, Fail):
        command = replace(command, error=Error(text * 100_000, text * 1_000_000))
    refused = life.ask(command)
    assert isinstance(refused, Refused)

    note = late_result(life.job, command, refused, life.now)

    assert note is not None
    assert len(note.payload.get("result", b"")) <= NOTE_BYTES_MAX
    assert len(note.payload.get("error", {}).get("message", "")) <= NOTE_BYTES_MAX
    assert len(msgspec.json.encode(note)) <= NOTE_ENCODED_BYTES_MAX


@pytest.mark.requirement("ALL-07")
def test_note_says_whether_it_holds_the_whole_result() -> None:
    life = run_late("standard")
    life.ask(Complete(worker=WORKER, attempt=1, result=b"1"))
    life.ask(Complete(worker=WORKER, attempt=1, result=b"1" * (NOTE_BYTES_MAX + 1)))

    whole, cut = (note.payload for note in life.notes)
    assert (whole["is_whole"], cut["is_whole"]) == (True, False)
    assert whole["digest"] != cut["digest"]


NO_LATE_RESULT: dict[str, tuple[str, Command]] = {
    "a start": ("queued", Start(worker=WORKER, attempt=1)),
    "a renewal": ("queued", Renew(worker=WORKER, attempt=1)),
    "somebody's without a worker": ("queued", Complete(role="client", attempt=1)),
    "an attempt that never was": ("running", Complete(worker=WORKER, attempt=2)),
    "an unfenced one": ("running", Complete(worker=WORKER)),
    "one on another revision": ("running", Complete(worker=WORKER, attempt=1, expected_rev=1)),
    "one by the holder that did not start yet": ("assigned", Complete(worker=WORKER, attempt=1)),
}


@pytest.mark.requirement("ALL-07")
@pytest.mark.parametrize("case", NO_LATE_RESULT)
def test_refusal_of_anything_but_a_late_result_leaves_no_note(case: str) -> None:
    state, command = NO_LATE_RESULT[case]
    life = bring_to("standard", state)

    refused = life.ask(command)

    assert isinstance(refused, Refused)
    assert life.notes == []


@pytest.mark.requirement("ALL-07")
def test_result_for_a_job_that_nobody_ever_claimed_leaves_no_note() -> None:
    life = bring_to("standard", "queued")

    life.ask(Complete(worker=WORKER))

    assert life.notes == []


@pytest.mark.requirement("ALL-07", "CON-03")
@settings(max_examples=examples(60), deadline=None)
@given(story=steps, verb=st.sampled_from(["start", "renew", "complete", "fail", "release", "stall", *NOTING]))
def test_worker_that_lost_its_lease_never_changes_the_job_again(story: list[Step], verb: str) -> None:
    for name in POLICIES:
        life = run_late(name)
        live(life, [step for step in story if step[0] != "intrude"])

        code = refused_without_effect(life, fenced(verb, attempt=1, expected_rev=life.job.rev))

        # To fail a job that nobody holds is the system's in `document`.
        assert code in {"illegal_move", "not_owner", "wrong_actor"}


@pytest.mark.requirement("ALL-01", "CON-03")
def test_revoking_a_live_lease_silences_its_worker_at_once() -> None:
    life = bring_to("contract", "running")
    revoked: Job = life.do(Stall(role="scheduler", expected_rev=life.job.rev)).job

    code = refused_without_effect(life, Complete(worker=WORKER, attempt=1, expected_rev=revoked.rev))

    assert (revoked.owner, revoked.lease_expires_at) == (None, None)
    assert code == "illegal_move"
