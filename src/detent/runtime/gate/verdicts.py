"""What a policy answers: a verdict, and the rule that gave it."""

from typing import Any, Final, get_args

from msgspec import Struct

from detent.errors import InvalidArgument, PolicyError, shown
from detent.kernel.command import Verdict as Word
from detent.lifecycle.bounds import check_at_least, check_kind, check_more_than_zero, check_name, check_whole

WORDS: Final[tuple[Word, ...]] = get_args(Word)
RATE_MAX: Final = 1_000_000
_HOW: Final = "give 'allow', 'deny', 'hold' or 'throttle', with the rule's name behind it in a tuple, or a Verdict"


class Verdict(Struct, frozen=True):
    """`verdict` is allow, deny, hold or throttle; `rule` says why, on the record: by default the policy's own name.

    What is throttled becomes claimable after `delay_s`; or in turn, so that of all jobs of this rule at most `rate_max`
    do within `per_s`, evenly spaced, however many workers there are.
    """

    verdict: Word
    rule: str | None = None
    delay_s: float = 0.0
    rate_max: int | None = None
    per_s: float = 60.0

    def __post_init__(self) -> None:
        if self.verdict not in WORDS:
            raise InvalidArgument(f"verdict is {shown(self.verdict)}; give one of {', '.join(WORDS)}")
        if self.rule is not None:
            check_kind("rule", self.rule, str)
            check_name("rule", self.rule)
        check_at_least("delay_s", self.delay_s, 0)
        check_more_than_zero("per_s", self.per_s)
        if self.rate_max is not None:
            check_whole("rate_max", self.rate_max, least=1, most=RATE_MAX)
        _check_throttle(self)

    @property
    def every_s(self) -> float | None:
        """How far apart a rate keeps its jobs."""
        return None if self.rate_max is None else self.per_s / self.rate_max


def _check_throttle(verdict: Verdict) -> None:
    is_delayed, is_paced = verdict.delay_s > 0, verdict.rate_max is not None
    if verdict.verdict != "throttle" and (is_delayed or is_paced):
        raise InvalidArgument(f"verdict is '{verdict.verdict}'; delay_s and rate_max are for 'throttle' only")
    if verdict.verdict == "throttle" and is_delayed == is_paced:
        raise InvalidArgument("'throttle' needs delay_s, in seconds, or rate_max with per_s; give one of the two")


def verdict_of(answer: Any, policy: str) -> Verdict:
    """What a function returned: a Verdict, a word, or a tuple of the word, the rule and the delay."""
    try:
        if isinstance(answer, Verdict):
            return answer
        if isinstance(answer, str):
            return Verdict(answer)  # type: ignore[arg-type]  # which it checks
        if isinstance(answer, tuple) and 1 <= len(answer) <= 3:
            return Verdict(*answer)
    except InvalidArgument as wrong:
        raise PolicyError(f"policy '{policy}' returned {shown(answer)}: {wrong}") from wrong
    raise PolicyError(f"policy '{policy}' returned {shown(answer)}, which is no verdict; {_HOW}")
