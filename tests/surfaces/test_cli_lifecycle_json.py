"""`detent lifecycle … --json`: the shapes it declares, and its errors in them."""

import json
from pathlib import Path

import pytest

from detent.lifecycle.diagram import as_mermaid, as_text
from detent.lifecycles import BUILT_IN
from detent.surfaces.cli.lifecycle import DiagramShape, LifecycleShape, SoundShape, SummaryShape
from tests.surfaces.running import ARTICLE, Path_, article, decoded, detent, refused_in_json


def told(*arguments: str) -> object:
    result = detent("lifecycle", *arguments, "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    return decoded(("lifecycle", arguments[0]), result.stdout)


def test_summaries_are_of_all_that_ship() -> None:
    summaries = told("list")

    assert isinstance(summaries, list)
    assert all(isinstance(each, SummaryShape) for each in summaries)
    assert [each.name for each in summaries] == list(BUILT_IN)


@pytest.mark.parametrize("name", BUILT_IN)
def test_definition_has_states_and_moves(name: str) -> None:
    shape = told("show", name)

    assert isinstance(shape, LifecycleShape)
    assert [state.name for state in shape.states] == [state.name for state in BUILT_IN[name].states]
    assert shape.moves[0].verb == "enqueue"
    assert shape.moves[0].source is None


def test_first_move_comes_from_nowhere() -> None:
    raw = json.loads(detent("lifecycle", "show", "standard", "--json").stdout)

    assert list(raw["moves"][0]) == ["verb", "from", "to", "by", "recovery"]
    assert raw["moves"][0]["from"] is None


def test_drawing_is_in_the_notation_that_was_asked_for() -> None:
    engine = BUILT_IN["engine"]

    assert told("diagram", "engine") == DiagramShape("engine", 1, "text", as_text(engine))
    assert told("diagram", "engine", "--mermaid") == DiagramShape("engine", 1, "mermaid", as_mermaid(engine))


def test_sound_lifecycle_is_counted() -> None:
    sound = told("check", str(ARTICLE))

    assert isinstance(sound, SoundShape)
    assert (sound.name, sound.states, sound.moves, sound.recoveries) == ("article", 9, 19, 7)
    assert sound.phases == {"ready": 2, "active": 2, "parked": 1, "ended": 4}
    assert sound.digest == article().digest


def test_unsound_lifecycle_has_each_of_its_problems(tmp_path: Path) -> None:
    lines = ARTICLE.read_text(encoding="utf-8").splitlines(keepends=True)
    broken = tmp_path / "broken.toml"
    broken.write_text("".join(line for line in lines if '"expire"' not in line), encoding="utf-8")

    error = refused_in_json(detent("lifecycle", "check", str(broken), "--json"), 1)

    assert error["code"] == "no_expiry_answer"
    assert [problem["code"] for problem in error["problems"]] == ["no_expiry_answer"] * 2
    assert all("add move(" in problem["message"] for problem in error["problems"])


@pytest.mark.parametrize(
    "arguments", [("show", "standrad"), ("diagram", "standrad"), ("check", "nowhere.toml")], ids=" ".join
)
def test_what_is_not_there_is_not_found(arguments: Path_) -> None:
    assert refused_in_json(detent("lifecycle", *arguments, "--json"), 3)["code"] == "not_found"


def test_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    assert refused_in_json(detent("lifecycle", "check", str(tmp_path), "--json"), 1)["code"] == "error"
