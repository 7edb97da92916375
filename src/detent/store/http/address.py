"""Where a service is, who asks it, and with how much patience."""

import re
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct

from detent.errors import InvalidArgument

PORTS: Final = {"http": 80, "https": 443}
_TOKEN: Final = re.compile(r"[!-~]{1,512}")  # what can stand in a header


class Address(Struct, frozen=True, kw_only=True):
    """`url` is the address without settings. `timeout_s` bounds a connection and an answer; `retry_s` is how long a
    service may be out of reach, or too busy; `connections` is how many calls are under way at once.
    """

    url: str
    token: str | None = None
    timeout_s: float = 30.0
    retry_s: float = 10.0
    connections: int = 8

    def __post_init__(self) -> None:
        if self.timeout_s <= 0:
            raise InvalidArgument("timeout_s is 0; give the service some time to answer")
        if self.token is not None and not (isinstance(self.token, str) and _TOKEN.fullmatch(self.token)):
            message = "the token is none: it is a text such as dt_ID_SECRET, without spaces"
            raise InvalidArgument(f"{message}; give it as it was printed, as token= or in $DETENT_TOKEN")

    @property
    def scheme(self) -> str:
        return urlsplit(self.url).scheme

    @property
    def host(self) -> str:
        return urlsplit(self.url).hostname or ""

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or PORTS[self.scheme]

    @property
    def prefix(self) -> str:
        """The path under which the service is."""
        return urlsplit(self.url).path.rstrip("/")

    def credentials(self) -> dict[str, str]:
        """What says who asks."""
        return {} if self.token is None else {"authorization": f"Bearer {self.token}"}

    def __repr__(self) -> str:
        """Without the token: this may go to a log."""
        return f"<Address {self.url}>"

    def __rich_repr__(self) -> list[tuple[str, Any]]:
        return [("url", self.url)]
