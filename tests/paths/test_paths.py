"""Every failure path of the five lifecycles, end to end through real worker processes, on both stores."""

from typing import Any, Final

import pytest

from detent import Job
from detent.kernel import Error
from tests.paths.path import Heir, Path, Told
from tests.paths.player import Outcome
from tests.paths.scene import Played
from tests.paths.table import PATHS, job_id_of

COUNTERS: Final = ("attempt", "failures", "crashes", "interruptions", "retries")


def _rows() -> list[Any]:
    return [
        pytest.param(lifecycle, path, id=job_id_of(lifecycle, path), marks=pytest.mark.requirement(*path.shows))
        for lifecycle, paths in PATHS.items()
        for path in paths
    ]


@pytest.mark.parametrize(("lifecycle", "path"), _rows())
def test_job_goes_its_way_and_the_record_says_why(played: Played, lifecycle: str, path: Path) -> None:
    outcome = played.outcomes[job_id_of(lifecycle, path)]
    job = outcome.job

    assert outcome.trouble == ""
    assert outcome.moves in (path.moves, path.instead or path.moves)
    assert tuple(getattr(job, name) for name in COUNTERS) == _counters(path)
    assert _told(job.error) == path.error
    assert _type(job.last_error) == (path.error.type if path.error else path.last)
    assert (job.is_ended, job.result) == (not path.rests, path.result)
    assert outcome.events[-1].role in path.by.split(" or ")
    assert [note.kind for note in outcome.notes] == list(path.notes)
    assert [each.status for each in outcome.artifacts] == ([path.artifact] if path.artifact else [])
    assert not path.renews or path.renews in _renewed(outcome)
    assert [_heir(each, job) for each in outcome.heirs] == ([path.heir] if path.heir else [])
    assert [str(each) for each in played.report.violations if each.job_id == job.id] == []


def test_whole_store_is_as_it_should_be(played: Played) -> None:
    assert played.report.violations == ()
    assert played.report.jobs >= len(played.outcomes)


def test_workers_that_were_told_to_stop_ended_well(played: Played) -> None:
    assert played.exits == dict.fromkeys(("drained", "frozen", "steady"), 0), played.said


def _counters(path: Path) -> tuple[int, ...]:
    return path.attempts, path.failures, path.crashes, path.interruptions, path.retries


def _told(error: Error | None) -> Told | None:
    if error is None:
        return None
    return Told(error.type, error.category or "", error.reason_code, error.stage or "", error.code)


def _type(error: Error | None) -> str:
    return "" if error is None else error.type


def _renewed(outcome: Outcome) -> set[str]:
    return {event.to_state for event in outcome.events if event.verb == "renew"}


def _heir(heir: Outcome, job: Job) -> Heir:
    """What came of a job, as the table has it. Nothing came of that in turn."""
    assert heir.heirs == []
    reason = None if heir.job.error is None else heir.job.error.reason_code
    what: Any = "rerun" if heir.job.rerun_of == job.id else "undo" if heir.job.kind == "undo" else "child"
    return Heir(what=what, moves=heir.moves, retries=heir.job.retries, reason=reason)
