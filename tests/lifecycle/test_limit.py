"""A limit is checked when it is made, and is kept with the policy."""

from typing import Any

import msgspec
import pytest

import detent
from detent.errors import InvalidArgument
from detent.lifecycle import Limit, Policy


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({}, "limit limits nothing; give it concurrency_max=, rate_max= or both"),
        ({"per_s": 5}, "limit limits nothing"),
        ({"concurrency_max": 0}, "limit.concurrency_max is 0; give a whole number from 1"),
        ({"concurrency_max": True}, "limit.concurrency_max is True"),
        ({"concurrency_max": 2.5}, "limit.concurrency_max is 2.5"),
        ({"rate_max": -1}, "limit.rate_max is -1"),
        ({"rate_max": 1, "per_s": 0}, "limit.per_s is 0; it must be more than 0"),
        ({"rate_max": 1, "per_s": float("nan")}, "limit.per_s is nan; give a finite number"),
    ],
)
def test_limit_that_makes_no_sense_is_refused(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        Limit(**settings)

    assert said in str(refused.value)


def test_policy_takes_a_limit_and_nothing_else_for_one() -> None:
    with pytest.raises(InvalidArgument, match="limit is 5; give a Limit"):
        Policy(limit=5)  # type: ignore[arg-type]

    assert Policy(limit=detent.Limit(rate_max=3)).limit == Limit(rate_max=3, per_s=60)


def test_policy_is_the_same_after_it_was_written_and_read() -> None:
    policy = Policy(limit=Limit(concurrency_max=2, rate_max=3, per_s=0.5))

    assert msgspec.json.decode(msgspec.json.encode(policy), type=Policy) == policy
    assert b"limit" not in msgspec.json.encode(Policy())
