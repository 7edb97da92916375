"""Which events a reader wants. The same here as in the store: what is not given does not matter."""

from typing import Final

from msgspec import Struct

from detent.kernel import Event
from detent.surfaces.http.live.specs import Belonging

Feature = tuple[str, str | None]
EVERYTHING: Final[Feature] = ("", None)


class Filters(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All that are given must match. In this order the first of them is the one that fewest events have."""

    job_id: str | None = None
    correlation_id: str | None = None
    queue: str | None = None
    kind: str | None = None
    type: str | None = None
    verb: str | None = None

    @property
    def leading(self) -> Feature:
        """What every event that matches has: readers are found by it, without being asked one by one."""
        given = [(name, value) for name in self.__struct_fields__ if (value := getattr(self, name)) is not None]
        return given[0] if given else EVERYTHING

    def match(self, event: Event, belonging: Belonging) -> bool:
        return (
            self.job_id in (None, event.job_id)
            and self.correlation_id in (None, event.correlation_id)
            and self.queue in (None, belonging.queue)
            and self.kind in (None, belonging.kind)
            and self.type in (None, event.type)
            and self.verb in (None, event.verb)
        )


def features_of(event: Event, belonging: Belonging) -> tuple[Feature, ...]:
    """By which of them a reader may have been found."""
    return (
        EVERYTHING,
        ("job_id", event.job_id),
        ("correlation_id", event.correlation_id),
        ("queue", belonging.queue),
        ("kind", belonging.kind),
        ("type", event.type),
        ("verb", event.verb),
    )
