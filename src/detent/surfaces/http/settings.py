"""How a service behaves: what it accepts, how much of it, and for how long it waits."""

from typing import Final

from msgspec import Struct

from detent.lifecycle.bounds import check_at_least, check_more_than_zero, check_whole
from detent.store import Retention
from detent.surfaces.http.live.settings import LiveSettings

_MEGABYTE: Final = 1_048_576


class Settings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`body_bytes_max` bounds a request, `bodies_bytes_max` all of them under way, `receipt_s` how long one may take to
    arrive. `rate_max` is how many requests a token may make in a second, on average; up to `burst_max` at once.
    `streams_max` bounds live readers, `waiting_max` claims that wait for work, `connections_max` everything.
    `wait_s_max` is how long a claim may wait at most.

    `heartbeat_s`: how often a live reader hears something, and its token is looked at again. `hosts`: by which names
    the service is known beside those of loopback; where nobody is asked who they are, it answers to no other.

    `reconcile_s`: how often it does what time demands; None: others do. `is_read_only`: nothing can be changed.
    `redact` are names of fields whose values are not shown in events and logs, beside those that always are.
    `live`: the bounds of what is kept for live readers.
    """

    is_authenticating: bool = True
    is_read_only: bool = False
    body_bytes_max: int = 16 * _MEGABYTE
    bodies_bytes_max: int = 256 * _MEGABYTE
    receipt_s: float = 15.0
    rate_max: float = 1_000.0
    burst_max: int = 2_000
    connections_max: int = 2_000
    streams_max: int = 1_000
    waiting_max: int = 1_000
    wait_s_max: float = 60.0
    heartbeat_s: float = 10.0
    hosts: tuple[str, ...] = ()
    drain_s: float = 10.0
    reconcile_s: float | None = 1.0
    retention: Retention | None = Retention()
    redact: tuple[str, ...] = ()
    live: LiveSettings = LiveSettings()

    def __post_init__(self) -> None:
        for name in ("body_bytes_max", "burst_max", "connections_max", "streams_max", "waiting_max"):
            check_whole(name, getattr(self, name), least=1, most=2**31)
        # Less, and one body could be too much for the share of its tenant, however often it is sent.
        least = 2 * self.body_bytes_max
        check_whole("bodies_bytes_max", self.bodies_bytes_max, least=least, most=2**40)
        for name in ("receipt_s", "rate_max", "wait_s_max", "heartbeat_s"):
            check_more_than_zero(name, getattr(self, name))
        check_at_least("drain_s", self.drain_s, 0)
