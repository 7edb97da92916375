"""When a job is made by itself: the declaration. Who keeps the time is elsewhere."""

import re
from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

from detent.client.schedules import UTC_ZONE
from detent.errors import InvalidArgument, shown
from detent.lifecycle.bounds import check_at_least, check_kind
from detent.store.query import DAY_S

FIELDS: Final = ("minute", "hour", "day", "month", "weekday")
LATE_S_MIN: Final = 10.0  # whoever is on time is a moment late
_FIELD: Final = re.compile(r"[0-9A-Za-z*/,#?-]+")


class Cron(Struct, frozen=True):
    """A cron expression of five fields, and the arguments of the job that is made at each tick.

    `zone` is whose time it is in, such as Europe/Berlin. `late_max_s` is how long after its tick a job may still be
    made, where no worker was there in time: then one is, for the last tick that was missed.
    """

    expression: str
    arguments: Mapping[str, Any] = {}
    zone: str = UTC_ZONE
    late_max_s: float = DAY_S

    def __post_init__(self) -> None:
        fields = self.expression.split() if isinstance(self.expression, str) else []
        if len(fields) != len(FIELDS) or not all(map(_FIELD.fullmatch, fields)):
            order = ", ".join(FIELDS)
            raise InvalidArgument(f"cron is {shown(self.expression)}; give five fields, as '0 3 * * 1': {order}")
        check_kind("zone", self.zone, str)
        check_at_least("late_max_s", self.late_max_s, LATE_S_MIN)
        # Only who has such a job needs a calendar.
        from detent.runtime.calendar import check_cron

        check_cron(self.expression, self.zone)
