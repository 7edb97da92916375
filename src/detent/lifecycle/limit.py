"""How many jobs of a limit key may be leased at once, and how many claimed in a while. Checked when it is made."""

from typing import Final

from msgspec import Struct

from detent.errors import InvalidArgument
from detent.lifecycle.bounds import check_more_than_zero, check_whole

COUNT_MAX: Final = 1_000_000


class Limit(Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True):
    """Of the jobs that share a limit key, across all machines: at most `concurrency_max` are leased at any moment, and
    at most `rate_max` are claimed in any `per_s` seconds. What is not given is not limited.
    """

    concurrency_max: int | None = None
    rate_max: int | None = None
    per_s: float = 60.0

    def __post_init__(self) -> None:
        if self.concurrency_max is None and self.rate_max is None:
            raise InvalidArgument("limit limits nothing; give it concurrency_max=, rate_max= or both")
        for name in ("concurrency_max", "rate_max"):
            value = getattr(self, name)
            if value is not None:
                check_whole(f"limit.{name}", value, least=1, most=COUNT_MAX)
        check_more_than_zero("limit.per_s", self.per_s)

    @property
    def per_us(self) -> int:
        return max(round(self.per_s * 1_000_000), 1)
