"""What a phase fixes, the table itself refuses to have otherwise, with no trigger to help it."""

import re
from typing import Any, Final

import apsw
import pytest

from detent.lifecycle import Lifecycle
from detent.lifecycles import BUILT_IN
from tests.store.declared import Columns
from tests.store.sqlite.by_hand import AT, DIGESTS, EMPTY, FITTING, Hand, fitting, refusal
from tests.store.sqlite.files import ROOT

MIGRATION: Final = ROOT / "src/detent/store/sqlite/migrations/0001_first.sql"
LIFECYCLES: Final = list(BUILT_IN.values())

OWNED: Final = "(phase = 'held' or phase = 'active') = (owner is not null)"
LEASED: Final = "(owner is null) = (lease_expires_at is null)"
JUDGED: Final = "(phase = 'ended') = (outcome is not null)"
STAMPED: Final = "(phase = 'ended') = (ended_at is not null)"
RESULT: Final = "(outcome is 'success') = (result_digest is not null)"
ERROR: Final = "(outcome is 'failure') = (error_digest is not null)"
QUIET: Final = "phase <> 'ended' or (claim_at is null and wake_at is null)"
ORDERED: Final = "(claim_at is null) = (order_at is null)"

NO_OWNER: Final[Columns] = {"owner": None, "lease_expires_at": None}
OWNER: Final[Columns] = {"owner": "w", "lease_expires_at": AT}
# The check, the phase and the outcome of a record that fits, and what is put wrong about it.
WRONG: Final[list[tuple[str, str, str | None, Columns]]] = [
    *((OWNED, phase, None, NO_OWNER) for phase in ("held", "active")),
    *((OWNED, phase, None, OWNER) for phase in ("parked", "ready")),
    *((OWNED, "ended", outcome, OWNER) for outcome in ("success", "failure", "cancelled")),
    *((LEASED, phase, None, {"lease_expires_at": None}) for phase in ("held", "active")),
    *((LEASED, phase, None, {"lease_expires_at": AT}) for phase in ("parked", "ready")),
    (LEASED, "ended", "success", {"lease_expires_at": AT}),
    (JUDGED, "ended", "success", {"outcome": None, "result_digest": None}),
    *((JUDGED, phase, None, {"outcome": "cancelled"}) for phase in ("parked", "ready", "held", "active")),
    *((STAMPED, "ended", outcome, {"ended_at": None}) for outcome in ("success", "failure", "cancelled")),
    *((STAMPED, phase, None, {"ended_at": AT}) for phase in ("parked", "ready", "held", "active")),
    (RESULT, "ended", "success", {"result_digest": None}),
    *((RESULT, "ended", outcome, {"result_digest": "r"}) for outcome in ("failure", "cancelled")),
    *((RESULT, phase, None, {"result_digest": "r"}) for phase in ("parked", "ready", "held", "active")),
    (ERROR, "ended", "failure", {"error_digest": None}),
    *((ERROR, "ended", outcome, {"error_digest": "e"}) for outcome in ("success", "cancelled")),
    *((ERROR, phase, None, {"error_digest": "e"}) for phase in ("parked", "ready", "held", "active")),
    (QUIET, "ended", "success", {"claim_at": AT, "order_at": AT}),
    (QUIET, "ended", "failure", {"wake_at": AT}),
    (ORDERED, "ready", None, {"order_at": None}),
    (ORDERED, "ready", None, {"claim_at": None}),
    ("rev > 0", "ready", None, {"rev": 0}),
    ("rev > 0", "ready", None, {"rev": -1}),
    ("attempt >= 0", "ready", None, {"attempt": -1}),
]


@pytest.fixture
def bare(hand: Hand) -> Hand:
    """A store without triggers: the checks of the table stand alone."""
    for (name,) in hand.db.execute("select name from sqlite_master where type = 'trigger'").fetchall():
        hand.db.execute(f"drop trigger {name}")
    return hand


@pytest.mark.requirement("ALL-09")
@pytest.mark.parametrize(("check", "phase", "outcome", "wrong"), WRONG)
def test_record_that_does_not_fit_its_phase_is_refused(
    bare: Hand, check: str, phase: str, outcome: str | None, wrong: Columns
) -> None:
    lifecycle = LIFECYCLES[0]
    columns: Columns = {"rev": 1, **fitting(phase, outcome)}
    bare.record(lifecycle, 1, "queued", **columns)  # as it should be, it is let in

    with pytest.raises(apsw.ConstraintError, match=re.escape(check)):
        bare.record(lifecycle, 2, "queued", **columns | wrong)
    with pytest.raises(apsw.ConstraintError, match=re.escape(check)):
        bare.update(1, **wrong)


def test_every_check_of_the_table_is_put_to_the_test() -> None:
    table = MIGRATION.read_text().split("create table detent_records (")[1].split(") strict;")[0]
    of_the_row = re.findall(r"^    check \((.*)\),?$", table, re.MULTILINE)
    of_a_column = re.findall(r" check \(([\w >=]+)\),$", table, re.MULTILINE)

    assert {*of_the_row, *of_a_column} == {check for check, *_ in WRONG}


@pytest.mark.requirement("ALL-09")
@pytest.mark.parametrize("lifecycle", LIFECYCLES, ids=lambda each: each.name)
def test_every_state_of_every_lifecycle_is_refused_with_the_columns_of_another_phase(
    bare: Hand, lifecycle: Lifecycle
) -> None:
    let_in = []
    for state in lifecycle.states:
        for phase, others in FITTING.items():
            # Parked asks for nothing that ready could lack, and held and active ask for the same.
            alike = {phase, state.phase} in ({"parked", "ready"}, {"held", "active"}) or phase == state.phase
            wrong = EMPTY | others | DIGESTS[state.outcome]
            if not alike and _is_let_in(bare, lifecycle, state.name, wrong):
                let_in.append((state.name, phase))

    assert let_in == []


@pytest.mark.parametrize("wrong", [{"phase": "asleep"}, {"outcome": "draw"}])
def test_moves_table_knows_the_closed_words_only(hand: Hand, wrong: Columns) -> None:
    move: Columns = {"lifecycle": 1, "source": "a", "verb": "claim", "target": "b", "phase": "ended", "outcome": None}

    with pytest.raises(apsw.ConstraintError, match="CHECK"):
        hand.insert("detent_moves", move | wrong)


@pytest.mark.parametrize(("column", "value"), [("rev", "one"), ("created_at", "today"), ("lease_s", "long")])
def test_column_takes_values_of_its_own_type_only(bare: Hand, column: str, value: Any) -> None:
    bare.record(LIFECYCLES[0], 1, "queued")

    with pytest.raises(apsw.ConstraintError, match="cannot store TEXT"):
        bare.update(1, **{column: value})


def _is_let_in(bare: Hand, lifecycle: Lifecycle, state: str, columns: Columns) -> bool:
    answer = refusal(lambda: bare.record(lifecycle, 1, state, **columns))
    bare.db.execute("delete from detent_records")
    return answer is None
