"""What a phase requires is there and nothing else is, on every record of every life of every lifecycle."""

from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import example, given, settings

from detent.audit import check_job
from detent.kernel import Job
from detent.kernel.command import DeadLetter, Schedule, Verdict
from detent.lifecycle import Lifecycle, Policy, Retry
from detent.lifecycles import BUILT_IN, CONTRACT, DISPATCH, DOCUMENT, ENGINE, STANDARD
from tests.chance import examples
from tests.driving import Life, Step, live, steps

# Little of everything, so that short lives use it up.
SCANT: Final = Policy(
    lease_s=30, heartbeat_s=10, timeout_s=12, grace_s=10, reclaim=True, rerun_failed=True,
    retry=Retry(max_attempts=2, base_s=1, max_s=1),
)  # fmt: skip


def gated(verdict: Verdict, **fields: Any) -> Life:
    life = Life(DISPATCH, **fields)
    life.do(Schedule(verdict=verdict, rule="r", delay_s=1 if verdict == "throttle" else 0))
    return life


BEGINNINGS: Final[dict[str, Callable[[], Life]]] = {
    "standard": lambda: Life(STANDARD),
    "standard, scant": lambda: Life(STANDARD, policy=SCANT),
    "dispatch, pending": lambda: Life(DISPATCH),
    "dispatch, allowed": lambda: gated("allow"),
    "dispatch, throttled and scant": lambda: gated("throttle", policy=SCANT),
    "dispatch, held": lambda: gated("hold"),
    "dispatch, denied": lambda: gated("deny"),
    "engine": lambda: Life(ENGINE),
    "engine, scant": lambda: Life(ENGINE, policy=SCANT),
    "contract": lambda: Life(CONTRACT),
    "contract, scant": lambda: Life(CONTRACT, policy=SCANT),
    "document, created": lambda: Life(DOCUMENT),
    "document, submitted": lambda: Life(DOCUMENT, submit=True),
    "document, scant": lambda: Life(DOCUMENT, submit=True, policy=SCANT),
}
CANCELLED: Final[list[Step]] = [("cancel", 0)]
SUCCESS: Final[list[Step]] = [("claim", 1), ("start", 0), ("heartbeat", 1), ("complete", 1)]
FAILURE: Final[list[Step]] = [("claim", 1), ("start", 0), ("give up", 1)]
STOPPED: Final[list[Step]] = [("claim", 1), ("start", 0), ("stop", 1), ("fail", 1)]
USED_UP: Final[list[Step]] = [
    ("claim", 1), ("start", 0), ("fail", 1), ("reconcile", 1), ("claim", 1), ("start", 0), ("fail", 1),
]  # fmt: skip
LOST: Final[list[Step]] = [
    ("claim", 1), ("start", 0), ("reconcile", 61), ("reconcile", 1), ("claim", 1), ("start", 0), ("reconcile", 61),
]  # fmt: skip
STORIES: Final = [CANCELLED, SUCCESS, FAILURE, STOPPED, USED_UP, LOST]


def misfits(lifecycle: Lifecycle, job: Job) -> list[str]:
    """What is there and should not be, or the other way round."""
    state = lifecycle.by_name[job.state]
    is_leased = state.phase in ("held", "active")
    expected = {
        "owner": is_leased,
        "lease_expires_at": is_leased,
        "lease_s": is_leased,
        "heartbeat_by": is_leased,
        "result": state.outcome == "success",
        "result_digest": state.outcome == "success",
        "error": state.outcome == "failure",
        "error_digest": state.outcome == "failure",
        "ended_at": state.phase == "ended",
    }
    if not is_leased:
        expected["cancel_by"] = False
    if state.phase == "ended":
        expected |= dict.fromkeys(("due_at", "claim_at", "wake_at", "order_at", "deadline_at"), False)
    wrong = [name for name, is_there in expected.items() if (getattr(job, name) is not None) != is_there]
    return wrong if job.phase == state.phase else ["phase", *wrong]


@pytest.mark.requirement("ALL-09", "CON-01")
@pytest.mark.parametrize("name", BEGINNINGS)
@settings(max_examples=examples(100), deadline=None)
@given(story=steps)
@example(story=SUCCESS)
@example(story=FAILURE)
@example(story=STOPPED)
@example(story=USED_UP)
@example(story=LOST)
def test_phase_decides_what_a_record_has_and_lacks(name: str, story: list[Step]) -> None:
    life = live(BEGINNINGS[name](), story)

    for record in life.records:
        assert misfits(life.lifecycle, record) == []
    for spawned in life.spawned:
        assert misfits(life.lifecycle, spawned.job) == []
    assert check_job(life.lifecycle, life.job, life.events, life.notes) == []


@pytest.mark.requirement("ALL-09")
def test_stories_told_here_reach_every_state_of_every_lifecycle() -> None:
    lives = [live(begin(), story) for begin in BEGINNINGS.values() for story in STORIES]
    reached = {(life.lifecycle.name, event.to_state) for life in lives for event in life.events}

    assert {(name, state.name) for name, lifecycle in BUILT_IN.items() for state in lifecycle.states} - reached == set()


@pytest.mark.requirement("ALL-09")
@pytest.mark.parametrize("name", ["standard", "dispatch, allowed", "engine", "contract", "document, submitted"])
def test_json_null_is_a_result(name: str) -> None:
    life = BEGINNINGS[name]()
    life.claim(start=True)
    life.complete(b"null")

    assert life.job.result == b"null"
    assert life.lifecycle.by_name[life.job.state].outcome == "success"
    assert misfits(life.lifecycle, life.job) == []


@pytest.mark.requirement("ALL-09")
def test_last_error_of_an_attempt_stays_in_every_phase_though_the_job_has_no_error() -> None:
    life = Life(STANDARD)
    life.claim(start=True)
    life.fail("TransientError", "first")
    life.wait(1)
    life.claim()
    life.start()
    life.complete()
    after = life.records[2:]

    assert [record.phase for record in after] == ["ready", "held", "active", "ended"]
    assert {record.last_error.message for record in after if record.last_error} == {"first"}
    assert all(record.last_error is not None and record.error is None for record in after)


@pytest.mark.requirement("ALL-09")
def test_failure_has_its_error_as_the_last_error_too() -> None:
    life = Life(STANDARD)
    life.claim(start=True)
    life.do(DeadLetter(role="operator", reason="set aside"))

    assert life.job.error is not None
    assert life.job.last_error == life.job.error


@pytest.mark.requirement("ALL-09", "CON-01")
def test_stalled_job_has_no_owner_lease_result_or_error() -> None:
    life = Life(CONTRACT)
    life.claim(start=True)
    life.reconcile()

    assert (life.job.state, life.job.owner, life.job.lease_expires_at) == ("stalled", None, None)
    assert (life.job.result, life.job.error) == (None, None)
    assert life.job.last_error is not None
