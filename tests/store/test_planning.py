"""The planning as a pure function: facts in, a plan out. The facts here are plain dictionaries."""

from typing import Any, Final

import pytest
from msgspec.structs import replace

from detent.errors import DetentError, InvalidArgument, NotFound, Refused
from detent.kernel import Error, Job, Note
from detent.kernel.artifacts import ARTIFACTS_MAX
from detent.kernel.command import Cancel, Claim, Complete, Enqueue, Fail, RegisterArtifact, Renew, Rerun, Start
from detent.lifecycle import Compensation, Lifecycle, Policy, Retry
from detent.lifecycles import BUILT_IN
from detent.store import ClaimRequest, Kept, Plan, Reply, Request, Scope, plan, plan_claim, plan_due
from detent.store.limits import KeyUse

NOW: Final = 1_738_425_600_000_000
STANDARD: Final = BUILT_IN["standard"]


class Shelf:
    """A store of dictionaries that keeps what a plan says, and counts nothing else."""

    def __init__(self) -> None:
        self.jobs: dict[tuple[str, str], Job] = {}
        self.receipts: dict[Scope, Kept] = {}
        self.depths_max: dict[tuple[str, str], int] = {}
        self.notes: list[Note] = []
        self.now = NOW

    def job(self, tenant: str, job_id: str) -> Job | None:
        return self.jobs.get((tenant, job_id))

    def live(self, tenant: str, kind: str, dedupe_key: str) -> Job | None:
        wanted = tenant, kind, dedupe_key
        of_key = [job for job in self.jobs.values() if (job.spec.tenant, job.spec.kind, job.spec.dedupe_key) == wanted]
        return next((job for job in of_key if not job.is_ended), None)

    def kept(self, scope: Scope) -> Kept | None:
        return self.receipts.get(scope)

    def room(self, tenant: str, queue: str) -> int | None:
        if (tenant, queue) not in self.depths_max:
            return None
        there = [job for job in self.jobs.values() if (job.spec.tenant, job.spec.queue) == (tenant, queue)]
        return self.depths_max[tenant, queue] - sum(job.claim_at is not None for job in there)

    def noted(self, tenant: str, job_id: str, kind: str) -> list[Note]:
        asked = tenant, job_id, kind
        return [note for note in self.notes if (note.tenant, note.job_id, note.kind) == asked]

    def use(self, tenant: str, limit_key: str) -> KeyUse | None:
        return KeyUse(sum(job.is_leased and job.spec.limit_key == limit_key for job in self.jobs.values()))

    def lifecycle(self, name: str, version: int) -> Lifecycle:
        return BUILT_IN[name]

    def ask(self, *requests: Request) -> list[Reply | DetentError]:
        return self._keep(plan(requests, self, self.now, lambda: 0.5))

    def claim(self, request: ClaimRequest) -> list[Reply | DetentError]:
        due = [job for job in self.jobs.values() if job.claim_at is not None and job.spec.queue in request.queues]
        return self._keep(plan_claim(request, due, self, self.now))

    def reconcile(self) -> list[Reply | DetentError]:
        return self._keep(plan_due(list(self.jobs.values()), self, self.now, lambda: 0.5))

    def do(self, command: Any, job_id: str = "a", *, lifecycle: Lifecycle | None = None) -> Job:
        (reply,) = self.ask(Request("default", job_id, command, lifecycle))
        assert isinstance(reply, Reply), reply
        return reply.job

    def end(self, job_id: str = "a") -> None:
        """Run a queued job to its success."""
        self.do(Claim(worker="w", start=True), job_id)
        self.do(Complete(worker="w", attempt=1), job_id)

    def _keep(self, planned: Plan) -> list[Reply | DetentError]:
        for change, job in planned.changes:
            self.jobs[job.spec.tenant, job.id] = job
            self.jobs |= {(each.job.spec.tenant, each.job.id): each.job for each in change.spawned}
        self.receipts |= {kept.scope: kept for kept in planned.kept}
        self.notes += planned.notes
        return planned.replies


