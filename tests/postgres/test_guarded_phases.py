"""What a phase fixes, the tables themselves refuse to have otherwise, with no trigger to help them."""

from typing import Any, Final

import psycopg
import pytest

from detent.lifecycle import Lifecycle
from detent.lifecycles import BUILT_IN, STANDARD
from tests.postgres.by_hand import ENDED, RECORDS, Hand, fitting
from tests.store.declared import Columns
from tests.store.sqlite.by_hand import AT
from tests.store.sqlite.test_guarded_phases import NO_OWNER, OWNER

UNLEASED: Final = ("parked", "ready")
LEASED: Final = ("held", "active")
OUTCOMES: Final = ("success", "failure", "cancelled")
# The constraint, the phase and the outcome of a row that fits, and what is put wrong about it.
WRONG: Final[list[tuple[str, str, str | None, Columns]]] = [
    ("records_live", "ready", None, {"phase": "ended"}),
    ("records_live", "ready", None, {"phase": "asleep"}),
    *(("records_owned", phase, None, NO_OWNER) for phase in LEASED),
    *(("records_owned", phase, None, OWNER) for phase in UNLEASED),
    *(("records_leased", phase, None, {"lease_expires_at": None}) for phase in LEASED),
    *(("records_leased", phase, None, {"lease_expires_at": AT}) for phase in UNLEASED),
    *(("records_unfinished", phase, None, {"result_digest": "r"}) for phase in (*UNLEASED, *LEASED)),
    *(("records_unfinished", phase, None, {"error_digest": "e"}) for phase in (*UNLEASED, *LEASED)),
    ("records_placed", "ready", None, {"order_at": None}),
    ("records_placed", "ready", None, {"claim_at": None}),
    ("records_looked_at", "ready", None, {"wake_at": AT}),
    ("records_looked_at", "ready", None, {"look_at": AT}),
    ("records_looked_at", "ready", None, {"wake_at": AT, "look_at": AT + 1}),
    ("records_rev_check", "ready", None, {"rev": 0}),
    ("records_rev_check", "ready", None, {"rev": -1}),
    ("records_attempt_check", "ready", None, {"attempt": -1}),
    ("ended_phase", "ended", "success", {"phase": "ready"}),
    ("ended_outcome_check", "ended", "success", {"outcome": "draw", "result_digest": None}),
    *(("ended_free", "ended", outcome, OWNER) for outcome in OUTCOMES),
    ("ended_free", "ended", "success", {"lease_expires_at": AT}),
    ("ended_idle", "ended", "success", {"claim_at": AT, "order_at": AT}),
    ("ended_idle", "ended", "failure", {"wake_at": AT}),
    ("ended_idle", "ended", "failure", {"look_at": AT}),
    ("ended_success", "ended", "success", {"result_digest": None}),
    *(("ended_success", "ended", outcome, {"result_digest": "r"}) for outcome in ("failure", "cancelled")),
    ("ended_failure", "ended", "failure", {"error_digest": None}),
    *(("ended_failure", "ended", outcome, {"error_digest": "e"}) for outcome in ("success", "cancelled")),
]
_CHECKS: Final = """
select conname from pg_constraint
where contype = 'c' and conrelid in ('detent_records'::regclass, 'detent_ended'::regclass)
"""


@pytest.fixture
def bare(hand: Hand) -> Hand:
    """Without triggers: the constraints of the tables stand alone."""
    for table in (RECORDS, ENDED):
        hand.ask(f"alter table {table} disable trigger user")
    return hand


def put(hand: Hand, job: int, columns: Columns, *, ended: bool) -> None:
    row = {name: value for name, value in hand.columns(STANDARD, job, "queued").items() if name not in columns}
    hand.insert(ENDED if ended else RECORDS, row | columns)


@pytest.mark.requirement("ALL-09")
@pytest.mark.parametrize(("constraint", "phase", "outcome", "wrong"), WRONG)
def test_row_that_does_not_fit_its_phase_is_refused(
    bare: Hand, constraint: str, phase: str, outcome: str | None, wrong: Columns
) -> None:
    is_ended = phase == "ended"
    columns = fitting(phase, outcome)
    put(bare, 1, columns, ended=is_ended)  # as it should be, it is let in

    with pytest.raises(psycopg.errors.CheckViolation, match=f'"detent_{constraint}"'):
        put(bare, 2, columns | wrong, ended=is_ended)
    if not is_ended:
        with pytest.raises(psycopg.errors.CheckViolation, match=f'"detent_{constraint}"'):
            bare.update(1, **wrong)


@pytest.mark.parametrize("column", ["outcome", "ended_at", "rev", "state", "payload_digest"])
def test_ended_job_lacks_nothing_of_its_end(bare: Hand, column: str) -> None:
    with pytest.raises(psycopg.errors.NotNullViolation, match=f'"{column}"'):
        put(bare, 1, fitting("ended", "cancelled") | {column: None}, ended=True)


def test_every_constraint_of_the_tables_is_put_to_the_test(hand: Hand) -> None:
    there = {name.removeprefix("detent_") for (name,) in hand.ask(_CHECKS)}

    assert there == {constraint for constraint, *_ in WRONG}


@pytest.mark.requirement("ALL-09")
@pytest.mark.parametrize("lifecycle", BUILT_IN.values(), ids=lambda each: each.name)
def test_every_living_state_is_refused_with_the_columns_of_another_phase(bare: Hand, lifecycle: Lifecycle) -> None:
    let_in = []
    for state in (each for each in lifecycle.states if each.phase != "ended"):
        for phase in (*UNLEASED, *LEASED):
            is_alike = (phase in LEASED) == (state.phase in LEASED)
            wrong = fitting(phase, None) | {"phase": state.phase, "state": state.name}
            if not is_alike and _is_let_in(bare, wrong):
                let_in.append((state.name, phase))

    assert let_in == []


@pytest.mark.parametrize("wrong", [{"phase": "asleep"}, {"outcome": "draw"}])
def test_moves_table_knows_the_closed_words_only(hand: Hand, wrong: Columns) -> None:
    move: Columns = {"lifecycle": 1, "source": "a", "verb": "claim", "target": "b", "phase": "ended", "outcome": None}

    with pytest.raises(psycopg.errors.CheckViolation):
        hand.insert("detent_moves", move | wrong)


def _is_let_in(bare: Hand, columns: dict[str, Any]) -> bool:
    try:
        with bare.db.transaction(force_rollback=True):
            put(bare, 1, columns, ended=False)
    except psycopg.errors.CheckViolation:
        return False
    return True
