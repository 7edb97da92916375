"""Workers as they are started in earnest, and what befalls them: the campaigns of `make chaos`, small."""

import pytest

from tests.runtime.fleet.blocked import run_blocked
from tests.runtime.fleet.deadly import run_deadly
from tests.runtime.fleet.effects import run_effects
from tests.runtime.fleet.endless import run_endless
from tests.runtime.fleet.idle import run_idle
from tests.runtime.fleet.lost import run_lost
from tests.runtime.fleet.rolling import run_rolling
from tests.runtime.fleet.zombies import run_zombies


@pytest.mark.requirement("ALL-01", "STD-04")
def test_fifty_jobs_of_a_killed_worker_run_again_within_lease_and_five_seconds(url: str) -> None:
    outcome = run_lost(url, lease_s=3.0, rounds=1)

    assert outcome.faults == []


@pytest.mark.requirement("ALL-16")
def test_job_that_ends_its_process_every_time_is_a_dead_letter(url: str) -> None:
    outcome = run_deadly(url, jobs=1, crashes_max=2)

    assert outcome.faults == []


@pytest.mark.requirement("STD-02", "STD-03")
def test_handler_that_blocks_for_three_leases_keeps_its_lease_and_is_reported_on_the_loop(url: str) -> None:
    outcome = run_blocked(url, lease_s=2.0)

    assert outcome.faults == []


@pytest.mark.requirement("ALL-07")
def test_workers_paused_past_their_leases_are_refused_noted_and_their_handlers_told(url: str) -> None:
    outcome = run_zombies(url, workers=2)

    assert outcome.faults == []


@pytest.mark.requirement("STD-08")
def test_hard_cancel_of_an_endless_loop_is_learned_in_a_second_and_kills_in_another(url: str) -> None:
    outcome = run_endless(url, cancels=2)

    assert outcome.faults == []


def test_effects_in_jobs_own_transactions_happen_once_however_often_workers_are_killed(url: str) -> None:
    outcome = run_effects(url, seed=6, jobs=400, kills=3)

    assert outcome.faults == []


@pytest.mark.requirement("STD-04")
def test_rolling_restart_under_load_loses_nothing_and_counts_no_failure(url: str) -> None:
    outcome = run_rolling(url, seed=6, workers=2, rounds=1)

    assert outcome.faults == []


def test_idle_worker_has_sixty_megabytes_at_most(url: str) -> None:
    outcome = run_idle(url, jobs=0, settle_s=0.2)

    assert outcome.faults == []
