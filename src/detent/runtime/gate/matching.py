"""Which jobs a rule is about: what it says of them has to be so, all of it. Pure."""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Protocol

from msgspec import Struct

ANYTHING: Final = "*"  # as the value of an env key: it is there, whatever it says
PATTERNS_MAX: Final = 1_024


class Judged(Protocol):
    """What rules look at of a job: a view of one, or a made-up one that is to be tried."""

    @property
    def tenant(self) -> str: ...
    @property
    def topic(self) -> str | None: ...
    @property
    def kind(self) -> str: ...
    @property
    def queue(self) -> str: ...
    @property
    def adapter_id(self) -> str | None: ...
    @property
    def priority(self) -> int: ...
    @property
    def env(self) -> dict[str, str]: ...


class Match(Struct, frozen=True, kw_only=True):
    """One of the values each; none given: it does not matter. All keys of `env` have to be there.

    In a topic `*` stands for one word between dots, and a last `>` for the rest, as in bus subjects.
    """

    tenant: tuple[str, ...] = ()
    topic: tuple[str, ...] = ()
    kind: tuple[str, ...] = ()
    queue: tuple[str, ...] = ()
    adapter_id: tuple[str, ...] = ()
    priority: tuple[int, ...] = ()
    priority_min: int | None = None
    priority_max: int | None = None
    env: Mapping[str, tuple[str, ...]] = {}

    def fits(self, job: Judged) -> bool:
        return (
            _is_one(self.tenant, job.tenant)
            and _is_one(self.kind, job.kind)
            and _is_one(self.queue, job.queue)
            and _is_one(self.adapter_id, job.adapter_id)
            and _is_one(self.priority, job.priority)
            and (self.priority_min is None or job.priority >= self.priority_min)
            and (self.priority_max is None or job.priority <= self.priority_max)
            and (not self.topic or any(is_subject(each, job.topic) for each in self.topic))
            and all(_has(values, job.env.get(key)) for key, values in self.env.items())
        )


def is_subject(pattern: str, topic: str | None) -> bool:
    return topic is not None and _compiled(pattern).fullmatch(topic) is not None


@lru_cache(PATTERNS_MAX)
def _compiled(pattern: str) -> re.Pattern[str]:
    words = pattern.split(".")
    rest = words[-1] == ">"
    parts = [r"[^.]+" if word == "*" else re.escape(word) for word in (words[:-1] if rest else words)]
    return re.compile(r"\.".join([*parts, ".+"] if rest else parts), re.DOTALL)


def _is_one(values: tuple[object, ...], value: object) -> bool:
    return not values or value in values


def _has(values: tuple[str, ...], value: str | None) -> bool:
    return value is not None and (ANYTHING in values or value in values)