def enqueue(job_id: str = "a", lifecycle: Lifecycle = STANDARD, tenant: str = "default", **fields: Any) -> Request:
    command = Enqueue(**{"job_id": job_id, "kind": "scan", "tenant": tenant} | fields)
    return Request(tenant, job_id, command, lifecycle)


def about(command: Any, job_id: str = "a", tenant: str = "default") -> Request:
    return Request(tenant, job_id, command)


def answers(replies: list[Reply | DetentError]) -> list[str]:
    return [reply.answer if isinstance(reply, Reply) else reply.code for reply in replies]


# -- queues -----------------------------------------------------------------------------------------------------------


def test_queue_takes_as_many_jobs_of_a_batch_as_it_has_room_for() -> None:
    shelf = Shelf()
    shelf.depths_max["default", "default"] = 2

    replies = shelf.ask(enqueue("a"), enqueue("b"), enqueue("c"), enqueue("d", queue="other"))

    assert answers(replies) == ["applied", "applied", "queue_full", "applied"]
    assert sorted(job_id for _, job_id in shelf.jobs) == ["a", "b", "d"]


def test_full_queue_of_one_tenant_is_not_full_for_another() -> None:
    shelf = Shelf()
    shelf.depths_max["default", "default"] = 0

    assert answers(shelf.ask(enqueue("a"), enqueue("a", tenant="acme"))) == ["queue_full", "applied"]


def test_refusal_of_a_full_queue_names_the_job_and_writes_nothing() -> None:
    shelf = Shelf()
    shelf.depths_max["default", "default"] = 0

    planned = plan([enqueue("a", request_id="r")], shelf, NOW, lambda: 0.5)

    (refused,) = planned.replies
    assert isinstance(refused, Refused)
    assert (refused.job_id, refused.verb, refused.state, refused.allowed) == ("a", "enqueue", None, ())
    assert (planned.changes, planned.notes, planned.kept) == ([], [], [])


def test_rerun_into_a_full_queue_is_refused() -> None:
    shelf = Shelf()
    shelf.ask(enqueue("a"))
    shelf.end()
    shelf.depths_max["default", "default"] = 0

    assert answers(shelf.ask(about(Rerun(new_job_id="b")))) == ["queue_full"]


def test_job_that_left_the_queue_earlier_in_the_batch_makes_room() -> None:
    shelf = Shelf()
    shelf.depths_max["default", "default"] = 1
    shelf.ask(enqueue("a"))

    replies = shelf.ask(about(Cancel(mode="hard")), enqueue("b"))

    assert answers(replies) == ["applied", "applied"]


def test_job_that_does_not_wait_in_the_queue_takes_no_room_in_a_batch() -> None:
    shelf = Shelf()
    shelf.depths_max["default", "default"] = 1

    replies = shelf.ask(enqueue("a", BUILT_IN["document"]), enqueue("b"))

    assert answers(replies) == ["applied", "applied"]


def test_duplicate_takes_no_room() -> None:
    shelf = Shelf()
    shelf.depths_max["default", "default"] = 1

    replies = shelf.ask(enqueue("a", dedupe_key="k"), enqueue("b", dedupe_key="k"))

    assert answers(replies) == ["applied", "duplicate"]


# -- reruns -----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-10")
def test_rerun_under_a_taken_id_is_refused() -> None:
    shelf = Shelf()
    shelf.ask(enqueue("a"), enqueue("b"))
    shelf.end("a")

    (refused,) = shelf.ask(about(Rerun(new_job_id="b")))

    assert isinstance(refused, Refused)
    assert (refused.code, refused.job_id) == ("job_exists", "b")


def test_rerun_of_a_deduplicated_job_answers_with_its_live_twin() -> None:
    shelf = Shelf()
    shelf.ask(enqueue("a", dedupe_key="k"))
    shelf.end("a")
    shelf.ask(enqueue("b", dedupe_key="k"))

    (reply,) = shelf.ask(about(Rerun(new_job_id="c")))

    assert isinstance(reply, Reply)
    assert (reply.answer, reply.job.id) == ("duplicate", "b")
    assert ("default", "c") not in shelf.jobs


