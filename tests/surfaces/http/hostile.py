"""What a hostile caller sends: nasty values wherever a value goes, and requests with bytes knocked out of place."""

import random
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote

import msgspec

from detent.surfaces.http.route import Route
from detent.surfaces.http.routes import ROUTES
from tests.surfaces.http.asking import LEAST
from tests.surfaces.http.raw import head
from tests.surfaces.http.serving import Served

TEXTS: Final = (
    "", " ", "\x00", "a\x00b", "\r\n", "a\r\nX-Evil: 1", "\x1b[2J", "\u202e\u2066", "\ufeff", "\u2028", "\U0001f600",
    "null", "true", "NaN", "-0", "1e400", "0x10", "٣", "½", "../../etc/passwd", "..%2f", "%00", "%", "%zz", "%ff",
    "';drop table detent_jobs;--", '" or 1=1', "${jndi:ldap://x}", "{{7*7}}", "<script>", "file:///etc/passwd", "*",
    "x" * 255, "x" * 256, "x" * 5_000, "é" * 320, "\U0001f600" * 160, "\U0001f600" * 255, "9" * 400, "-" * 50,
    "2026-02-30T00:00:00Z", "9999-12-31T23:59:59.999999999Z", "0000-00-00T00:00:00Z", "2026-01-01T00:00:60Z",
    "9999-12-31T23:59:59+00:01", "0001-01-01T00:00:00+14:00",
)  # fmt: skip
VALUES: Final[tuple[Any, ...]] = (
    *TEXTS, None, True, False, 0, -1, 1, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1, -(2**63), 0.0, -0.0, 1e308,
    5e-324, 1.5, [], {}, [None], [[]], {"": ""}, {"a": {"b": []}}, ["x"] * 200, [["x"] * 3], {"verb": "enqueue"}, [{}],
    [0, "a"],
    {f"k{number}": "v" for number in range(100)}, {"type": "E", "message": "x" * 100_000}, {"fraction": "NaN"},
    {"lease_s": -1}, {"retry": {"max_attempts": -1}}, {"retry": {"by_error": {"E": {"by_error": {}}}}},
)  # fmt: skip
BYTES: Final = (
    b"\x00",
    b"\xff",
    b"\r\n",
    b"\n",
    b'"',
    b"\\",
    b"{",
    b"[",
    b"}",
    b"%",
    b" ",
    b"\xed\xa0\x80",
    b":",
    b",",
    b"9" * 30,
)
HEADERS: Final = (
    "Detent-Tenant",
    "If-Match",
    "If-None-Match",
    "Idempotency-Key",
    "Last-Event-ID",
    "Accept",
    "Content-Type",
)
_encode: Final = msgspec.json.Encoder().encode


class Question(msgspec.Struct, frozen=True):
    method: str
    path: str
    headers: dict[str, str]
    body: bytes | None


def questions(service: Served, chance: random.Random, count: int) -> Iterator[Question]:
    """About a job that is there, more often than not."""
    job_id = service.job()["id"]
    for _ in range(count):
        yield _question(chance, job_id)


def _question(chance: random.Random, job_id: str) -> Question:
    route = chance.choice(ROUTES)
    names = {name: _name(chance, job_id) for name in route.parameters}
    headers = {chance.choice(HEADERS): _header(chance)} if chance.random() < 0.3 else {}
    if headers.get("Accept", "").startswith("text/event"):
        headers = {}
    return Question(route.method, route.path.format_map(names) + _query(route, chance), headers, _body(route, chance))


def _name(chance: random.Random, job_id: str) -> str:
    return job_id if chance.random() < 0.5 else quote(chance.choice([text for text in TEXTS if text]), safe="%")


def _header(chance: random.Random) -> str:
    text = chance.choice(TEXTS)[:300].replace("\r", "").replace("\n", "").replace("\x00", "")
    return text.encode().decode("latin-1")


def _query(route: Route, chance: random.Random) -> str:
    if route.query is None:
        return "" if chance.random() < 0.9 else f"?{quote(chance.choice(TEXTS))}=1"
    fields = [name for name in route.query.__struct_fields__ if name != "wait_s"]
    given = chance.sample(fields, min(len(fields), chance.randint(0, 2)))
    return "?" + "&".join(f"{name}={quote(chance.choice(TEXTS), safe='%')}" for name in given)


def _body(route: Route, chance: random.Random) -> bytes | None:
    if route.body is None:
        return None
    fields = [name for name in route.body.__struct_fields__ if name != "wait_s"]
    said: dict[str, Any] = dict(LEAST.get(route.name, {"kind": "k"} if route.name == "enqueue" else {}))
    if route.name in ("batch", "pace"):
        said["requests"] = [{chance.choice(("verb", "job_id", "worker", "error", "payload")): _value(chance)}]
    for name in chance.sample(fields, chance.randint(1, min(3, len(fields)))):
        said[name] = _value(chance)
    return _encode(said)


def _value(chance: random.Random) -> Any:
    value = chance.choice(VALUES)
    return [value, chance.choice(VALUES)] if chance.random() < 0.2 else value


def scrambled(service: Served, chance: random.Random) -> bytes:
    """A good request in which some bytes were changed, added, lost or doubled."""
    body = _encode({"kind": "k", "payload": {"a": [1, 2.5, "ü", None]}, "run_at": "2030-01-01T00:00:00Z"})
    lines = (f"Content-Length: {len(body)}", "Content-Type: application/json", "Connection: close")
    data = bytearray(head(service, "POST", "/v1/jobs", *lines) + body)
    for _ in range(chance.randint(1, 4)):
        _spoil(data, chance)
    return bytes(data)


def _spoil(data: bytearray, chance: random.Random) -> None:
    at = chance.randrange(len(data))
    match chance.randrange(4):
        case 0:
            data[at] = chance.randrange(256)
        case 1:
            data[at:at] = chance.choice(BYTES)
        case 2:
            del data[at : at + chance.randint(1, 20)]
        case _:
            data[at:at] = data[at : at + 30]
