"""A job is decided by the version it was created under; a version, once published, does not change."""

from typing import Any

import pytest
from msgspec.structs import replace

from detent.errors import InvalidArgument, LifecycleError, Refused
from detent.kernel import Change, decide
from detent.kernel.command import COMMANDS, Release, Rerun, Start
from detent.lifecycle import Lifecycle, State, move
from detent.lifecycle.registry import Registry, removed_by
from detent.lifecycles import BUILT_IN, STANDARD
from tests.driving import START, WORKER, Life
from tests.kernel.tables import CONTENT, ENDED_PLACES, bring_to, lifecycle_of

# The definitions as published. Jobs in somebody's store were created under them.
PUBLISHED = {
    "standard": "53050591525ac4718ce9ad9599354aaa",
    "dispatch": "57ea95fb1ab33e0069d927e7e456f8f4",
    "engine": "213467602ce2159fdcd7205c00553921",
    "contract": "75d76538fa6c0a18b67575d093267bba",
    "document": "e344ff818749119c2683fc5bc6bcb9f7",
}

# A later version that only adds: an end for jobs that waited too long, and the way there.
STANDARD_2 = replace(
    STANDARD,
    version=2,
    states=(*STANDARD.states, State("overdue", "ended", "failure")),
    moves=(*STANDARD.moves, move("queued", "time_out", "overdue", by="reconciler")),
)


def without(lifecycle: Lifecycle, *verbs: str, **changes: Any) -> Lifecycle:
    moves = tuple(move for move in lifecycle.moves if move.verb not in verbs)
    return replace(lifecycle, **{"version": 2, "moves": moves} | changes)


@pytest.mark.requirement("ALL-14", "STD-21")
@pytest.mark.parametrize("name", PUBLISHED)
def test_published_definition_is_unchanged(name: str) -> None:
    lifecycle = BUILT_IN[name]

    assert lifecycle.version == 1
    assert lifecycle.digest == PUBLISHED[name], (
        f"'{name}' v1 has changed, and jobs of v1 exist. Keep v1 as it was published and make this version 2 "
        "beside it; before the first release, put the new digest here if the change is meant"
    )


@pytest.mark.requirement("ALL-14", "STD-21")
def test_every_built_in_lifecycle_has_its_published_digest() -> None:
    assert set(PUBLISHED) == set(BUILT_IN)


@pytest.mark.requirement("ALL-14")
@pytest.mark.parametrize("name", PUBLISHED)
def test_job_records_the_name_and_version_it_was_created_under(name: str) -> None:
    job = Life(lifecycle_of(name)).job

    assert (job.spec.lifecycle, job.spec.lifecycle_version) == (name, 1)


@pytest.mark.requirement("ALL-14", "ALL-10")
@pytest.mark.parametrize(("name", "state"), ENDED_PLACES)
def test_rerun_stays_with_the_version_of_the_job_it_repeats(name: str, state: str) -> None:
    change = bring_to(name, state).do(Rerun(new_job_id="job-2"))

    assert (change.job.spec.lifecycle, change.job.spec.lifecycle_version) == (name, 1)


@pytest.mark.requirement("ALL-14")
@pytest.mark.parametrize("verb", [verb for verb in COMMANDS if verb != "enqueue"])
def test_verb_decided_by_another_lifecycle_than_the_jobs_is_refused(verb: str) -> None:
    job = bring_to("standard", "running").job
    needed: dict[str, Any] = {"worker": WORKER} | CONTENT.get(verb, {})
    command = COMMANDS[verb](**needed | ({"new_job_id": "job-2"} if verb == "rerun" else {}))

    for other in (STANDARD_2, BUILT_IN["engine"]):
        with pytest.raises(InvalidArgument, match="job job-1 follows standard v1") as refused:
            decide(other, job, command, START)

        assert refused.value.code == "wrong_lifecycle"


