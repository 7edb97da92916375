"""From an address to a store: `sqlite:///jobs.db` is a file beside you, `sqlite:////srv/jobs.db` an absolute path,
`postgresql://user@host/database` a database on a server, `https://host` a service (`detent serve`).
"""

import os
import re
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, Final
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from detent.errors import InvalidArgument, shown
from detent.store import Keeping, Store
from detent.store.sqlite import File, SqliteStore

WORKER_CONNECTIONS: Final = 4
_SERVERS: Final = ("postgresql", "postgres")
_SERVICES: Final = ("http", "https")
_TOKEN: Final = "DETENT_TOKEN"
_KEPT: Final[tuple[str, ...]] = ("receipts_s", "verbose_s")
_YEAR_S: Final = 366 * 86_400
_SECRET: Final = re.compile(r"//[^/?#]*@")
_PASSWORD: Final = re.compile(r"(//[^/?#@:]*):[^/?#]*@")
_SECRET_SETTING: Final = re.compile(r"(?<=[?&])(password|sslpassword|passfile|token)=[^&#]*", re.IGNORECASE)
_NUMBER: Final = re.compile(r"[0-9]{1,9}(\.[0-9]{1,9})?")

Check = Callable[[object], Any]  # the value to use, or None if it is not one


def store_of(url: str, settings: Mapping[str, Any], *, create: bool = True, **nature: Any) -> Store:
    """The store that an address names, not yet open. Nothing is looked at or made before it is.

    `nature` is for tests: the store's `clock`, and its `random`.
    """
    try:
        parts = urlsplit(url) if isinstance(url, str) else None
    except ValueError:
        parts = None
    if parts is None:
        raise _bad(url, "is no address")
    if parts.fragment:
        raise _bad(url, "has a #; write it as %23 if it belongs to the name")
    if parts.scheme in _SERVICES:
        return _on_service(url, parts, settings, nature=nature)
    if "token" in settings:
        raise _bad(url, "is no service's, and token= is for those")
    if parts.scheme in _SERVERS:
        return _on_postgres(url, parts, settings, create=create, nature=nature)
    if parts.scheme == "sqlite":
        return _on_sqlite(url, parts, settings, create=create, nature=nature)
    known = f"names a store '{parts.scheme}' that this program does not have" if parts.scheme else "is no address"
    raise _bad(url, known)


def _on_sqlite(
    url: str, parts: SplitResult, settings: Mapping[str, Any], *, create: bool, nature: dict[str, Any]
) -> Store:
    if parts.netloc:
        raise _bad(url, "names a host; a file has three slashes, or four from the root")
    if not url.startswith("sqlite:///"):
        raise _bad(url, "has too few slashes: a file has three, or four from the root")
    path = unquote(parts.path[1:])
    if not path or not path.isprintable():
        raise _bad(url, "names no file")
    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    own, kept = _apart(_settings(url, given | dict(settings), _SQLITE))
    return SqliteStore(File(path, create=create, **own), kept=Keeping(**kept), **nature)


def _on_postgres(
    url: str, parts: SplitResult, settings: Mapping[str, Any], *, create: bool, nature: dict[str, Any]
) -> Store:
    """What is not ours in the address is libpq's, and libpq is asked whether it knows it."""
    if find_spec("psycopg") is None:
        raise _bad(url, "names a PostgreSQL server, and psycopg is not installed; run: pip install 'detent[postgres]'")
    from psycopg import Error, conninfo

    from detent.store.postgres import Address, PostgresStore

    given = parse_qsl(parts.query, keep_blank_values=True)
    ours = {name: value for name, value in given if name in _POSTGRES}
    own, kept = _apart(_settings(url, ours | dict(settings), _POSTGRES))
    theirs = for_libpq(url)
    try:
        conninfo.conninfo_to_dict(theirs)
    except (Error, ValueError) as error:
        raise _bad(url, f"is not understood ({_SECRET.sub('//…@', str(error).strip())})") from None
    return PostgresStore(Address(url=theirs, create=create, **own), kept=Keeping(**kept), **nature)


