"""Every world of the real kernel within bounds, and proof that the search notices a missing safeguard."""

from typing import Final

import pytest
from msgspec.structs import replace

from detent.lifecycle import Lifecycle
from detent.lifecycles import BUILT_IN, CONTRACT, DOCUMENT, STANDARD
from detent.testing.explore import POLICY, UNDOING, Report, explore
from detent.testing.sabotage import SABOTAGE
from tests.figures import Show

SAFETY = ("ALL-01", "ALL-02", "ALL-03", "ALL-04", "ALL-05", "ALL-06", "ALL-07", "ALL-08", "ALL-09", "ALL-10")


def summary(report: Report) -> str:
    return (
        f"{report.lifecycle}: {report.jobs} job(s) × {report.workers} workers, at most {report.faults} faults: "
        f"{report.states:,} states, {report.transitions:,} transitions"
    )


@pytest.mark.requirement(*SAFETY, "ALL-12", "ALL-15", "ALL-16", "ALL-17", "STD-19")
@pytest.mark.parametrize("name", BUILT_IN)
def test_no_history_of_one_job_breaks_an_invariant_or_gets_stuck(name: str, show: Show) -> None:
    report = explore(BUILT_IN[name], jobs=1, workers=3, faults=2)

    show(summary(report))
    assert report.counterexample is None, str(report.counterexample)
    assert report.states > 2_000


@pytest.mark.requirement("STD-19")
@pytest.mark.parametrize("name", BUILT_IN)
def test_no_history_of_a_compensation_breaks_an_invariant(name: str, show: Show) -> None:
    report = explore(BUILT_IN[name], workers=2, faults=1, policy=UNDOING)

    show(f"of a compensation, {summary(report)}")
    assert report.counterexample is None, str(report.counterexample)


@pytest.mark.requirement("CON-01", "CON-08")
def test_no_history_with_reclaim_breaks_an_invariant(show: Show) -> None:
    report = explore(CONTRACT, workers=2, faults=1, policy=replace(POLICY, reclaim=True))

    show(f"with reclaim, {summary(report)}")
    assert report.counterexample is None, str(report.counterexample)


@pytest.mark.requirement("ALL-01", "ALL-05", "ALL-08")
@pytest.mark.parametrize("name", BUILT_IN)
def test_no_history_of_claims_on_two_jobs_breaks_an_invariant(name: str, show: Show) -> None:
    report = explore(BUILT_IN[name], jobs=2, workers=2, faults=1)

    show(summary(report))
    assert report.counterexample is None, str(report.counterexample)
    assert report.states > 500


# -- proof that it bites: each safeguard switched off ------------------------------------------------------------------

# What must be found broken when this is missing.
NOTICED: Final[dict[str, set[str]]] = {
    "the fence": {"I6"},
    "the revision check": {"I1"},
    "the owner check": {"I6"},
    "the lease check": {"I6"},
    "the lease check at the write": {"I6"},
    "the event of a move": {"I3"},
    "the single event": {"I1"},
    "the crash budget": {"I9"},
    "the memory of requests": {"I12"},
    "the compensation": {"I29"},
    "the reason of a compensation": {"I21"},
    "the fence of a note": {"I6"},
}
# Where nothing is set aside, a compensation that failed is told from others by its reason alone.
ONLY_DEAD_LETTERS: Final = {"the reason of a compensation"}


def test_every_sabotage_is_searched_for() -> None:
    assert set(NOTICED) == set(SABOTAGE)


@pytest.mark.requirement("ALL-01", "ALL-03", "ALL-05", "ALL-06", "ALL-07", "ALL-16", "STD-19", "STD-22")
@pytest.mark.parametrize(
    ("missing", "lifecycle"),
    [
        *((missing, STANDARD) for missing in NOTICED),
        *((missing, DOCUMENT) for missing in NOTICED if missing not in ONLY_DEAD_LETTERS),
        # Here every request names its revision, which alone makes up for a missing fence, owner check or memory.
        ("the revision check", CONTRACT),
    ],
    ids=lambda value: value if isinstance(value, str) else value.name,
)
def test_a_missing_safeguard_is_noticed(missing: str, lifecycle: Lifecycle, show: Show) -> None:
    policy = UNDOING if missing == "the reason of a compensation" else POLICY

    report = explore(lifecycle, machinery=SABOTAGE[missing](lifecycle), policy=policy)

    show(f"{lifecycle.name} without {missing}, {report.counterexample}")
    assert report.counterexample is not None, "the search did not notice"
    assert {violation.invariant for violation in report.counterexample.violations} >= NOTICED[missing]