@pytest.mark.requirement("ALL-05", "ALL-10")
def test_repeated_rerun_answers_with_the_new_job() -> None:
    shelf = Shelf()
    shelf.ask(enqueue("a"))
    shelf.end("a")
    request = about(Rerun(new_job_id="b", request_id="r"))

    first, second = shelf.ask(request), shelf.ask(request)

    assert (answers(first), answers(second)) == (["applied"], ["repeat"])
    assert isinstance(second[0], Reply)
    assert second[0].job.id == "b"


def test_failed_job_s_own_rerun_does_not_collide_with_a_job_that_has_its_id() -> None:
    """Its id follows from its parent's: whoever guesses it must not keep the parent from failing."""
    engine = BUILT_IN["engine"]
    shelf, guess = Shelf(), Shelf()
    policy = Policy(rerun_failed=True)
    for each in (shelf, guess):
        each.ask(enqueue("a", engine, policy=policy))
        each.do(Claim(worker="w", start=True))
    guess.do(Fail(worker="w", attempt=1, error=Error("TransientError")))
    (guessed,) = [job_id for _, job_id in guess.jobs if job_id != "a"]
    shelf.ask(enqueue(guessed, engine))

    planned = plan([about(Fail(worker="w", attempt=1, error=Error("TransientError")))], shelf, NOW, lambda: 0.5)

    made = [spawned.job.id for change, _ in planned.changes for spawned in change.spawned]
    assert answers(planned.replies) == ["applied"]
    assert guessed not in made


# -- claims -----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-05", "STD-14")
def test_repeated_claim_answers_with_what_is_still_held_and_no_more() -> None:
    shelf = Shelf()
    shelf.ask(*(enqueue(job_id) for job_id in "abcd"))
    request = ClaimRequest("default", Claim(worker="w", request_id="r"), limit=3)
    shelf.claim(request)
    shelf.do(Start(worker="w", attempt=1), "a")
    shelf.do(Complete(worker="w", attempt=1), "a")
    del shelf.jobs["default", "b"]  # pruned

    replies = shelf.claim(request)

    assert answers(replies) == ["repeat"]
    assert [reply.job.id for reply in replies if isinstance(reply, Reply)] == ["c"]


@pytest.mark.parametrize(
    "change",
    [
        {"limit": 2},
        {"queues": ("other",)},
        {"kinds": ("mail",)},
        {"adapters": ("gpu",)},
        {"command": Claim(worker="v", request_id="r")},
        {"command": Claim(worker="w", request_id="r", start=True)},
        {"command": Claim(worker="w", request_id="r", lease_s=45)},
    ],
)
def test_another_claim_under_the_same_request_id_is_a_conflict(change: dict[str, Any]) -> None:
    shelf = Shelf()
    shelf.ask(enqueue("a"), enqueue("b"))
    request = ClaimRequest("default", Claim(worker="w", request_id="r"))
    shelf.claim(request)

    assert answers(shelf.claim(replace(request, **change))) == ["request_conflict"]


def test_claim_of_another_trace_is_a_repeat() -> None:
    shelf = Shelf()
    shelf.ask(enqueue("a"), enqueue("b"))
    request = ClaimRequest("default", Claim(worker="w", request_id="r"))
    shelf.claim(request)

    again = shelf.claim(replace(request, command=replace(request.command, trace_id="t")))

    assert answers(again) == ["repeat"]


def test_claim_that_took_nothing_is_not_remembered() -> None:
    shelf = Shelf()
    request = ClaimRequest("default", Claim(worker="w", request_id="r"))

    assert shelf.claim(request) == []
    assert shelf.receipts == {}


