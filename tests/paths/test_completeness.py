"""No declared move is without a path: a lifecycle that gains one must gain a row, or a reason why there can be none."""

import pytest

from detent.lifecycle import Lifecycle, move
from detent.lifecycles import BUILT_IN, STANDARD
from tests.paths.path import declared_by, taken_by
from tests.paths.table import PATHS, UNTAKEN, job_id_of


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_declared_move_is_taken_by_a_path_or_said_to_be_out_of_reach(name: str) -> None:
    taken = set().union(*(taken_by(path) for path in PATHS[name]))
    untaken = set(UNTAKEN.get(name, {}))

    assert declared_by(BUILT_IN[name]) - taken - untaken == set(), "these moves are taken by no path of the table"
    assert taken - declared_by(BUILT_IN[name]) == set(), "these moves of the table are not declared"
    assert taken & untaken == set(), "these moves are taken after all"


def test_move_that_a_lifecycle_gains_is_noticed() -> None:
    gained = Lifecycle(
        name="standard",
        version=2,
        states=STANDARD.states,
        moves=(*STANDARD.moves, move("assigned", "time_out", "dead_lettered", by="reconciler")),
    )
    taken = set().union(*(taken_by(path) for path in PATHS["standard"]))

    assert declared_by(gained) - taken == {("assigned", "time_out", "dead_lettered")}


def test_paths_have_names_of_their_own() -> None:
    names = [job_id_of(lifecycle, path) for lifecycle, paths in PATHS.items() for path in paths]

    assert len(set(names)) == len(names)
