"""`detent demo`, as a person and as a pipe see it."""

import pytest
from click.testing import CliRunner

from detent.lifecycles import BUILT_IN
from detent.surfaces.cli import demo as module
from detent.surfaces.cli import main
from detent.testing.explore import Counterexample, Report


def test_demo_in_a_pipe_prints_a_line_per_lifecycle_and_a_verdict() -> None:
    shown = CliRunner().invoke(main, ["demo", "--faults", "0"])

    assert shown.exit_code == 0, shown.output
    assert all(f"{name}: " in shown.output for name in BUILT_IN)
    assert "0 lifecycles broken" in shown.output


def test_demo_shows_what_is_found_without_the_fence() -> None:
    shown = CliRunner().invoke(main, ["demo", "--faults", "0"])

    assert "counterexample:" in shown.output
    assert "accepted from w0 for attempt 1, while w0 holds attempt 2" in shown.output


def test_demo_refuses_more_faults_than_it_can_search() -> None:
    shown = CliRunner().invoke(main, ["demo", "--faults", "3"])

    assert shown.exit_code == 2


def test_demo_fails_when_a_lifecycle_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> Report:
        return Report("standard", 1, 3, 0, 1, 1, Counterexample(("w0: claim",), ()))

    monkeypatch.setattr(module, "explore", broken)

    shown = CliRunner().invoke(main, ["demo", "--faults", "0"])

    assert shown.exit_code == 1
    assert "w0: claim" in shown.output