def test_claim_passes_over_jobs_that_the_kernel_refuses() -> None:
    shelf = Shelf()
    shelf.ask(enqueue("a", run_at=NOW + 1), enqueue("b"))

    replies = shelf.claim(ClaimRequest("default", Claim(worker="w"), limit=5))

    assert [reply.job.id for reply in replies if isinstance(reply, Reply)] == ["b"]


# -- requests ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-05")
def test_other_content_under_a_request_id_is_a_conflict_and_the_same_is_a_repeat() -> None:
    shelf = Shelf()
    shelf.ask(enqueue("a", request_id="r", payload=b"1"))

    same = shelf.ask(enqueue("a", request_id="r", payload=b"1"))
    other = shelf.ask(enqueue("a", request_id="r", payload=b"2"))

    assert (answers(same), answers(other)) == (["repeat"], ["request_conflict"])


def test_repeat_within_one_batch_has_one_effect() -> None:
    shelf = Shelf()

    replies = shelf.ask(enqueue("a", request_id="r"), enqueue("a", request_id="r"))

    assert answers(replies) == ["applied", "repeat"]
    assert shelf.jobs["default", "a"].rev == 1


def test_request_id_of_a_verb_belongs_to_its_job() -> None:
    shelf = Shelf()
    shelf.ask(enqueue("a"), enqueue("b"))

    replies = shelf.ask(about(Cancel(request_id="r"), "a"), about(Cancel(request_id="r"), "b"))

    assert answers(replies) == ["applied", "applied"]


@pytest.mark.requirement("ALL-18")
def test_request_id_of_another_tenant_is_another_request() -> None:
    shelf = Shelf()

    replies = shelf.ask(enqueue("a", request_id="r"), enqueue("a", tenant="acme", request_id="r", payload=b"2"))

    assert answers(replies) == ["applied", "applied"]


def test_refusal_is_not_remembered() -> None:
    shelf = Shelf()
    shelf.ask(enqueue("a"))
    request = about(Start(worker="w", attempt=1, request_id="r"))
    shelf.ask(request)
    shelf.do(Claim(worker="w"))

    assert answers(shelf.ask(request)) == ["applied"]


def test_enqueue_whose_job_was_pruned_makes_it_anew() -> None:
    shelf = Shelf()
    request = enqueue("a", request_id="r")
    shelf.ask(request)
    del shelf.jobs["default", "a"]

    assert answers(shelf.ask(request)) == ["applied"]


@pytest.mark.requirement("ALL-05")
def test_repeat_of_an_enqueue_whose_job_was_pruned_is_not_answered_as_a_repeat_with_another_job() -> None:
    shelf = Shelf()
    request = enqueue("a", request_id="r", dedupe_key="k")
    shelf.ask(request)
    del shelf.jobs["default", "a"]
    shelf.ask(enqueue("b", dedupe_key="k"))

    assert answers(shelf.ask(request)) == ["duplicate"]


@pytest.mark.requirement("ALL-05")
def test_repeat_of_a_rerun_whose_job_was_pruned_is_not_answered_as_a_repeat_with_its_parent() -> None:
    shelf = Shelf()
    shelf.ask(enqueue("a"))
    shelf.end("a")
    request = about(Rerun(new_job_id="b", request_id="r"))
    shelf.ask(request)
    del shelf.jobs["default", "b"]

    (reply,) = shelf.ask(request)

    assert not (isinstance(reply, Reply) and reply.job.id == "a")


# -- batches ----------------------------------------------------------------------------------------------------------


def test_each_request_of_a_batch_sees_what_those_before_it_did() -> None:
    shelf = Shelf()
    who: dict[str, Any] = {"worker": "w", "attempt": 1}

    replies = shelf.ask(
        about(Start(**who)),
        enqueue("a"),
        about(Claim(worker="w")),
        about(Start(**who)),
        about(Renew(**who)),
        about(Complete(**who)),
        about(Complete(**who)),
        about(Rerun(new_job_id="b")),
        about(Cancel(), "b"),
    )

    assert answers(replies) == ["not_found", *["applied"] * 5, "illegal_move", "applied", "applied"]
    assert [reply.job.rev for reply in replies if isinstance(reply, Reply)] == [1, 2, 3, 4, 5, 1, 2]


