"""A declaration with a value of the wrong type is refused with a stable code, never with a raw TypeError."""

from typing import Any

import pytest

from detent.errors import InvalidArgument, LifecycleError
from detent.lifecycle import Lifecycle, Move, Policy, Retry, State, move
from detent.lifecycle.soundness import types
from tests.lifecycle.declarations import MOVES, STATES, declaration

ODD: Any = object()


@pytest.mark.parametrize(
    ("field", "value", "remedy"),
    [
        ("name", 5, "a string"),
        ("version", "1", "a whole number"),
        ("version", 1.0, "a whole number"),
        ("version", True, "a whole number"),
        ("states", list(STATES), "a tuple of State"),
        ("states", (*STATES, "done"), "a tuple of State"),
        ("states", "waiting", "a tuple of State"),
        ("moves", None, "a tuple of Move"),
        ("moves", (*MOVES, ("waiting", "claim")), "a tuple of Move"),
        ("summary", b"text", "a string"),
        ("events", ["claim"], "a dict of strings"),
        ("events", {"claim": 5}, "a dict of strings"),
        ("aliases", {5: "waiting"}, "a dict of strings"),
        ("legacy_events", None, "a dict of strings"),
        ("on_expiry", None, "a string"),
        ("on_timeout", ["stall"], "a string"),
        ("defaults", {"lease_s": 60}, "a Policy"),
        ("requires_rev", "no", "True or False"),
        ("settles_repeats", 1, "True or False"),
        ("implies_start", None, "True or False"),
    ],
)
def test_lifecycle_field_of_the_wrong_type_is_refused(field: str, value: object, remedy: str) -> None:
    with pytest.raises(LifecycleError) as refused:
        Lifecycle(**declaration(**{field: value}))

    assert refused.value.code == "bad_type"
    assert f"{field} is " in str(refused.value)
    assert f"; give {remedy}" in str(refused.value)


@pytest.mark.parametrize(
    ("state", "field"),
    [
        (State(ODD, "ready"), "name"),
        (State("odd", ODD), "phase"),
        (State("odd", "ended", ODD), "outcome"),
        (State("odd", "ready", timeout_s="x"), "timeout_s"),  # type: ignore[arg-type]
        (State("odd", "ready", timeout_s=True), "timeout_s"),
        (State("odd", "parked", timer="yes"), "timer"),  # type: ignore[arg-type]
        (State("odd", "ended", "success", event=ODD), "event"),
    ],
)
def test_state_field_of_the_wrong_type_is_refused(state: State, field: str) -> None:
    with pytest.raises(LifecycleError) as refused:
        Lifecycle(**declaration(states=(*STATES, state)))

    assert refused.value.code == "bad_type"
    assert f": {field} is " in str(refused.value)
    assert field == "name" or "state 'odd'" in str(refused.value)


@pytest.mark.parametrize(
    ("odd", "field"),
    [
        (Move(ODD, "done", ("owner",), ("working",)), "verb"),
        (Move("fail", ODD, ("owner",), ("working",)), "target"),
        (Move("fail", "broken", "owner", ("working",)), "by"),  # type: ignore[arg-type]
        (Move("fail", "broken", (ODD,), ("working",)), "by"),
        (Move("fail", "broken", ("owner",), "working"), "sources"),  # type: ignore[arg-type]
        (Move("fail", "broken", ("owner",), ("working",), "no"), "recovery"),  # type: ignore[arg-type]
    ],
)
def test_move_field_of_the_wrong_type_is_refused(odd: Move, field: str) -> None:
    with pytest.raises(LifecycleError) as refused:
        Lifecycle(**declaration(moves=(*MOVES, odd)))

    assert refused.value.code == "bad_type"
    assert f": {field} is " in str(refused.value)


def test_every_field_is_checked() -> None:
    assert set(types.LIFECYCLE) == set(Lifecycle.__struct_fields__)
    assert set(types.STATE) == set(State.__struct_fields__)
    assert set(types.MOVE) == set(Move.__struct_fields__)


def test_row_written_with_something_else_than_a_string_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="'queued, running'"):
        move(["waiting", "working"], "cancel", "broken", by="client")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="is no string"):
        move("waiting", "cancel", "broken", by=("client",))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "wrong",
    [
        {"allow_unusual_lease": "no"},
        {"rerun_failed": 1},
        {"reclaim": None},
        {"accept_amendments": "yes"},
        {"timeouts": [5]},
        {"error_classes": "ValueError"},
        {"retry": 3},
        {"lease_s": "60"},
        {"grace_s": None},
    ],
)
def test_policy_field_of_the_wrong_type_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match=f"{next(iter(wrong))} is ") as refused:
        Policy(**wrong)

    assert refused.value.code == "invalid_argument"


@pytest.mark.parametrize("wrong", [{"jitter": "no"}, {"by_error": []}, {"by_error": {"KeyError": 3}}, {"base_s": "1"}])
def test_retry_field_of_the_wrong_type_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match=f"retry.{next(iter(wrong))}"):
        Retry(**wrong)
