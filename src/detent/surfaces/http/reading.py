"""From a request to what it asks, within bounds: how large, how deep, how long it takes to arrive, and JSON only."""

import asyncio
from typing import Any, Final, get_args, get_origin

import msgspec
from msgspec import Struct
from starlette.requests import ClientDisconnect, Request

from detent.errors import InvalidArgument, ServiceError, shown
from detent.surfaces.http.load import Add
from detent.surfaces.http.settings import Settings

_JSON: Final = "application/json"
_NULL: Final = "null"  # which msgspec takes for None in a query; there, None is what is not said
QUERY_CHARS_MAX: Final = 16_384


async def body_of(request: Request, settings: Settings, add: Add) -> bytes:
    """The whole of it. One that is too large is not read to its end, and one that dawdles not waited for. `add` is told
    of each part, and may refuse it.
    """
    _check_head(request, settings)
    try:
        async with asyncio.timeout(settings.receipt_s):
            return await _received(request, settings.body_bytes_max, add)
    except TimeoutError:
        message = f"the request did not arrive within {settings.receipt_s:g} s; send it again"
        raise ServiceError("receipt_timed_out", message) from None
    except ClientDisconnect:
        raise ServiceError("receipt_timed_out", "the caller has gone") from None


def _check_head(request: Request, settings: Settings) -> None:
    length = request.headers.get("content-length")
    if length is not None and length.isdigit() and int(length[:20]) > settings.body_bytes_max:
        raise _too_large(settings.body_bytes_max)
    if request.headers.get("content-encoding", "identity") != "identity":
        raise ServiceError("unsupported_media", "bodies are not unpacked here; send it without Content-Encoding")


async def _received(request: Request, most: int, add: Add) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in request.stream():
        size += len(part)
        if size > most:
            raise _too_large(most)
        add(len(part))
        parts.append(part)
    return b"".join(parts)


def decoded(raw: bytes, kind: Any, request: Request) -> Any:
    """What a body says, in the type that the route asks for. No body at all says nothing: `{}`."""
    if raw:
        media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media != _JSON:
            raise ServiceError("unsupported_media", f"the body is to be {_JSON}, and is called {media[:64]!r}")
    try:
        return msgspec.json.decode(raw or b"{}", type=kind)
    except msgspec.ValidationError as wrong:
        raise InvalidArgument(f"the body is not as it should be: {wrong}") from None
    except (msgspec.DecodeError, UnicodeDecodeError) as wrong:
        raise InvalidArgument(f"the body is not JSON: {wrong}", code="bad_json") from None
    except RecursionError:
        raise InvalidArgument("the body is nested too deep; flatten it", code="value_too_deep") from None


def header_of(request: Request, name: str) -> str | None:
    """Text in UTF-8, as everywhere: names may have any characters."""
    given = request.headers.get(name)
    if given is None or given.isascii():
        return given
    try:
        return given.encode("latin-1").decode()
    except UnicodeDecodeError:
        raise InvalidArgument(f"{name} is not in UTF-8") from None


def query_of(request: Request, kind: type[Struct] | None) -> Any:
    """What the address says after its question mark. A name that is not known is refused, and so is one too many."""
    given = request.query_params.multi_items()
    if len(request.url.query) > QUERY_CHARS_MAX:
        raise InvalidArgument(f"the query has more than {QUERY_CHARS_MAX} characters; send less of it")
    if kind is None:
        if given:
            raise InvalidArgument(f"there is no parameter {shown(given[0][0])} here; leave it out")
        return None
    lists = {each.name for each in msgspec.structs.fields(kind) if _is_list(each.type)}
    texts = {each.name for each in msgspec.structs.fields(kind) if _is_text(each.type)}
    values: dict[str, Any] = {}
    for name, value in given:
        if name in lists:
            values.setdefault(name, []).extend(value.split(","))
        elif name in values:
            raise InvalidArgument(f"{name} is given twice; give it once")
        elif value.lower() == _NULL and name not in texts:
            raise InvalidArgument(f"{name} is {value}; leave it out, if you mean nothing by it")
        else:
            values[name] = value
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as wrong:
        raise InvalidArgument(f"the query is not as it should be: {wrong}") from None


def _is_text(kind: Any) -> bool:
    return str in (kind, *get_args(kind))


def _is_list(kind: Any) -> bool:
    return get_origin(kind) is list


def _too_large(most: int) -> ServiceError:
    return ServiceError("message_too_large", f"a request has at most {most:,} bytes; send less at a time")
