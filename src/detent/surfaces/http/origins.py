"""Where nobody is asked who they are, whoever can reach the port can do anything: so can a web page, in the browser of
somebody on the same machine. Pure.

A page of another site says so itself (`Origin`, `Sec-Fetch-Site`). One that has made its own name point to this machine
(DNS rebinding) is known by that name (`Host`), since the service answers to the names of loopback alone.
"""

from collections.abc import Collection
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from detent.errors import ServiceError

_LOCAL: Final = "localhost"
_OWN_SITES: Final = ("same-origin", "none")  # none: typed in, or from a bookmark


def check_local(headers: Headers, hosts: Collection[str]) -> None:
    """`hosts`: by which other names the service is known."""
    named = _name(f"//{headers.get('host', '')}")
    if named is None or not _is_own(named, hosts):
        raise ServiceError("foreign_origin", "the service is not known by this name; ask for localhost, or use a token")
    origin = headers.get("origin")
    if origin is not None and not _is_own(_name(origin), hosts):
        raise ServiceError("foreign_origin", "a page of another site asks; let it use a token and a service of its own")
    if headers.get("sec-fetch-site", "none") not in _OWN_SITES:
        raise ServiceError("foreign_origin", "a page of another site asks; let it use a token and a service of its own")


def _name(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None


def _is_own(name: str | None, hosts: Collection[str]) -> bool:
    return name is not None and (name == _LOCAL or name in hosts or _is_loopback(name))


def _is_loopback(name: str) -> bool:
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False