def test_late_result_in_a_batch_is_noted_at_the_revision_it_met() -> None:
    shelf = Shelf()
    shelf.ask(enqueue("a"))
    shelf.do(Claim(worker="w", start=True))

    batch = [about(Cancel(mode="hard")), about(Complete(worker="w", attempt=1))]
    planned = plan(batch, shelf, NOW, lambda: 0.5)

    assert answers(planned.replies) == ["applied", "illegal_move"]
    assert [(note.kind, note.rev) for note in planned.notes] == [("late_result", 4)]


def test_item_with_impossible_settings_does_not_fail_the_rest_of_its_batch() -> None:
    shelf = Shelf()
    impossible = Policy(timeouts={"nowhere": 1.0})

    replies = shelf.ask(enqueue("a"), enqueue("b", policy=impossible), enqueue("c"))

    assert answers(replies) == ["applied", "unknown_state", "applied"]
    assert isinstance(replies[1], InvalidArgument)


@pytest.mark.requirement("ALL-18")
def test_job_of_another_tenant_is_not_found() -> None:
    shelf = Shelf()
    shelf.ask(enqueue("a"))

    (reply,) = shelf.ask(about(Cancel(), tenant="acme"))

    assert isinstance(reply, NotFound)


# -- compensation and artifacts ---------------------------------------------------------------------------------------

UNDONE: Final = Policy(retry=Retry.never(), compensate=Compensation(kind="undo"))


@pytest.mark.requirement("STD-19")
def test_compensation_whose_id_somebody_has_taken_gets_another_and_is_named_by_it() -> None:
    shelf, other = Shelf(), Shelf()
    for each in (shelf, other):
        each.ask(enqueue("a", policy=UNDONE))
        each.do(Claim(worker="w", start=True))
    guess = next(iter(_ended(other)))
    shelf.ask(enqueue(guess))

    (undo,) = _ended(shelf).values()
    assert undo.id != guess
    assert (undo.spec.parent_job_id, undo.spec.kind) == ("a", "undo")
    assert shelf.jobs["default", guess].spec.kind == "scan"


def _ended(shelf: Shelf) -> dict[str, Job]:
    """The compensations that come of cancelling `a`, by the ids that its end names."""
    planned = plan([about(Cancel(mode="hard"))], shelf, NOW, lambda: 0.5)
    ((change, _),) = planned.changes
    assert [(change.events[-1].payload or {})["compensation_job_id"]] == [each.job.id for each in change.spawned]
    return {each.job.id: each.job for each in change.spawned}


@pytest.mark.requirement("STD-19")
def test_whole_story_of_a_compensation_fits_into_one_batch() -> None:
    """Each request sees what those before it did, what was noted too."""
    shelf = Shelf()
    shelf.ask(enqueue("a", policy=UNDONE))
    shelf.do(Claim(worker="w", start=True))
    (undo_id,) = _ended(shelf)

    replies = shelf.ask(
        about(Fail(worker="w", attempt=1, error=Error("PermanentError"))),
        about(Rerun(new_job_id="b")),
        about(Claim(worker="w", start=True), undo_id),
        about(Complete(worker="w", attempt=1), undo_id),
        about(Rerun(new_job_id="b")),
        about(Rerun(new_job_id="c"), undo_id),
    )

    assert answers(replies) == ["applied", "compensation_conflict", *["applied"] * 3, "compensation_conflict"]
    assert [(note.kind, note.job_id) for note in shelf.notes] == [("compensated", "a")]


@pytest.mark.requirement("STD-19")
def test_refusal_to_run_again_says_what_is_in_the_way() -> None:
    shelf = Shelf()
    shelf.ask(enqueue("a", policy=UNDONE))
    shelf.do(Claim(worker="w", start=True))
    shelf.do(Fail(worker="w", attempt=1, error=Error("PermanentError")))

    (refused,) = shelf.ask(about(Rerun(new_job_id="b")))

    assert isinstance(refused, Refused)
    assert (refused.job_id, refused.state) == ("a", "failed")
    assert "the work of job a is not undone yet" in str(refused)


