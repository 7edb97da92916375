"""Definitions by name and version; a version never changes, and a later one only adds."""

import pytest

from detent.errors import LifecycleError, NotFound
from detent.lifecycle import Lifecycle, State, move
from detent.lifecycle.registry import Registry, removed_by
from detent.lifecycles import BUILT_IN
from tests.lifecycle.declarations import declaration, with_rows

TINY = Lifecycle(**declaration())
LOST = move("working", "fail", "lost", by="owner")


@pytest.mark.requirement("ALL-14")
def test_same_version_with_other_content_is_refused() -> None:
    registry = Registry(TINY)

    with pytest.raises(LifecycleError, match="make this one version 2") as refused:
        registry.register(Lifecycle(**with_rows(move("working", "fail", "broken", by="owner"))))

    assert refused.value.code == "lifecycle_conflict"
    assert registry.get("tiny") == TINY


@pytest.mark.requirement("ALL-14")
def test_registering_the_same_content_again_changes_nothing() -> None:
    registry = Registry(TINY)
    registry.register(Lifecycle(**declaration(summary="in other words")))

    assert registry.get("tiny") is TINY


@pytest.mark.requirement("ALL-14")
def test_version_is_found_by_its_number_and_the_latest_without() -> None:
    second = Lifecycle(**declaration(version=2, requires_rev=True))
    registry = Registry(second, TINY)

    assert registry.get("tiny", 1) is TINY
    assert registry.get("tiny") is second


@pytest.mark.parametrize(("name", "version"), [("nope", None), ("tiny", 9)])
def test_unknown_lifecycle_is_not_found_and_the_known_ones_are_named(name: str, version: int | None) -> None:
    with pytest.raises(NotFound, match="known: tiny") as missed:
        Registry(TINY).get(name, version)

    assert missed.value.code == "not_found"


@pytest.mark.requirement("STD-21")
def test_later_version_that_only_adds_takes_nothing_away() -> None:
    later = Lifecycle(**with_rows(State("lost", "ended", "failure"), LOST, version=2))

    assert removed_by(TINY, later) == []


@pytest.mark.requirement("STD-21")
def test_state_and_move_that_a_version_drops_are_named() -> None:
    earlier = Lifecycle(**with_rows(State("lost", "ended", "failure"), LOST))

    assert removed_by(earlier, TINY) == ["state 'lost'", "'fail' from 'working' to 'lost'"]


@pytest.mark.requirement("STD-21")
def test_built_in_lifecycles_are_at_version_one() -> None:
    assert {lifecycle.version for lifecycle in BUILT_IN.values()} == {1}
