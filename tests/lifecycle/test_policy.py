"""Settings are checked when they are made, and an error names the value, the bound and the remedy."""

import re
from typing import Any

import msgspec
import pytest

from detent.errors import InvalidArgument
from detent.lifecycle import Compensation, Policy, Retry
from detent.lifecycle.bounds import SETTING_ERRORS


def refusal_of(**settings: Any) -> InvalidArgument:
    with pytest.raises(InvalidArgument) as refused:
        Policy(**settings)
    return refused.value


@pytest.mark.requirement("STD-02")
@pytest.mark.parametrize("lease_s", [30, 60.5, 120])
def test_lease_in_the_range_is_accepted(lease_s: float) -> None:
    assert Policy(lease_s=lease_s).lease_s == lease_s


@pytest.mark.requirement("STD-02")
@pytest.mark.parametrize("lease_s", [29.9, 120.1, 1, 86_400])
def test_lease_outside_the_range_is_refused_unless_explicitly_allowed(lease_s: float) -> None:
    refusal = refusal_of(lease_s=lease_s)

    assert refusal.code == "lease_out_of_range"
    assert "30 to 120 s" in str(refusal)
    assert "allow_unusual_lease=True" in str(refusal)
    assert Policy(lease_s=lease_s, allow_unusual_lease=True).lease_s == lease_s


@pytest.mark.parametrize("lease_s", [0, -1, float("nan"), float("inf")])
def test_lease_that_is_no_length_of_time_is_never_allowed(lease_s: float) -> None:
    assert refusal_of(lease_s=lease_s, allow_unusual_lease=True).code == "invalid_argument"


@pytest.mark.requirement("STD-03")
@pytest.mark.parametrize(("lease_s", "heartbeat_s"), [(30, 15), (50, 25), (60, 30), (120, 30)])
def test_heartbeat_defaults_to_half_the_lease_and_at_most_thirty_seconds(lease_s: float, heartbeat_s: float) -> None:
    assert Policy(lease_s=lease_s).heartbeat_s == heartbeat_s


@pytest.mark.requirement("STD-03")
def test_two_heartbeats_must_fit_into_a_lease() -> None:
    refusal = refusal_of(lease_s=30, heartbeat_s=16)

    assert refusal.code == "heartbeat_too_long"
    assert "heartbeat_s <= 15" in str(refusal)


@pytest.mark.requirement("STD-03")
@pytest.mark.parametrize("heartbeat_s", [9, 31])
def test_heartbeat_outside_the_range_is_refused_unless_explicitly_allowed(heartbeat_s: float) -> None:
    assert refusal_of(lease_s=120, heartbeat_s=heartbeat_s).code == "heartbeat_out_of_range"
    assert Policy(lease_s=120, heartbeat_s=heartbeat_s, allow_unusual_lease=True).heartbeat_s == heartbeat_s


@pytest.mark.parametrize(
    "settings",
    [
        {"timeout_s": 0},
        {"timeouts": {"queued": -1}},
        {"grace_s": -1},
        {"aging_s": -1},
        {"timeout_s": float("nan")},
    ],
)
def test_other_bounds_are_kept_too(settings: dict[str, Any]) -> None:
    refusal = refusal_of(**settings)

    assert refusal.code == "invalid_argument"
    assert next(iter(settings)) in str(refusal)


@pytest.mark.parametrize(
    "settings",
    [{"max_attempts": 0}, {"base_s": -1}, {"factor": 0.5}, {"max_s": -1}, {"crashes_max": 0}, {"used_up": "ignore"}],
)
def test_retry_out_of_bounds_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match=f"retry.{next(iter(settings))}"):
        Retry(**settings)


@pytest.mark.requirement("STD-05")
def test_delay_grows_by_the_factor_up_to_the_maximum() -> None:
    retry = Retry(base_s=0.5, factor=2, max_s=60, jitter=False)

    assert [retry.delay_s(losses, 0.0) for losses in (1, 2, 3, 7, 8, 9, 10_000)] == [0.5, 1, 2, 32, 60, 60, 60]


@pytest.mark.requirement("STD-05")
def test_jitter_takes_at_most_half_of_the_delay_away() -> None:
    retry = Retry(base_s=4, factor=2, max_s=60)

    assert [retry.delay_s(1, random) for random in (0.0, 0.5, 1.0)] == [2, 3, 4]


@pytest.mark.requirement("DOC-03")
def test_fixed_delay_stays_the_same() -> None:
    retry = Retry.fixed(delay_s=1, max_attempts=4)

    assert [retry.delay_s(losses, 0.3) for losses in (1, 2, 3)] == [1, 1, 1]


def test_error_type_may_have_a_policy_of_its_own() -> None:
    slow = Retry(base_s=30)

    assert Retry(by_error={"QuotaExceeded": slow}).for_error("QuotaExceeded") is slow
    assert Retry.never().for_error("QuotaExceeded").max_attempts == 1


def test_every_code_of_a_setting_has_a_meaning() -> None:
    codes = {
        refusal_of(lease_s=5).code,
        refusal_of(lease_s=30, heartbeat_s=16).code,
        refusal_of(lease_s=120, heartbeat_s=5).code,
        refusal_of(grace_s=-1).code,
    }

    assert codes == set(SETTING_ERRORS)


# -- compensation ----------------------------------------------------------------------------------------------------


@pytest.mark.requirement("STD-19")
@pytest.mark.parametrize(
    ("declared", "remedy"),
    [
        ({"kind": ""}, "compensate.kind is empty"),
        ({"kind": "a\0b"}, "printable"),
        ({"kind": "x" * 256}, "at most 255"),
        ({"kind": 5}, "compensate.kind is 5; give a str"),
        ({"kind": "undo", "queue": ""}, "compensate.queue is empty"),
        ({"kind": "undo", "lifecycle": None}, "compensate.lifecycle is None; give a str"),
        ({"kind": "undo", "lifecycle_version": 0}, "compensate.lifecycle_version is 0"),
        ({"kind": "undo", "policy": 5}, "compensate.policy is 5; give a Policy"),
        ({"kind": "undo", "policy": Policy(compensate=Compensation(kind="v"))}, "a compensation is not undone"),
    ],
)
def test_compensation_that_could_not_be_made_is_refused_when_it_is_declared(
    declared: dict[str, Any], remedy: str
) -> None:
    with pytest.raises(InvalidArgument, match=re.escape(remedy)):
        Compensation(**declared)


@pytest.mark.requirement("STD-19")
def test_compensation_has_none_of_its_own() -> None:
    refusal = refusal_of(compensate=Compensation(kind="undo"), is_compensation=True)

    assert "a compensation is not undone" in str(refusal)
    assert "give a Compensation" in str(refusal_of(compensate="undo"))


@pytest.mark.requirement("STD-19", "ALL-14")
def test_settings_without_a_compensation_are_kept_as_they_were_before_there_was_any() -> None:
    """Stores keep settings once, by their content: a new word in it would make them others."""
    assert msgspec.json.encode(Policy(lease_s=90)) == b'{"lease_s":90,"heartbeat_s":30.0}'


@pytest.mark.requirement("STD-19")
def test_compensation_is_kept_with_the_settings_of_its_job() -> None:
    undo = Compensation(kind="undo", queue="slow", lifecycle="document", policy=Policy(lease_s=90))
    policy = Policy(compensate=undo)

    assert msgspec.json.decode(msgspec.json.encode(policy), type=Policy) == policy