@pytest.mark.requirement("STD-19")
def test_job_that_was_made_by_hand_to_undo_another_counts_as_its_compensation() -> None:
    """What the declared one could not do, a person's may."""
    shelf = Shelf()
    shelf.ask(enqueue("a", policy=UNDONE))
    shelf.do(Claim(worker="w", start=True))
    shelf.do(Fail(worker="w", attempt=1, error=Error("PermanentError")))
    shelf.ask(enqueue("mine", policy=Policy(is_compensation=True), parent_job_id="a"))
    shelf.end("mine")

    assert [(note.kind, note.job_id, note.actor) for note in shelf.notes] == [("compensated", "a", "mine")]
    assert answers(shelf.ask(about(Rerun(new_job_id="b")))) == ["applied"]


@pytest.mark.requirement("STD-19")
@pytest.mark.parametrize("parent", ["missing", "running", "done"])
def test_nothing_is_noted_on_a_job_that_has_nothing_to_undo(parent: str) -> None:
    shelf = Shelf()
    shelf.ask(enqueue("running"), enqueue("done"))
    shelf.do(Claim(worker="w", start=True), "running")
    shelf.end("done")
    shelf.ask(enqueue("mine", policy=Policy(is_compensation=True), parent_job_id=parent))
    shelf.end("mine")

    assert shelf.notes == []


@pytest.mark.requirement("STD-22")
def test_artifacts_of_a_batch_are_counted_and_told_apart_as_if_asked_one_by_one() -> None:
    shelf = Shelf()
    shelf.ask(enqueue("a"))
    shelf.do(Claim(worker="w", start=True))
    said = [RegisterArtifact(worker="w", attempt=1, name=str(n), pointer="p") for n in range(ARTIFACTS_MAX)]

    replies = shelf.ask(*map(about, [said[0], *said, replace(said[0], pointer="other")]))

    assert answers(replies) == ["noted", "unchanged", *["noted"] * (ARTIFACTS_MAX - 1), "too_many_artifacts"]
    assert len(shelf.notes) == ARTIFACTS_MAX


# -- contract ---------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("CON-04")
def test_contract_request_without_an_id_gets_one_on_the_record_but_none_is_kept() -> None:
    shelf = Shelf()

    planned = plan([enqueue("a", BUILT_IN["contract"])], shelf, NOW, lambda: 0.5)

    ((change, _),) = planned.changes
    assert change.events[0].request_id
    assert planned.kept == []


@pytest.mark.requirement("CON-04")
def test_contract_request_ids_differ_from_request_to_request() -> None:
    shelf = Shelf()
    shelf.ask(enqueue("a", BUILT_IN["contract"]))
    shelf.do(Claim(worker="w"))

    requests = [about(Start(worker="w", expected_rev=2)), *(about(Renew(worker="w", expected_rev=n)) for n in (3, 4))]
    planned = plan(requests, shelf, NOW, lambda: 0.5)

    names = [event.request_id for change, _ in planned.changes for event in change.events]
    assert None not in names
    assert len(set(names)) == 3


def test_given_request_id_is_kept_as_it_is() -> None:
    shelf = Shelf()
    shelf.ask(enqueue("a", BUILT_IN["contract"], request_id="mine"))

    assert [scope.request_id for scope in shelf.receipts] == ["mine"]


# -- time -------------------------------------------------------------------------------------------------------------


def test_reconcile_answers_only_for_jobs_that_time_moved() -> None:
    shelf = Shelf()
    shelf.ask(enqueue("a"), enqueue("b", BUILT_IN["engine"]), enqueue("c", BUILT_IN["document"]))
    shelf.now += 31_000_000

    replies = shelf.reconcile()

    assert [(reply.job.id, reply.job.state) for reply in replies if isinstance(reply, Reply)] == [("b", "failed")]
