"""When a job is made by itself: the declaration. Who keeps the time is elsewhere."""

import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from detent.errors import InvalidArgument, shown

FIELDS: Final = ("minute", "hour", "day", "month", "weekday")
_FIELD: Final = re.compile(r"[0-9A-Za-z*/,#?-]+")


class Cron(Struct, frozen=True):
    """A cron expression of five fields, in UTC, and the arguments of the job that is made at each tick."""

    expression: str
    arguments: Mapping[str, Any] = {}

    def __post_init__(self) -> None:
        fields = self.expression.split() if isinstance(self.expression, str) else []
        if len(fields) != len(FIELDS) or not all(map(_FIELD.fullmatch, fields)):
            order = ", ".join(FIELDS)
            raise InvalidArgument(f"cron is {shown(self.expression)}; give five fields, as '0 3 * * 1': {order}")
