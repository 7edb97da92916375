"""Where a bus is: addresses as they are given, checked, and shown. Pure."""

from typing import Final
from urllib.parse import urlsplit

from detent.errors import InvalidArgument

_SCHEMES: Final = ("nats", "tls", "ws", "wss")


def shown_url(url: str) -> str:
    """Without what somebody may have written into it to be let in."""
    return ",".join(_without_secret(each.strip()) for each in url.split(","))


def _without_secret(url: str) -> str:
    scheme, found, rest = url.rpartition("://")
    return f"{scheme}{found}{rest.rpartition('@')[2]}"


def checked_url(url: str) -> str:
    try:
        parts = urlsplit(url if "://" in url else f"nats://{url}")
        is_good = parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_good = False
    if not is_good:
        raise InvalidArgument(f"'{shown_url(url)}' is no address of a bus; use nats://host:4222", code="bad_url")
    return url
