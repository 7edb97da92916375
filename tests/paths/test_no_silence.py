"""No failure is silent: whatever a job fails of, a worker has logged and counted it, and the wires tell of it."""

import re
from collections import Counter
from collections.abc import Iterator

import pytest

from detent import Event, Note
from detent.lifecycles import ENGINE
from detent.wire.telemetry import telemetry_of
from tests.paths.path import Path
from tests.paths.player import Outcome
from tests.paths.scene import Played
from tests.paths.table import PATHS, job_id_of

BY_HAND = ("cancelled", "denied")  # categories of what somebody wanted
LATE = re.compile(r" job (\S+) attempt \d+ came too late")
GIVEN_UP = re.compile(r" (\w+) job \S+ (?:has ended|waits) in '(\w+)'")
COUNTED = re.compile(r'detent_given_up_total\{kind="(\w+)",state="(\w+)"\} (\d+)')


def _all(played: Played) -> list[tuple[Path, Outcome]]:
    return [(path, played.outcomes[job_id_of(lifecycle, path)]) for lifecycle, paths in PATHS.items() for path in paths]


@pytest.mark.requirement("ENG-03", "STD-16")
def test_every_failure_is_logged_with_the_job_and_the_error(played: Played) -> None:
    lines = [line for said in played.said.values() for line in said.splitlines()]
    errors = {outcome.job.id: path.error for path, outcome in _all(played) if path.by not in ("operator", "scheduler")}
    wanted = {job_id: error for job_id, error in errors.items() if error and error.category not in BY_HAND}

    silent = [
        job_id
        for job_id, error in wanted.items()
        if not any(f" {job_id} " in line and error.type in line for line in lines)
    ]
    assert len(wanted) > 50
    assert silent == []


@pytest.mark.requirement("ENG-03", "STD-16")
def test_what_time_gives_up_is_logged_and_counted_by_kind_and_state(played: Played) -> None:
    given_up = [(outcome.job.kind, state) for _, outcome in _all(played) for state in _given_up(outcome)]

    logged = {name: GIVEN_UP.findall(said) for name, said in played.said.items()}
    counted = {(kind, state): int(count) for kind, state, count in COUNTED.findall(played.metrics)}
    assert Counter(each for lines in logged.values() for each in lines) == Counter(given_up)
    assert counted == Counter(logged["steady"])
    assert {state for _, state in counted} == {"failed", "FAILED", "TIMEOUT", "stalled"}


def test_only_results_are_said_to_come_too_late(played: Played) -> None:
    told = {job_id for said in played.said.values() for job_id in LATE.findall(said)}

    assert told == {outcome.job.id for path, outcome in _all(played) if "late_result" in path.notes}


def test_worker_that_was_paused_says_so_once_and_names_its_jobs(played: Played) -> None:
    stalls = [line for line in played.said["frozen"].splitlines() if "stood still" in line]
    paused = [line for line in stalls if "the whole process stood still" in line and "it was paused" in line]
    frozen = [outcome.job.id for path, outcome in _all(played) if path.kind == "frozen"]

    assert all(job_id in paused[0] for job_id in frozen)
    assert [line for line in stalls if "in the worker itself" in line] == []


@pytest.mark.requirement("ENG-05", "ENG-03")
def test_every_engine_job_is_told_of_from_its_queue_to_its_one_end(played: Played) -> None:
    for path in PATHS["engine"]:
        outcome = played.outcomes[job_id_of("engine", path)]
        notes = [note for note in outcome.notes if note.kind == "progress"]
        said: list[Event | Note] = [*outcome.events, *notes]
        said.sort(key=lambda each: (each.rev, isinstance(each, Note)))
        told = [each for one in said for each in telemetry_of(ENGINE, one.record, outcome.job.record)]
        names = [each.name for each in told]

        assert names[0] == "JOB_QUEUED"
        assert names.count("JOB_PROGRESS") == len(notes)
        assert [name for name in names if name in ("JOB_COMPLETED", "JOB_FAILED")] == names[-1:] == ["JOB_FAILED"]
        assert path.error is not None
        assert getattr(told[-1].data, "category", None) == path.error.category


def _given_up(outcome: Outcome) -> Iterator[str]:
    """The states in which time has left a job: failed, or parked with nothing that it waits for by itself."""
    for event in outcome.events:
        error = (event.payload or {}).get("error", {})
        is_failure = bool(error) and error["category"] not in BY_HAND and event.to_state != "dead_lettered"
        is_parked = event.verb == "stall" and event.changes["due_at"] is None
        if event.role == "reconciler" and (is_failure or is_parked):
            yield event.to_state