def _on_service(url: str, parts: SplitResult, settings: Mapping[str, Any], *, nature: dict[str, Any]) -> Store:
    """Whoever serves it has made it: `create` means nothing here. No secret stands in an address, which is logged."""
    if find_spec("urllib3") is None:
        raise _bad(url, "names a service, and urllib3 is not installed; run: pip install 'detent[http]'")
    from detent.store.http import Address, HttpStore

    given = dict(parse_qsl(parts.query, keep_blank_values=True))
    if "@" in parts.netloc or "token" in given:
        raise _bad(url, "has a secret in it; give the token as token=, or in $DETENT_TOKEN")
    if not is_host(parts):
        raise _bad(url, "names no host")
    if nature:
        raise _bad(url, "names a service, which has a clock and dice of its own")
    own = {name: value for name, value in settings.items() if name != "token"}
    checked = _settings(url, given | own, _SERVICE)
    token = settings.get("token") or os.environ.get(_TOKEN) or None
    return HttpStore(Address(url=f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}", token=token, **checked))


def is_host(parts: SplitResult) -> bool:
    """Whether an address names a host that can be connected to, and a port that there can be."""
    try:
        return bool(parts.hostname) and (parts.port is None or parts.port > 0) and parts.netloc.isprintable()
    except ValueError:
        return False


def settings_of_worker(url: str) -> dict[str, Any]:
    """What a worker asks for beyond others, unless the address says otherwise: on a server, a second connection that
    writes, so that it takes jobs while it ends others.
    """
    parts = urlsplit(url)
    is_said = any(name == "connections" for name, _ in parse_qsl(parts.query, keep_blank_values=True))
    return {} if is_said or parts.scheme not in _SERVERS else {"connections": WORKER_CONNECTIONS}


def for_libpq(url: str, more: str = "") -> str:
    """An address without what is ours in it, and with another setting.

    What is left stays as it was written: libpq reads a + as a +, and takes an empty host for a socket.
    """
    head, _, query = url.partition("?")
    kept = [each for each in query.split("&") if each and unquote(each.partition("=")[0]) not in _POSTGRES]
    settings = "&".join([*kept, more] if more else kept)
    return f"{head}?{settings}" if settings else head


def _settings(url: str, given: Mapping[str, Any], known: Mapping[str, tuple[str, Check]]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for name, value in given.items():
        checked = known[name][1](value) if name in known else None
        if checked is None:
            kinds = ", ".join(f"{each}={form}" for each, (form, _) in known.items())
            raise _bad(url, f"has a setting {name}={shown(value)}; there are {kinds}")
        settings[name] = checked
    return settings


def _apart(settings: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Those of the store, and what says how long things are kept."""
    kept = {name: settings.pop(name) for name in _KEPT if name in settings}
    return settings, kept


def _seconds(most: float) -> tuple[str, Check]:
    def check(value: object) -> float | None:
        is_number = isinstance(value, str | int | float) and not isinstance(value, bool)
        text = shown(value) if isinstance(value, int) else str(value)
        return float(text) if is_number and _NUMBER.fullmatch(text) and float(text) <= most else None

    return "SECONDS", check


def _one_of(**values: Any) -> tuple[str, Check]:
    def check(value: object) -> Any:
        return values.get(value) if isinstance(value, str) else None

    return "|".join(values), check


def _number(least: int, most: int) -> tuple[str, Check]:
    def check(value: object) -> int | None:
        text = str(value) if isinstance(value, str | int) and not isinstance(value, bool) else ""
        is_number = text.isascii() and text.isdigit() and len(text) < 10
        return int(text) if is_number and least <= int(text) <= most else None

    return f"{least}..{most}", check


def _switch() -> tuple[str, Check]:
    """In an address it is a word; given as an argument it may be a bool."""
    form, check = _one_of(on=True, off=False)
    return form, lambda value: value if isinstance(value, bool) else check(value)


_SHARED: Final[dict[str, tuple[str, Check]]] = {"busy_s": _seconds(86_400), **dict.fromkeys(_KEPT, _seconds(_YEAR_S))}
_SQLITE: Final = {"synchronous": _one_of(full="full", normal="normal"), **_SHARED}
_POSTGRES: Final = {
    "connections": _number(2, 100),
    "prepare": _switch(),
    "retry_s": _seconds(86_400),
    **_SHARED,
}
_SERVICE: Final = {
    "connections": _number(1, 100),
    "retry_s": _seconds(86_400),
    "timeout_s": _seconds(3_600),
}


def without_secrets(url: str) -> str:
    """For people to read: without the password, if it has one. What is shown ends up in logs."""
    return _SECRET_SETTING.sub(r"\1=…", _PASSWORD.sub(r"\1:…@", url))


def _bad(url: object, what: str) -> InvalidArgument:
    address = _SECRET_SETTING.sub(r"\1=…", _SECRET.sub("//…@", url)) if isinstance(url, str) else url
    message = (
        f"{shown(address)} {what}; use sqlite:///relative.db, sqlite:////absolute.db, "
        "postgresql://host/database or https://host"
    )
    return InvalidArgument(message, code="bad_url")
