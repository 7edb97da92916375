"""The script of a demo: what it promises can be kept, and it is the same for the same seed."""

import pytest

from detent.lifecycle.soundness.graph import closure, neighbours
from detent.lifecycles import BUILT_IN
from detent.surfaces.cli.demo.acting import ACTS
from detent.surfaces.cli.demo.scene import LEASE_S, Scene
from detent.surfaces.cli.demo.scenes import SCENES, VERDICTS
from detent.surfaces.cli.demo.script import JOBS_MAX, JOBS_MIN, Part, crowd, ends_of_lost, write_script

EVERY = [pytest.param(lifecycle, scene, id=scene.kind) for lifecycle, scenes in SCENES.items() for scene in scenes]


@pytest.mark.parametrize(("lifecycle", "scene"), EVERY)
def test_the_end_of_a_scene_can_be_reached(lifecycle: str, scene: Scene) -> None:
    found = BUILT_IN[lifecycle]
    reachable = closure({found.table.start.leg.state.name}, neighbours(found))

    assert scene.end in reachable
    assert (found.by_name[scene.end].phase == "ended") is not scene.is_left


@pytest.mark.parametrize(("lifecycle", "scene"), EVERY)
def test_a_scene_has_acts_that_workers_know_and_jobs_that_can_be_enqueued(lifecycle: str, scene: Scene) -> None:
    part = Part(f"{scene.kind}-001", lifecycle, 0.0, scene)

    assert {act.do for act in scene.acts} <= set(ACTS)
    assert part.policy().lease_s == LEASE_S
    for asked in part.asked_for():
        assert asked["lifecycle"] == lifecycle


@pytest.mark.parametrize("lifecycle", SCENES)
def test_every_end_of_a_lifecycle_is_shown(lifecycle: str) -> None:
    ends = {state.name for state in BUILT_IN[lifecycle].states if state.phase == "ended"}

    assert ends <= {scene.end for scene in SCENES[lifecycle]}


def test_kinds_are_of_one_scene_each() -> None:
    kinds = [scene.kind for scenes in SCENES.values() for scene in scenes]

    assert len(kinds) == len(set(kinds))
    assert set(VERDICTS) <= {scene.kind for scene in SCENES["dispatch"]}


@pytest.mark.parametrize("jobs", [JOBS_MIN, 400, JOBS_MAX])
def test_a_script_has_as_many_jobs_as_asked_and_every_scene(jobs: int) -> None:
    script = write_script(jobs, seed=7)

    assert len({part.job_id for part in script}) == jobs
    assert {part.scene.kind for part in script} == {scene.kind for scenes in SCENES.values() for scene in scenes}


def test_the_same_seed_gives_the_same_script_and_another_another() -> None:
    script = write_script(100, seed=7)

    assert write_script(100, seed=7) == script
    assert write_script(100, seed=8) != script


def test_jobs_come_in_order_and_parents_before_children() -> None:
    script = write_script(400, seed=7)
    places = {part.job_id: place for place, part in enumerate(script)}

    assert [part.at_s for part in script] == sorted(part.at_s for part in script)
    assert places["book-001"] < places["chapter-001"]


def test_the_crowd_has_jobs_that_go_on_when_their_worker_is_lost() -> None:
    script = write_script(JOBS_MIN, seed=7)
    kinds = {job_id.rsplit("-", 1)[0] for job_id in crowd(script)}

    assert {"film", "deploy", "volume"} <= kinds


@pytest.mark.parametrize(
    ("lifecycle", "ends"),
    [
        ("standard", {"dead_lettered"}),
        ("dispatch", {"TIMEOUT"}),
        ("engine", {"failed"}),
        ("contract", set()),
        ("document", {"FAILED"}),
    ],
)
def test_where_a_job_may_end_whose_worker_was_lost(lifecycle: str, ends: set[str]) -> None:
    assert ends_of_lost(BUILT_IN[lifecycle]) == ends


def test_an_end_that_is_not_in_the_script_needs_a_lost_worker() -> None:
    part = next(part for part in write_script(JOBS_MIN, seed=7) if part.scene.kind == "report")

    assert part.may_end("SUCCEEDED", is_lost=False)
    assert part.may_end("TIMEOUT", is_lost=True)
    assert not part.may_end("TIMEOUT", is_lost=False)
    assert not part.may_end("FAILED", is_lost=True)


def test_who_asks_twice_has_the_same_key() -> None:
    script = write_script(JOBS_MIN, seed=7)
    first, second = next(part for part in script if part.scene.kind == "invoice").asked_for()
    once, again = next(part for part in script if part.scene.kind == "payment").asked_for()

    assert first["dedupe_key"] == second["dedupe_key"]
    assert second["job_id"] is None
    assert once == again
