"""`engine`: time in every state is limited, and no failure is silent."""

from collections.abc import Callable
from typing import Any, Final

import pytest

from detent.audit import check_job
from detent.errors import Refused
from detent.kernel import Change, decide
from detent.kernel.command import Cancel, Complete, Expire, Renew, Start, TimeOut
from detent.lifecycle import Policy
from detent.lifecycles import ENGINE
from tests.driving import START, WORKER, Life

SECOND = 1_000_000
DEFAULTS_S: Final = {"queued": 30, "dispatched": 10, "running": 60}


def queued(**fields: Any) -> Life:
    return Life(ENGINE, **fields)


def dispatched(**fields: Any) -> Life:
    life = queued(**fields)
    life.claim()
    return life


def running(**fields: Any) -> Life:
    life = queued(**fields)
    life.claim(start=True)
    return life


IN_STATE: Final[dict[str, Callable[..., Life]]] = {"queued": queued, "dispatched": dispatched, "running": running}


def limited(**policy: Any) -> Policy:
    return Policy(**{"lease_s": 30, "heartbeat_s": 10} | policy)


def keep_alive(life: Life, until_s: float) -> None:
    """Heartbeats every 9 s, for as long as the job may stay where it is."""
    end = life.now + round(until_s * SECOND)
    while life.now + 9 * SECOND < end:
        life.wait(9)
        if life.job.is_leased:
            life.do(Renew(**life.as_owner()))


def time_out_at(life: Life, moment: int) -> Change | Refused:
    return decide(ENGINE, life.job, TimeOut(role="reconciler", expected_rev=life.job.rev), moment)


# -- limits ----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ENG-02")
@pytest.mark.parametrize("state", DEFAULTS_S)
def test_time_in_a_state_is_limited_by_default(state: str) -> None:
    life = IN_STATE[state]()
    since = life.now
    keep_alive(life, DEFAULTS_S[state])
    over = since + DEFAULTS_S[state] * SECOND
    early, in_time = time_out_at(life, over - 1), time_out_at(life, over)

    assert isinstance(early, Refused)
    assert early.code == "not_due"
    assert isinstance(in_time, Change)
    assert (life.job.state, in_time.job.state) == (state, "failed")


@pytest.mark.requirement("ENG-02")
@pytest.mark.parametrize("state", DEFAULTS_S)
def test_system_ends_a_job_by_itself_when_its_time_is_over(state: str) -> None:
    life = IN_STATE[state]()
    since = life.now
    keep_alive(life, DEFAULTS_S[state])
    life.reconcile()

    assert (life.job.state, life.events[-1].verb) == ("failed", "time_out")
    assert life.job.ended_at == since + DEFAULTS_S[state] * SECOND
    assert check_job(ENGINE, life.job, life.events, slack_us=0, now=life.now) == []


@pytest.mark.requirement("ENG-02")
@pytest.mark.parametrize("state", DEFAULTS_S)
@pytest.mark.parametrize("limit_s", [2.5, 500])
def test_limit_of_each_state_is_configurable(state: str, limit_s: float) -> None:
    life = IN_STATE[state](policy=limited(timeouts={state: limit_s}))

    assert life.job.deadline_at == life.now + limit_s * SECOND


@pytest.mark.requirement("ENG-02")
@pytest.mark.parametrize("state", DEFAULTS_S)
def test_limit_of_one_state_leaves_the_others_alone(state: str) -> None:
    others = {name: 7.0 for name in DEFAULTS_S if name != state}
    life = IN_STATE[state](policy=limited(timeouts=others))

    assert life.job.deadline_at == life.now + DEFAULTS_S[state] * SECOND


@pytest.mark.requirement("ENG-02")
def test_run_limit_of_the_job_type_replaces_that_of_running_only() -> None:
    policy = limited(timeout_s=5)

    assert running(policy=policy).job.deadline_at == START + 5 * SECOND
    assert dispatched(policy=policy).job.deadline_at == START + 10 * SECOND
    assert queued(policy=policy).job.deadline_at == START + 30 * SECOND


@pytest.mark.requirement("ENG-02")
def test_time_in_the_queue_counts_from_when_the_job_was_due() -> None:
    life = queued(run_at=START + 100 * SECOND)
    early = time_out_at(life, START + 130 * SECOND - 1)
    life.reconcile()

    assert isinstance(early, Refused)
    assert early.code == "not_due"
    assert (life.job.state, life.now) == ("failed", START + 130 * SECOND)


@pytest.mark.requirement("ENG-02")
def test_each_state_has_a_time_of_its_own() -> None:
    life = queued()
    life.wait(29)
    life.claim()
    in_dispatched = life.job.deadline_at
    life.wait(9)
    life.start()

    assert in_dispatched == START + 39 * SECOND
    assert life.job.deadline_at == START + 98 * SECOND


@pytest.mark.requirement("ENG-02")
def test_heartbeats_do_not_lengthen_the_time_in_a_state() -> None:
    life = running()
    before = life.job.deadline_at
    life.wait(9)
    life.do(Renew(**life.as_owner()))

    assert life.job.deadline_at == before


