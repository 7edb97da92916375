"""What a handler makes is a note of its attempt; what it counts for follows from how the job ended."""

from typing import Any, Final

import pytest

from detent.kernel import Note
from detent.kernel.artifacts import is_registered, standing, status_of
from detent.kernel.command import Cancel, RegisterArtifact, Release
from detent.lifecycle import Lifecycle, Policy, Retry
from detent.lifecycles import BUILT_IN, STANDARD
from tests.driving import WORKER, Life
from tests.kernel.tables import bring_to

RUNNING: Final = [
    ("standard", "running"), ("dispatch", "RUNNING"), ("engine", "running"), ("contract", "running"),
    ("document", "RUNNING"),
]  # fmt: skip
WITH_CANCEL: Final = [place for place in RUNNING if place[0] != "contract"]
every_lifecycle: Final = pytest.mark.parametrize(("name", "state"), RUNNING)
with_cancel: Final = pytest.mark.parametrize(("name", "state"), WITH_CANCEL)


def statuses(life: Life) -> list[str]:
    made = [note for note in life.notes if note.kind == "artifact"]
    return [status_of(note, life.job, life.events[-1]) for note in made]


@pytest.mark.requirement("STD-22")
@every_lifecycle
def test_artifact_is_a_note_of_its_attempt_and_no_move(name: str, state: str) -> None:
    life = bring_to(name, state)
    before = life.job
    change = life.artifact("page-1", "s3://made/1", size=12, digest="sha256:ff")

    (note,) = change.notes
    assert (change.answer, change.events, life.job) == ("noted", (), before)
    assert (note.kind, note.type, note.rev, note.actor) == ("artifact", "job_artifact_registered", before.rev, WORKER)
    assert note.payload == {
        "name": "page-1", "pointer": "s3://made/1", "size": 12, "digest": "sha256:ff", "attempt": 1, "worker": WORKER,
    }  # fmt: skip


@pytest.mark.requirement("STD-22")
@every_lifecycle
def test_artifact_is_partial_until_its_job_succeeds_and_final_then(name: str, state: str) -> None:
    life = bring_to(name, state)
    life.artifact()
    before = statuses(life)
    life.complete()

    assert (before, statuses(life)) == (["partial"], ["final"])


@pytest.mark.requirement("STD-22")
def test_only_the_attempt_that_succeeded_has_final_ones() -> None:
    life = Life(STANDARD, policy=Policy(retry=Retry(base_s=0)))
    life.claim(start=True)
    life.artifact("first")
    life.do(Release(**life.as_owner()))
    life.claim(start=True)
    life.artifact("second")
    life.complete()

    assert statuses(life) == ["partial", "final"]


@pytest.mark.requirement("STD-22")
@every_lifecycle
def test_artifact_of_a_failed_job_stays_partial(name: str, state: str) -> None:
    life = bring_to(name, state)
    life.artifact()
    life.fail("PermanentError")

    assert (life.job.outcome, statuses(life)) == ("failure", ["partial"])


@pytest.mark.requirement("STD-22", "STD-08")
@with_cancel
def test_hard_cancel_discards_and_says_that_it_was_hard(name: str, state: str) -> None:
    life = bring_to(name, state)
    life.artifact()
    life.do(Cancel(mode="hard", expected_rev=life.job.rev))

    assert statuses(life) == ["discarded"]
    assert (life.events[-1].payload or {})["mode"] == "hard"


@pytest.mark.requirement("STD-22", "STD-07")
@with_cancel
def test_owner_that_stops_when_asked_leaves_its_artifacts_partial(name: str, state: str) -> None:
    life = bring_to(name, state)
    life.artifact()
    life.do(Cancel(expected_rev=life.job.rev))
    asked = statuses(life)
    life.do(Cancel(**life.as_owner()))

    assert (asked, statuses(life)) == (["partial"], ["partial"])
    assert (life.events[-1].payload or {})["mode"] == "soft"


@pytest.mark.requirement("STD-22", "STD-07")
@with_cancel
def test_soft_cancel_turns_hard_when_its_grace_is_over(name: str, state: str) -> None:
    life = bring_to(name, state)
    life.artifact()
    life.do(Cancel(expected_rev=life.job.rev))
    assert life.job.cancel_by is not None
    life.now = life.job.cancel_by
    life.reconcile()

    assert (life.events[-1].verb, statuses(life)) == ("cancel", ["discarded"])


@pytest.mark.requirement("STD-22", "ALL-17")
def test_job_given_back_after_a_cancel_request_was_not_cancelled_hard() -> None:
    life = bring_to("standard", "running")
    life.artifact()
    life.do(Cancel(expected_rev=life.job.rev))
    life.do(Release(**life.as_owner()))

    assert (life.job.state, statuses(life)) == ("cancelled", ["partial"])


@pytest.mark.requirement("STD-22")
@pytest.mark.parametrize("lifecycle", BUILT_IN.values(), ids=BUILT_IN)
def test_nobody_may_ask_for_it_as_a_move(lifecycle: Lifecycle) -> None:
    assert all("artifact" not in verbs for verbs in lifecycle.table.allowed.values())


# -- said more than once ---------------------------------------------------------------------------------------------


def note(name: str, pointer: str, attempt: int = 1, **said: Any) -> Note:
    payload = {"name": name, "pointer": pointer, "size": None, "digest": None, "attempt": attempt} | said
    return Note("default", "job-1", 3, "artifact", "job_artifact_registered", 0, WORKER, payload)


@pytest.mark.requirement("STD-22")
def test_last_word_on_a_name_stands_for_its_attempt() -> None:
    said = [note("a", "1"), note("b", "1"), note("a", "2"), note("a", "3", attempt=2)]

    assert standing(said) == [said[2], said[1], said[3]]


@pytest.mark.requirement("STD-22")
@pytest.mark.parametrize(
    ("again", "is_known"),
    [
        ({"name": "a", "pointer": "2"}, True),
        ({"name": "a", "pointer": "1"}, False),
        ({"name": "b", "pointer": "2"}, False),
        ({"name": "a", "pointer": "2", "size": 0}, False),
        ({"name": "a", "pointer": "2", "digest": "d"}, False),
    ],
)
def test_only_the_last_word_said_again_is_a_repeat(again: dict[str, Any], is_known: bool) -> None:
    job = bring_to("standard", "running").job
    said = [note("a", "1"), note("a", "2"), note("b", "2", attempt=2)]

    assert is_registered(RegisterArtifact(**again), job, said) is is_known
