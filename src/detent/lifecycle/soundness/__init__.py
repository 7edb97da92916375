"""The check every lifecycle passes when it is made. Each rule yields problems that name the state and the remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from detent.errors import InvalidArgument, LifecycleError
from detent.lifecycle.problems import Problem
from detent.lifecycle.soundness import answers, moves, paths, states, types, words
from detent.lifecycle.soundness.graph import edges

if TYPE_CHECKING:
    from detent.lifecycle.lifecycle import Lifecycle
    from detent.lifecycle.policy import Policy

    Rule = Callable[[Lifecycle], Iterator[Problem]]

__all__ = ["check", "check_policy", "edges"]

# A later group assumes what the earlier ones established.
GROUPS: Final[tuple[tuple[Rule, ...], ...]] = (
    types.RULES,
    words.RULES,
    (*states.RULES, *moves.RULES),
    (*answers.RULES, *paths.RULES),
)


def check(lifecycle: Lifecycle) -> None:
    """Raise with every problem of the first group that finds any."""
    for group in GROUPS:
        problems = [found for rule in group for found in rule(lifecycle)]
        if problems:
            raise LifecycleError(str(lifecycle.name), problems)


def check_policy(lifecycle: Lifecycle, policy: Policy) -> None:
    """Refuse a job's own time limits on states that are not there, or that have no answer to them."""
    for name in policy.timeouts:
        if name not in lifecycle.by_name:
            known = ", ".join(lifecycle.by_name)
            message = f"timeouts names '{name}', which is no state of lifecycle '{lifecycle.name}'; use one of {known}"
            raise InvalidArgument(message, code="unknown_state")
    found = next(answers.unanswered_limits(lifecycle, policy), None)
    if found is not None:
        code, message = found
        raise InvalidArgument(f"lifecycle '{lifecycle.name}': {message}", code=code)