# -- a lost engine ---------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ENG-02")
def test_job_is_lost_with_the_second_heartbeat_its_engine_misses() -> None:
    life = running()
    life.wait(5)
    life.do(Renew(**life.as_owner()))
    missed = life.now + 20 * SECOND
    expiry = Expire(role="reconciler", expected_rev=life.job.rev)
    early, in_time = decide(ENGINE, life.job, expiry, missed - 1), decide(ENGINE, life.job, expiry, missed)

    assert isinstance(early, Refused)
    assert early.code == "not_due"
    assert isinstance(in_time, Change)
    assert in_time.job.state == "failed"


@pytest.mark.requirement("ENG-02", "ENG-03")
def test_system_fails_the_job_of_a_lost_engine_by_itself() -> None:
    life = running()
    life.reconcile()

    assert (life.job.state, life.events[-1].verb, life.now) == ("failed", "expire", START + 20 * SECOND)
    assert life.job.crashes == 1
    assert life.job.last_owner == WORKER


@pytest.mark.requirement("ENG-02")
def test_one_missed_heartbeat_is_forgiven() -> None:
    life = running()
    life.wait(19)
    life.do(Renew(**life.as_owner()))
    life.wait(19)
    life.complete()

    assert life.job.state == "completed"


# -- no silent failure -----------------------------------------------------------------------------------------------


def fail(life: Life) -> None:
    life.fail("BuildError", "no such part", code="E7")


def run_out(life: Life) -> None:
    life.reconcile()


def cancel(life: Life) -> None:
    life.do(Cancel(mode="hard", reason="withdrawn"))


def cancel_softly(life: Life) -> None:
    life.do(Cancel(mode="soft", reason="withdrawn"))
    life.run_out()


SILENCE: Final = "LeaseExpired: worker worker-1 stopped renewing attempt 1"
SILENT: Final = limited(timeouts={"dispatched": 600, "running": 600})
FAILURES: Final[dict[str, tuple[Callable[[], Life], Callable[[Life], None], str, str]]] = {
    "queued, nobody took it": (queued, run_out, "queue", "TimedOut: time in 'queued' is over"),
    "queued, cancelled": (queued, cancel, "cancelled", "Cancelled: withdrawn"),
    "queued, cancelled softly": (queued, cancel_softly, "cancelled", "Cancelled: withdrawn"),
    "dispatched, not started": (dispatched, run_out, "system", "TimedOut: time in 'dispatched' is over"),
    "dispatched, engine lost": (lambda: dispatched(policy=SILENT), run_out, "system", SILENCE),
    "dispatched, cancelled": (dispatched, cancel, "cancelled", "Cancelled: withdrawn"),
    "dispatched, cancelled softly": (dispatched, cancel_softly, "cancelled", "cancel requested, then time_out"),
    "running, failed": (running, fail, "engine", "BuildError: no such part"),
    "running, too long": (
        lambda: running(policy=limited(timeout_s=15)),
        run_out,
        "engine",
        "TimedOut: time in 'running' is over",
    ),
    "running, engine lost": (running, run_out, "system", SILENCE),
    "running, cancelled": (running, cancel, "cancelled", "Cancelled: withdrawn"),
    "running, cancelled softly": (running, cancel_softly, "cancelled", "cancel requested, then expire"),
}


@pytest.mark.requirement("ENG-03", "ENG-04", "ENG-01")
@pytest.mark.parametrize("name", FAILURES)
def test_every_failure_ends_in_failed_with_its_event_reason_and_category(name: str) -> None:
    begin, lose, category, cause = FAILURES[name]
    life = begin()
    lose(life)
    last = life.events[-1]

    assert (life.job.state, last.type, last.to_state) == ("failed", "JOB_FAILED", "failed")
    assert life.job.error is not None
    assert (life.job.error.category, last.cause) == (category, cause)
    assert [event.type for event in life.events].count("JOB_FAILED") == 1
    assert last.payload is not None
    assert last.payload["error"]["category"] == category
    assert check_job(ENGINE, life.job, life.events) == []


@pytest.mark.requirement("ENG-03")
@pytest.mark.parametrize(
    ("lose", "counts"),
    [(fail, (1, 0)), (run_out, (0, 1)), (cancel, (0, 0))],
    ids=["failed", "lost", "cancelled"],
)
def test_every_failure_of_an_attempt_is_counted_as_what_it_was(
    lose: Callable[[Life], None], counts: tuple[int, int]
) -> None:
    life = running()
    lose(life)

    assert (life.job.failures, life.job.crashes) == counts


# -- no other way ----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ENG-01")
@pytest.mark.parametrize(
    ("state", "command"),
    [
        ("queued", lambda life: Start(worker=WORKER, attempt=0)),
        ("queued", lambda life: Complete(worker=WORKER, attempt=0)),
        ("dispatched", lambda life: Complete(**life.as_owner())),
        ("queued", lambda life: Expire(role="reconciler")),
    ],
    ids=["queued start", "queued complete", "dispatched complete", "queued expire"],
)
def test_no_state_can_be_skipped(state: str, command: Callable[[Life], Any]) -> None:
    life = IN_STATE[state]()
    before = life.job
    answer = life.ask(command(life))

    assert isinstance(answer, Refused)
    assert (answer.code, answer.state) == ("illegal_move", state)
    assert life.job == before