@pytest.mark.requirement("ALL-14")
def test_registry_refuses_another_content_under_a_published_version() -> None:
    registry = Registry(*BUILT_IN.values())

    with pytest.raises(LifecycleError, match="version 2") as refused:
        registry.register(without(STANDARD, "release", version=1))

    assert refused.value.code == "lifecycle_conflict"
    assert registry.get("standard", 1) is STANDARD


@pytest.mark.requirement("ALL-14")
def test_registry_takes_the_same_content_again_however_it_is_described() -> None:
    registry = Registry(*BUILT_IN.values())

    registry.register(replace(STANDARD, summary="in other words"))

    assert registry.get("standard", 1) is STANDARD


@pytest.mark.requirement("ALL-14", "STD-21")
def test_registry_keeps_both_versions_side_by_side() -> None:
    registry = Registry(STANDARD, STANDARD_2)

    assert registry.get("standard", 1) is STANDARD
    assert registry.get("standard", 2) is STANDARD_2
    assert registry.get("standard") is STANDARD_2


@pytest.mark.requirement("ALL-14")
def test_job_of_version_one_is_decided_by_version_one_after_version_two_is_there() -> None:
    registry = Registry(STANDARD)
    life = Life(registry.get("standard"))
    life.claim()
    registry.register(without(STANDARD, "release"))
    own = registry.get(life.job.spec.lifecycle, life.job.spec.lifecycle_version)

    released = decide(own, life.job, Release(**life.as_owner()), life.now)

    assert isinstance(released, Change)
    assert released.job.state == "queued"


@pytest.mark.requirement("ALL-14")
def test_job_of_version_two_has_only_what_version_two_declares() -> None:
    life = Life(without(STANDARD, "release"))
    life.claim()

    refused = life.ask(Release(**life.as_owner()))

    assert life.job.spec.lifecycle_version == 2
    assert isinstance(refused, Refused)
    assert (refused.code, "release" in refused.allowed) == ("illegal_move", False)


@pytest.mark.requirement("ALL-14", "STD-21")
def test_each_job_is_told_what_its_own_version_allows() -> None:
    first, second = Life(STANDARD), Life(STANDARD_2)

    answers = [life.ask(Start(worker=WORKER)) for life in (first, second)]

    allowed = [answer.allowed for answer in answers if isinstance(answer, Refused)]
    assert allowed == [("claim", "cancel", "dead_letter"), ("claim", "cancel", "dead_letter", "time_out")]


# -- what a later version may do -------------------------------------------------------------------------------------


@pytest.mark.requirement("STD-21")
def test_version_that_only_adds_takes_nothing_away() -> None:
    assert removed_by(STANDARD, STANDARD_2) == []


@pytest.mark.requirement("STD-21")
def test_version_that_breaks_is_told_what_it_lost() -> None:
    kept = tuple(state for state in STANDARD.states if state.name != "failed")

    lost = removed_by(STANDARD, without(STANDARD, "fail", "release", states=kept))

    assert lost == [
        "state 'failed'",
        "'fail' from 'running' to 'failed'",
        "'release' from 'assigned' to 'queued'",
        "'release' from 'running' to 'queued'",
    ]


@pytest.mark.requirement("STD-21")
def test_version_under_which_jobs_begin_elsewhere_lost_their_beginning() -> None:
    begins_elsewhere = replace(
        STANDARD,
        version=2,
        states=(*STANDARD.states, State("draft", "parked")),
        moves=(
            *(row for row in STANDARD.moves if row.verb != "enqueue"),
            move("-", "enqueue", "draft", by="client"),
            move("draft", "submit", "queued", by="client"),
        ),
    )

    lost = removed_by(STANDARD, begins_elsewhere)

    assert [what for what in lost if "enqueue" in what] != []


@pytest.mark.requirement("STD-21")
def test_version_that_takes_a_move_from_a_role_lost_it() -> None:
    kept = ("operator", "policy", "owner", "reconciler")
    by_fewer = tuple(replace(row, by=kept) if row.verb == "cancel" else row for row in STANDARD.moves)

    lost = removed_by(STANDARD, replace(STANDARD, version=2, moves=by_fewer))

    assert [what for what in lost if "cancel" in what and "client" in what] != []
