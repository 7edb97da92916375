"""A lifecycle as plain data: every way from one state to another has its own entry."""

import msgspec
import pytest

from detent.lifecycle import SAME, Lifecycle, move
from detent.lifecycle.describe import describe
from detent.lifecycles import BUILT_IN, CONTRACT, STANDARD
from tests.lifecycle.broken import OFF
from tests.lifecycle.declarations import with_rows


def test_description_has_the_published_shape() -> None:
    described = describe(STANDARD)

    assert list(described) == ["name", "version", "states", "moves"]
    assert (described["name"], described["version"]) == ("standard", 1)
    assert described["states"][0] == {"name": "queued", "phase": "ready"}
    assert described["moves"][0] == {
        "verb": "enqueue", "from": None, "to": "queued", "by": ["client"], "recovery": False,
    }  # fmt: skip
    assert {
        "verb": "retry",
        "from": "running",
        "to": "queued",
        "by": ["reconciler", "scheduler"],
        "recovery": True,
    } in (described["moves"])


@pytest.mark.parametrize("lifecycle", BUILT_IN.values(), ids=list(BUILT_IN))
def test_description_lists_no_move_twice_and_leaves_none_out(lifecycle: Lifecycle) -> None:
    moves = describe(lifecycle)["moves"]

    keys = [(row["verb"], row["from"], row["to"]) for row in moves]
    assert len(set(keys)) == len(keys)
    assert {(row["from"], row["verb"]) for row in moves if row["from"]} == {
        (state, verb) for state, verbs in lifecycle.table.allowed.items() for verb in verbs
    }


@pytest.mark.requirement("ALL-17")
def test_description_lists_the_implied_cancel_request_of_leased_states() -> None:
    requests = [row for row in describe(STANDARD)["moves"] if row["verb"] == "request_cancel"]

    assert [(row["from"], row["to"]) for row in requests] == [("assigned", "assigned"), ("running", "running")]
    assert requests[0]["by"] == ["client", "operator", "policy", "owner", "reconciler"]


@pytest.mark.requirement("ALL-17")
def test_declared_cancel_request_is_listed_once_with_its_own_roles() -> None:
    rows = (OFF, move("working", "cancel", "off", by="client"), move("working", "request_cancel", SAME, by="operator"))

    requests = [row for row in describe(Lifecycle(**with_rows(*rows)))["moves"] if row["verb"] == "request_cancel"]
    assert [row["by"] for row in requests] == [["operator"]]


def test_lifecycle_without_cancel_has_no_cancel_request() -> None:
    assert "request_cancel" not in {row["verb"] for row in describe(CONTRACT)["moves"]}


@pytest.mark.parametrize("lifecycle", BUILT_IN.values(), ids=list(BUILT_IN))
def test_description_is_json(lifecycle: Lifecycle) -> None:
    assert msgspec.json.decode(msgspec.json.encode(describe(lifecycle))) == describe(lifecycle)
