"""`explore`, as a person, a pipe and a program see it."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from detent.errors import NotFound
from detent.lifecycles import BUILT_IN
from detent.surfaces.cli import exploring
from detent.surfaces.cli.exploring import explore
from detent.testing.explore import Counterexample, Report

ARTICLE = Path(__file__).parents[2] / "docs" / "examples" / "article.toml"


def broken(*_: object, **__: object) -> Report:
    return Report("standard", 1, 3, 0, 1, 1, Counterexample(("w0: claim",), ()))


def test_a_pipe_gets_a_line_per_lifecycle_and_a_verdict() -> None:
    shown = CliRunner().invoke(explore, ["--faults", "0"])

    assert shown.exit_code == 0, shown.output
    assert all(f"{name}: " in shown.output for name in BUILT_IN)
    assert "lifecycles broken: 0" in shown.output


def test_it_shows_what_is_found_without_the_fence() -> None:
    shown = CliRunner().invoke(explore, ["contract", "--faults", "0"])

    assert "counterexample:" in shown.output
    assert "accepted from w0 for attempt 1, while w0 holds attempt 2" in shown.output


def test_one_lifecycle_can_be_named() -> None:
    shown = CliRunner().invoke(explore, ["engine", "--faults", "0", "--workers", "1", "--json"])

    assert [report["lifecycle"] for report in json.loads(shown.output)] == ["engine"]


def test_a_file_with_a_lifecycle_can_be_named() -> None:
    shown = CliRunner().invoke(explore, [str(ARTICLE), "--faults", "0", "--workers", "1", "--json"])

    assert shown.exit_code == 0, shown.output
    assert [report["lifecycle"] for report in json.loads(shown.output)] == ["article"]


def test_json_has_a_report_for_each_lifecycle() -> None:
    shown = CliRunner().invoke(explore, ["--faults", "0", "--workers", "1", "--json"])

    reports = json.loads(shown.output)
    assert [report["lifecycle"] for report in reports] == list(BUILT_IN)
    assert all(report["states"] > 1 and report["counterexample"] is None for report in reports)


def test_an_unknown_name_is_not_found() -> None:
    shown = CliRunner().invoke(explore, ["standart"])

    assert isinstance(shown.exception, NotFound)
    assert "Did you mean 'standard'?" in str(shown.exception)


def test_more_faults_than_can_be_searched_are_wrong_usage() -> None:
    shown = CliRunner().invoke(explore, ["--faults", "3"])

    assert shown.exit_code == 2


@pytest.mark.parametrize("options", [[], ["--json"]], ids=["for a person", "as JSON"])
def test_it_fails_when_a_lifecycle_is_broken(options: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exploring, "search", broken)

    shown = CliRunner().invoke(explore, ["--faults", "0", *options])

    assert shown.exit_code == 1
    assert "w0: claim" in shown.output
