"""What was refused is told on the bus, where nobody gets an answer, and in the log. So often, and no oftener."""

import logging
from time import monotonic
from typing import Final

from detent.errors import DetentError, Refused, ServiceError
from detent.lifecycle.bounds import NAME_CHARS_MAX
from detent.surfaces.bus.link import Link
from detent.surfaces.bus.packets import Packet, message
from detent.surfaces.bus.subjects import ALERT
from detent.surfaces.http.rating import Rates
from detent.surfaces.http.telling import escaped
from detent.wire.bounds import TEXT_CHARS_MAX, clip

RATE_MAX: Final = 10.0  # alerts a second
BURST_MAX: Final = 50
_SHOWN_CHARS_MAX: Final = 500
_ALL: Final = "alerts"  # whoever caused them
log: Final = logging.getLogger("detent.bus")


class Alerts:
    """A sender that goes on sending what is refused fills neither the log nor the bus: what is left out is counted, and
    the next alert says how many.
    """

    def __init__(self, link: Link) -> None:
        self._link = link
        self._rates = Rates(rate_max=RATE_MAX, burst_max=BURST_MAX, clock=monotonic)
        self._left_out = 0

    async def tell(self, refused: DetentError, level: int, trace_id: str, **details: str) -> None:
        """`level` is the log's."""
        try:
            self._rates.take(_ALL)
        except ServiceError:
            self._left_out += 1
            return
        if self._left_out:
            details["left_out"] = str(self._left_out)
        told = ", ".join(f"{name} {escaped(value, 64)}" for name, value in details.items())
        log.log(level, "%s: %s", _shown(refused), told)
        try:
            await self._say(refused, trace_id, details)
        except ServiceError as trouble:  # it is in the log, and nothing else is to suffer
            log.warning("an alert could not be sent: %s", trouble)
        else:
            self._left_out = 0

    async def _say(self, refused: DetentError, trace_id: str, details: dict[str, str]) -> None:
        bounded = {name: clip(value, NAME_CHARS_MAX) for name, value in details.items()}
        told = Packet(clip(trace_id, NAME_CHARS_MAX), self._link.settings.name, "alert", self._alert(refused, bounded))
        await self._link.say(ALERT, told)

    def _alert(self, refused: DetentError, details: dict[str, str]) -> object:
        return message(
            "SystemAlert", level="WARNING", message=str(refused)[:TEXT_CHARS_MAX], code=refused.code,
            component=self._link.settings.name, details=details,
        )  # fmt: skip


def _shown(wrong: DetentError) -> str:
    """With its code, which a refusal has in its words."""
    said = str(wrong) if isinstance(wrong, Refused) else f"{wrong} ({wrong.code})"
    return escaped(said, _SHOWN_CHARS_MAX).replace(r"\x20", " ")
