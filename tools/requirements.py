"""Print which tests show which requirement, and fail where a finished milestone has a gap.

The ids live in requirements.toml; a test names those it shows with @pytest.mark.requirement("ALL-01").
"""

import argparse
import contextlib
import io
import json
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

Shown = Mapping[str, Iterable[str]]
"""Requirement id → the tests that carry it."""


@dataclass(frozen=True)
class Requirement:
    id: str
    milestone: str
    title: str


@dataclass(frozen=True)
class Register:
    requirements: tuple[Requirement, ...]
    resolved: frozenset[str]


class MarkerCollector:
    """A pytest plugin that notes the requirement ids of every collected test."""

    def __init__(self) -> None:
        self.shown: dict[str, set[str]] = {}

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        for item in session.items:
            if not is_switched_off(item):
                self._note(item)

    def _note(self, item: pytest.Item) -> None:
        # The cases of one parametrized test count once: the table is about behaviours.
        test = item.nodeid.partition("[")[0]
        for marker in item.iter_markers("requirement"):
            for requirement_id in marker.args:
                self.shown.setdefault(requirement_id, set()).add(test)


def is_switched_off(item: pytest.Item) -> bool:
    """A test that is skipped, or expected to fail, shows nothing."""
    return any(item.get_closest_marker(name) for name in ("skip", "xfail"))


def load(path: Path) -> Register:
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    requirements = (Requirement(id=id_, **fields) for id_, fields in data["requirements"].items())
    return Register(tuple(requirements), frozenset(data["resolved"]))


def collect(root: Path) -> dict[str, set[str]]:
    collector = MarkerCollector()
    output = io.StringIO()
    arguments = ["--collect-only", "-q", "--capture=no", "-p", "no:cacheprovider", f"--rootdir={root}"]
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output), contextlib.chdir(root):
        code = pytest.main(arguments, plugins=[collector])
    if code not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        sys.exit(f"{output.getvalue()}\nThe tests could not be collected; mend the above first.")
    return collector.shown


def problems(register: Register, shown: Shown) -> list[str]:
    return [*unused_milestones(register), *gaps(register, shown), *unknown_ids(register, shown)]


def gaps(register: Register, shown: Shown) -> list[str]:
    untested: dict[str, list[str]] = {}
    for requirement in register.requirements:
        if requirement.milestone in register.resolved and not shown.get(requirement.id):
            untested.setdefault(requirement.milestone, []).append(requirement.id)
    return [
        f"milestone '{milestone}' is resolved, yet no test shows {', '.join(ids)}: "
        f'mark one with @pytest.mark.requirement("{ids[0]}")'
        for milestone, ids in untested.items()
    ]


def unused_milestones(register: Register) -> list[str]:
    used = {requirement.milestone for requirement in register.requirements}
    return [
        f"resolved names milestone '{milestone}', which no requirement has: correct it in requirements.toml"
        for milestone in sorted(register.resolved - used)
    ]


def unknown_ids(register: Register, shown: Shown) -> list[str]:
    known = {requirement.id for requirement in register.requirements}
    return [
        f"{unknown} is not in requirements.toml, yet marks {', '.join(sorted(shown[unknown]))}: "
        "correct the marker, or add the id"
        for unknown in sorted(set(shown) - known)
    ]


def table(register: Register, shown: Shown, *, verbose: bool) -> list[str]:
    width = max(len(name) for name in ("milestone", *(r.milestone for r in register.requirements)))
    lines = [f"{'id':<6}  {'milestone':<{width}}  tests  title"]
    for r in register.requirements:
        tests = sorted(shown.get(r.id, ()))
        lines.append(f"{r.id:<6}  {r.milestone:<{width}}  {len(tests) or '-':>5}  {r.title}")
        lines += [f"{'':8}{test}" for test in tests if verbose]
    return lines


def summary(register: Register, shown: Shown) -> str:
    due = [r for r in register.requirements if r.milestone in register.resolved]
    covered = [r for r in register.requirements if shown.get(r.id)]
    covered_due = [r for r in due if shown.get(r.id)]
    return (
        f"{len(covered)} of {len(register.requirements)} requirements have a test; "
        f"{len(covered_due)} of {len(due)} in resolved milestones ({', '.join(sorted(register.resolved))})"
    )


def as_json(register: Register, shown: Shown) -> str:
    rows = [
        {
            "id": requirement.id,
            "milestone": requirement.milestone,
            "title": requirement.title,
            "tests": sorted(shown.get(requirement.id, ())),
        }
        for requirement in register.requirements
    ]
    found = problems(register, shown)
    return json.dumps({"resolved": sorted(register.resolved), "requirements": rows, "problems": found}, indent=2)


def main() -> int:
    parser = argparse.ArgumentParser(description="Print which tests show which requirement.")
    parser.add_argument("-v", "--verbose", action="store_true", help="list the tests under each id")
    parser.add_argument("--json", action="store_true", help="print everything as JSON")
    options = parser.parse_args()
    register, shown = load(ROOT / "requirements.toml"), collect(ROOT)
    if options.json:
        print(as_json(register, shown))
    else:
        print(*table(register, shown, verbose=options.verbose), "", summary(register, shown), sep="\n")
    found = problems(register, shown)
    print(*found, sep="\n", end="\n" if found else "", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
