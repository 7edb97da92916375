"""The requirements table: when it passes, and what it says when it does not."""

import json
import re
from pathlib import Path

from tools.requirements import ROOT, Register, Requirement, as_json, collect, load, problems, summary, table

REGISTER = Register(
    requirements=(
        Requirement("ALL-01", "kernel", "One owner at a time"),
        Requirement("STD-02", "worker", "Leases have a range"),
    ),
    resolved=frozenset({"kernel"}),
)


def test_register_with_a_test_for_each_resolved_id_has_no_problems() -> None:
    assert problems(REGISTER, {"ALL-01": {"test_a"}}) == []


def test_resolved_id_without_a_test_is_reported_with_the_remedy() -> None:
    (problem,) = problems(REGISTER, {})

    assert "'kernel' is resolved, yet no test shows ALL-01" in problem
    assert '@pytest.mark.requirement("ALL-01")' in problem


def test_id_of_a_later_milestone_may_be_without_a_test() -> None:
    assert not any("STD-02" in problem for problem in problems(REGISTER, {}))


def test_marker_with_an_unknown_id_is_reported_with_its_test() -> None:
    (problem,) = problems(REGISTER, {"ALL-01": {"test_a"}, "ALL-99": {"test_b"}})

    assert "ALL-99 is not in requirements.toml" in problem
    assert "test_b" in problem


def test_misspelt_resolved_milestone_is_reported() -> None:
    (problem,) = problems(Register(REGISTER.requirements, frozenset({"kernle"})), {})

    assert "'kernle'" in problem


def test_table_counts_tests_and_lists_them_on_request() -> None:
    shown = {"ALL-01": {"test_a", "test_b"}}

    assert table(REGISTER, shown, verbose=False) == [
        "id      milestone  tests  title",
        "ALL-01  kernel         2  One owner at a time",
        "STD-02  worker         -  Leases have a range",
    ]
    assert "        test_b" in table(REGISTER, shown, verbose=True)


def test_summary_separates_resolved_milestones_from_the_rest() -> None:
    assert summary(REGISTER, {"STD-02": {"test_a"}}) == (
        "1 of 2 requirements have a test; 0 of 1 in resolved milestones (kernel)"
    )


def test_json_holds_the_tests_and_the_problems() -> None:
    printed = json.loads(as_json(REGISTER, {"ALL-01": {"test_a"}, "ALL-99": {"test_b"}}))

    assert printed["requirements"][0]["tests"] == ["test_a"]
    assert len(printed["problems"]) == 1


MARKED_TESTS = """
import pytest

pytestmark = pytest.mark.requirement("ALL-01")

@pytest.mark.requirement("ALL-02", "ALL-03")
@pytest.mark.parametrize("n", [1, 2])
def test_a(n): ...

@pytest.mark.skip(reason="not yet")
@pytest.mark.requirement("ALL-04")
def test_b(): ...
"""


def test_collection_counts_a_parametrized_test_once_and_a_skipped_one_not_at_all(tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = requirement: ids\n")
    (tmp_path / "test_marked.py").write_text(MARKED_TESTS)

    assert collect(tmp_path) == {
        "ALL-01": {"test_marked.py::test_a"},
        "ALL-02": {"test_marked.py::test_a"},
        "ALL-03": {"test_marked.py::test_a"},
    }


def test_register_numbers_each_family_without_a_gap() -> None:
    families: dict[str, list[int]] = {}
    for requirement in load(ROOT / "requirements.toml").requirements:
        assert re.fullmatch(r"[A-Z]{3}-\d\d", requirement.id)
        family, number = requirement.id.split("-")
        families.setdefault(family, []).append(int(number))

    assert {family: len(numbers) for family, numbers in families.items()} == {
        "ALL": 18,
        "STD": 22,
        "DSP": 12,
        "ENG": 11,
        "CON": 9,
        "DOC": 6,
    }
    assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in families.values())
