"""How a service treats engines: how many there may be, how long an offer stands, what is emitted."""

from msgspec import Struct

from detent.lifecycle.bounds import check_more_than_zero, check_whole


class EngineSettings(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`offer_s`: how long an offer stands; then another engine gets it. `passed_s`: for how long an engine is not
    offered again what it has let pass. `poll_s`: how often work is looked for that brings no news of itself.

    `connect_s`: how long somebody may be connected without having said who it is. `emits_legacy`: telemetry that used
    to have another name is emitted under both.
    """

    engines_max: int = 1_000
    offer_s: float = 5.0
    passed_s: float = 10.0
    poll_s: float = 0.5
    connect_s: float = 10.0
    message_bytes_max: int = 1_048_576
    emits_legacy: bool = False

    def __post_init__(self) -> None:
        check_whole("engines_max", self.engines_max, least=1, most=2**31)
        check_whole("message_bytes_max", self.message_bytes_max, least=1_024, most=2**31)
        for name in ("offer_s", "passed_s", "poll_s", "connect_s"):
            check_more_than_zero(name, getattr(self, name))
