"""What a job type may configure: lease, heartbeat, run limit, grace, retry, compensation. Checked when it is made."""

from functools import cached_property
from math import log
from typing import Final, Literal, Self

from msgspec import Struct
from msgspec.structs import force_setattr

from detent.errors import InvalidArgument
from detent.lifecycle.bounds import (
    HEARTBEAT_S_MAX,
    check_at_least,
    check_heartbeat,
    check_kind,
    check_lease,
    check_more_than_zero,
    check_name,
    check_whole,
    check_word,
)
from detent.lifecycle.limit import Limit
from detent.lifecycle.words import KNOWN_TYPES

VERSION_MAX: Final = 2**31 - 1
UNIT_S: Final = 1e-6  # the smallest time there is; a shorter wait is none and does not grow


class Retry(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """How often, and after what delay, a job is tried again.

    `max_attempts` bounds failures and crashes together; `crashes_max` may bound crashes lower.
    `by_error` gives an error type a policy of its own; `used_up` says how a job ends whose failures are used up.
    """

    max_attempts: int = 5
    base_s: float = 0.5
    factor: float = 2.0
    max_s: float = 60.0
    jitter: bool = True
    crashes_max: int | None = None
    used_up: Literal["dead_letter", "fail"] = "dead_letter"
    by_error: dict[str, "Retry"] = {}

    def __post_init__(self) -> None:
        check_kind("retry.jitter", self.jitter, bool)
        check_kind("retry.by_error", self.by_error, dict)
        for error, own in self.by_error.items():
            check_word("retry.by_error", error)
            check_kind(f"retry.by_error[{error!r}]", own, Retry)
        check_at_least("retry.max_attempts", self.max_attempts, 1)
        check_at_least("retry.base_s", self.base_s, 0)
        check_at_least("retry.factor", self.factor, 1)
        check_at_least("retry.max_s", self.max_s, 0)
        if self.crashes_max is not None:
            check_at_least("retry.crashes_max", self.crashes_max, 1)
        if self.used_up not in ("dead_letter", "fail"):
            raise InvalidArgument(f"retry.used_up is {self.used_up!r}; use 'dead_letter' or 'fail'")

    @classmethod
    def fixed(cls, *, delay_s: float, max_attempts: int) -> Self:
        return cls(max_attempts=max_attempts, base_s=delay_s, factor=1.0, max_s=delay_s, jitter=False)

    @classmethod
    def never(cls) -> Self:
        return cls(max_attempts=1)

    def for_error(self, error_type: str) -> "Retry":
        return self.by_error.get(error_type, self)

    def delay_s(self, losses: int, random: float) -> float:
        """The wait after the given number of failures and crashes. Jitter takes at most half of it away."""
        full = self._full_s(max(losses - 1, 0))
        return full * (0.5 + random / 2) if self.jitter else full

    def _full_s(self, steps: int) -> float:
        """Whether it has grown to `max_s` is told by logarithms: no number of steps then overflows a float."""
        if self.base_s >= self.max_s:
            return self.max_s
        if self.base_s < UNIT_S:
            return self.base_s
        is_grown = steps * log(self.factor) >= log(self.max_s / self.base_s)
        return self.max_s if is_grown else self.base_s * self.factor**steps


class Compensation(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """How to undo the work of a job that ended without success after having run: by a job of this kind.

    Without a queue it waits in the job's own. Its `policy` may be left to its lifecycle's defaults.
    """

    kind: str
    queue: str | None = None
    lifecycle: str = "standard"
    lifecycle_version: int = 1
    policy: "Policy | None" = None

    def __post_init__(self) -> None:
        for field in ("kind", "queue", "lifecycle"):
            value = getattr(self, field)
            if value is not None or field != "queue":
                check_kind(f"compensate.{field}", value, str)
                check_name(f"compensate.{field}", value)
        check_whole("compensate.lifecycle_version", self.lifecycle_version, least=1, most=VERSION_MAX)
        if self.policy is not None:
            check_kind("compensate.policy", self.policy, Policy)
            if self.policy.compensate is not None:
                raise InvalidArgument("compensate.policy has a compensate of its own; a compensation is not undone")


# What is no number. A string for a flag would count as True, whatever it says.
_FLAGS: Final = ("allow_unusual_lease", "rerun_failed", "reclaim", "accept_amendments", "is_compensation")
_KINDS: Final[tuple[tuple[str, type], ...]] = (
    *((name, bool) for name in _FLAGS),
    *((name, dict) for name in ("timeouts", "error_classes")),
    ("retry", Retry),
)


class Policy(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, dict=True):
    """One job type's settings. A job keeps its own copy, so a later change of the type does not rewrite its rules.

    `timeout_s` limits the time in an active state, `timeouts` the time in any named state; both override the lifecycle.
    `rerun_failed` matters where a lifecycle has no way back: a failed job is then run again as a new, linked one.
    `compensate` says how its work is undone. `is_compensation` marks a job that undoes its parent's; it is set on those
    that come of a `compensate`. `limit` is shared by all jobs of a limit key, or of the kind.
    """

    lease_s: float = 60.0
    heartbeat_s: float = 0.0  # 0: half the lease, at most 30 s
    allow_unusual_lease: bool = False
    timeout_s: float | None = None
    timeouts: dict[str, float] = {}
    grace_s: float = 30.0
    retry: Retry = Retry()
    rerun_failed: bool = False
    reclaim: bool = False
    accept_amendments: bool = False
    aging_s: float = 60.0
    error_classes: dict[str, str] = {}
    compensate: Compensation | None = None
    is_compensation: bool = False
    limit: Limit | None = None

    def __post_init__(self) -> None:
        for name, kind in _KINDS:
            check_kind(name, getattr(self, name), kind)
        check_lease(self.lease_s, allow_unusual=self.allow_unusual_lease)
        if not self.heartbeat_s:
            force_setattr(self, "heartbeat_s", min(HEARTBEAT_S_MAX, self.lease_s / 2))
        check_heartbeat(self.heartbeat_s, lease_s=self.lease_s, allow_unusual=self.allow_unusual_lease)
        if self.timeout_s is not None:
            check_more_than_zero("timeout_s", self.timeout_s)
        for error, kind_ in self.error_classes.items():
            check_word("error_classes", error)
            if kind_ not in KNOWN_TYPES:
                known = ", ".join(KNOWN_TYPES)
                raise InvalidArgument(f"error_classes maps {error!r} to {kind_!r}; use one of {known}")
        for state, timeout_s in self.timeouts.items():
            check_word("timeouts", state)
            check_more_than_zero(f"timeouts[{state!r}]", timeout_s)
        check_at_least("grace_s", self.grace_s, 0)
        check_at_least("aging_s", self.aging_s, 0)
        if self.limit is not None:
            check_kind("limit", self.limit, Limit)
        if self.compensate is not None:
            check_kind("compensate", self.compensate, Compensation)
            if self.is_compensation:
                raise InvalidArgument("is_compensation is set beside compensate; a compensation is not undone")

    @cached_property
    def lease_terms(self) -> tuple[int, int]:
        """In microseconds: how long a lease lasts, and after how long two heartbeats are missed."""
        return round(self.lease_s * 1_000_000), round(2 * self.heartbeat_s * 1_000_000)
