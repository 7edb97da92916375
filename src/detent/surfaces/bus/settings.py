"""How a service is on a bus: where, whose jobs they are, which topics are pools, and how long a job of one may take."""

import tomllib
from pathlib import Path
from typing import Any, Final, Self

import msgspec
from msgspec import Struct

from detent.client.arguments import check_text_name
from detent.errors import InvalidArgument
from detent.lifecycle import Policy, Retry
from detent.lifecycle.bounds import check_more_than_zero, check_whole
from detent.surfaces.bus.signing import Keys, private_key, public_key
from detent.surfaces.bus.subjects import Topics, is_subject

IN_FLIGHT_MOST: Final = 10_000
RUN_LIMIT_S_MAX: Final = 7 * 86_400
LEASE_MARGIN_S: Final = 60.0  # a run limit is over before the lease is


class BusSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`name` is who the service is on the bus: the sender of its packets, and how its streams are called.

    `topics` are patterns of what it publishes to. `run_limit_s`: how long a job may take from when it was published,
    and again from when it is known to run; `limits` has other ones by topic. `in_flight_max`: how many jobs a pool may
    have at once that says nothing of its capacity; if it is not set, that follows from its answers. `key` signs what is
    sent; with `keys`, by sender, only what those have signed is believed. `rules`: the policy's file, without which the
    rule `default` allows every job. `credentials`: a file of NATS.
    """

    name: str = "detent"
    tenant: str = "default"
    topics: tuple[str, ...] = ("job.>",)
    run_limit_s: float = 3_600.0
    limits: dict[str, float] = {}
    in_flight_max: int | None = None
    rules: str | None = None
    credentials: str | None = None
    key: str | None = None
    keys: dict[str, str] | None = None

    def __post_init__(self) -> None:
        if not is_subject(self.name) or "." in self.name:
            raise InvalidArgument(f"name is {self.name[:64]!r}; use one word, it is part of subjects")
        check_text_name("tenant", self.tenant)
        if self.in_flight_max is not None:
            check_whole("in_flight_max", self.in_flight_max, least=1, most=IN_FLIGHT_MOST)
        for what, limit_s in {"run_limit_s": self.run_limit_s, **self.limits}.items():
            check_more_than_zero(what, limit_s)
            if limit_s > RUN_LIMIT_S_MAX:
                raise InvalidArgument(f"{what} is {limit_s:g}; give at most {RUN_LIMIT_S_MAX} s")
        topics = Topics(self.topics)
        for topic in self.limits:
            if topic not in topics:
                message = (
                    f"limits has {topic[:64]!r}, which is no topic of this bus; name each as it is, without wildcards"
                )
                raise InvalidArgument(message, code="bad_topic")
        if self.name in {root.split(".")[0] for root in topics.roots}:
            raise InvalidArgument(f"name is {self.name!r}, with which topics begin; what goes out would come back")

    @classmethod
    def read(cls, path: Path) -> Self:
        """From a file in TOML. Keys are looked for beside it."""
        try:
            given = tomllib.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise InvalidArgument(f"'{path}' cannot be read: {error.strerror}") from None
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as wrong:
            raise InvalidArgument(f"'{path}' is no TOML: {wrong}") from None
        try:
            return msgspec.convert(_beside(path.parent, given), cls)
        except msgspec.ValidationError as wrong:
            raise InvalidArgument(f"'{path}': {wrong}") from wrong

    def limit_s(self, topic: str) -> float:
        return self.limits.get(topic, self.run_limit_s)

    @property
    def window_s(self) -> float:
        """For how long it is remembered what was published: as long as a job may wait to be started."""
        return max(self.run_limit_s, *self.limits.values(), 0) + 2 * LEASE_MARGIN_S

    def policy_of(self, topic: str) -> Policy:
        """Workers of a pool report neither leases nor starts: the lease lasts as long as the job may take."""
        limit_s = self.limit_s(topic)
        lease_s = limit_s + LEASE_MARGIN_S
        return Policy(
            lease_s=lease_s, heartbeat_s=lease_s / 2, allow_unusual_lease=True, timeout_s=limit_s,
            timeouts={"DISPATCHED": limit_s}, retry=Retry.never(),
        )  # fmt: skip

    def check_files(self) -> None:
        if self.credentials is not None and not Path(self.credentials).is_file():
            raise InvalidArgument(f"there is no file of credentials '{self.credentials}'", code="bad_key")

    def loaded_keys(self) -> Keys:
        known = None if self.keys is None else {sender: public_key(Path(path)) for sender, path in self.keys.items()}
        own = None if self.key is None else private_key(Path(self.key))
        if known is not None:
            if own is None:
                raise InvalidArgument("there are keys of others and no key of its own; give key, too", code="bad_key")
            known.setdefault(self.name, own.public_key())
        return Keys(own, known)


def _beside(folder: Path, given: dict[str, Any]) -> dict[str, Any]:
    """With the paths of files as seen from where the settings are."""
    for name in ("key", "credentials", "rules"):
        if isinstance(given.get(name), str):
            given[name] = str(folder / given[name])
    if isinstance(given.get("keys"), dict):
        given["keys"] = {
            who: str(folder / path) if isinstance(path, str) else path for who, path in given["keys"].items()
        }
    return given
