"""Bodies that are too large, too deep, too slow, packed, or not what they say they are."""

import gzip
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Final

import pytest

from detent.errors import InvalidArgument
from detent.surfaces.http.settings import Settings
from tests.surfaces.http.raw import Line, exchanged, head, status
from tests.surfaces.http.serving import Served, served

BODY_MAX: Final = 50_000


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("strict"), body_bytes_max=BODY_MAX, reconcile_s=None) as service:
        yield service


@pytest.fixture
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("hasty"), receipt_s=0.5, reconcile_s=None) as service:
        yield service


def with_payload(payload: bytes) -> bytes:
    return b'{"kind":"k","payload":' + payload + b"}"


HOSTILE: Final = {
    "nested 100,000 deep": (with_payload(b"[" * 100_000 + b"]" * 100_000), 422, "value_too_deep"),
    "nested 100,000 deep, unclosed": (with_payload(b'{"a":' * 100_000), 422, "value_too_deep"),
    "payload nested 300 deep": (with_payload(b"[" * 300 + b"]" * 300), 422, "value_too_deep"),
    "a million digits": (with_payload(b"9" * 1_000_000), 422, "invalid_argument"),
    "number beyond float": (with_payload(b"1e999"), 422, "invalid_argument"),
    "NaN": (with_payload(b"NaN"), 400, "bad_json"),
    "Infinity": (with_payload(b"-Infinity"), 400, "bad_json"),
    "lone surrogate": (with_payload(rb'"\ud800"'), 400, "bad_json"),
    "surrogate halves swapped": (with_payload(rb'"\udc00\ud800"'), 400, "bad_json"),
    "no UTF-8": (with_payload(b'"\xff\xfe"'), 400, "bad_json"),
    "NUL in a name": (rb'{"kind":"a\u0000b"}', 422, "invalid_argument"),
    "raw NUL": (b'{"kind":"a\x00b"}', 400, "bad_json"),
    "bidi in a name": ('{"kind":"a\u202eb"}'.encode(), 422, "invalid_argument"),
    "line break in a name": (rb'{"kind":"a\r\nb"}', 422, "invalid_argument"),
    "empty name": (b'{"kind":""}', 422, "invalid_argument"),
    "name of 256 characters": (b'{"kind":"' + b"x" * 256 + b'"}', 422, "invalid_argument"),
    "name of 255 wide characters": (('{"kind":"' + "\U0001f600" * 255 + '"}').encode(), 422, "invalid_argument"),
    "two bodies": (b'{"kind":"a"}{"kind":"b"}', 400, "bad_json"),
    "byte order mark": (b'\xef\xbb\xbf{"kind":"a"}', 400, "bad_json"),
    "UTF-16": ('{"kind":"a"}'.encode("utf-16"), 400, "bad_json"),
    "a list": (b"[]", 422, "invalid_argument"),
    "null": (b"null", 422, "invalid_argument"),
    "trailing comma": (b'{"kind":"a",}', 400, "bad_json"),
    "comment": (b'{"kind":"a"/*x*/}', 400, "bad_json"),
    "cut off": (b'{"kind":"a', 400, "bad_json"),
    "__proto__": (b'{"kind":"a","__proto__":{}}', 422, "invalid_argument"),
    "priority too large": (b'{"kind":"a","priority":99999999999999999999}', 422, "invalid_argument"),
    "priority is true": (b'{"kind":"a","priority":true}', 422, "invalid_argument"),
    "moment without a zone": (b'{"kind":"a","run_at":"2026-01-01T00:00:00"}', 422, "bad_moment"),
    "moment that is none": (b'{"kind":"a","run_at":"soon"}', 422, "invalid_argument"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_body_is_refused_with_its_code(service: Served, name: str) -> None:
    body, wanted, code = HOSTILE[name]

    answer = service.ask("POST", "/v1/jobs", body=body)

    assert (answer.status, answer.code) == (wanted, code)
    assert len(answer.body) < 2_000


@pytest.mark.parametrize("text", [r"\u0000", "\u202e", "é", "\U0001f600", r"\u001b[31m", "\u2028"])
def test_payload_of_any_text_comes_back_as_it_was(service: Served, text: str) -> None:
    made = service.ask("POST", "/v1/jobs", body=with_payload(f'"{text}"'.encode()))

    again = service.ask("GET", f"/v1/jobs/{made.said['id']}")

    assert made.status == 201
    assert again.said["payload"] == made.said["payload"]


def test_of_a_key_given_twice_the_last_counts(service: Served) -> None:
    assert service.ask("POST", "/v1/jobs", body=b'{"kind":"a","kind":"b"}').said["kind"] == "b"


@pytest.mark.parametrize(
    "media", ["text/plain", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data", "", "json"]
)
def test_only_json_is_taken(service: Served, media: str) -> None:
    answer = service.ask("POST", "/v1/jobs", {"kind": "k"}, headers={"content-type": media})

    assert (answer.status, answer.code) == (415, "unsupported_media")


def test_json_may_name_its_charset(service: Served) -> None:
    headers = {"content-type": "Application/JSON; charset=utf-8"}

    assert service.ask("POST", "/v1/jobs", {"kind": "k"}, headers=headers).status == 201


@pytest.mark.parametrize("packing", ["gzip", "deflate", "br", "gzip, identity"])
def test_packed_body_is_never_unpacked(service: Served, packing: str) -> None:
    bomb = gzip.compress(b" " * 50_000_000)

    answer = service.ask("POST", "/v1/jobs", body=bomb, headers={"content-encoding": packing})

    assert (answer.status, answer.code) == (415, "unsupported_media")


def test_too_large_a_body_is_refused_by_its_length_alone(strict: Served) -> None:
    """Nothing of it has been sent yet."""
    answer = exchanged(strict, head(strict, "POST", "/v1/jobs", f"Content-Length: {BODY_MAX + 1}"))

    assert status(answer) == 413
    assert b'"code":"message_too_large"' in answer


@pytest.mark.parametrize("length", ["99999999999999999999999", "-1", "1e3", "+5", "5, 6", "٣"])
def test_length_that_is_none_is_refused(strict: Served, length: str) -> None:
    answer = exchanged(strict, head(strict, "POST", "/v1/jobs", f"Content-Length: {length}"))

    assert status(answer) in (400, 413)


def test_body_in_chunks_is_counted_as_it_comes(strict: Served) -> None:
    line = Line(strict)
    line.say(head(strict, "POST", "/v1/jobs", "Transfer-Encoding: chunked", "Content-Type: application/json"))
    chunk = b"1000\r\n" + b" " * 4096 + b"\r\n"
    line.say(chunk * (BODY_MAX // 4096 + 1))

    assert status(line.answer()) == 413
    line.close()


def test_bodies_under_way_have_a_bound_that_all_share(tmp_path: Path) -> None:
    bounds = {"body_bytes_max": BODY_MAX, "bodies_bytes_max": 2 * BODY_MAX}
    with served(tmp_path, reconcile_s=None, **bounds) as service, ExitStack() as stack:
        token = service.new_token("submit", tenant="other").text
        asked = head(service, "POST", "/v1/jobs", f"Content-Length: {BODY_MAX}", "Content-Type: application/json")
        slow = stack.enter_context(closing(Line(service)))
        slow.say(asked + b" " * (BODY_MAX - 1))
        service.until(lambda: len(service.service.load) == BODY_MAX - 1)
        body = b'{"kind":"k"}'.ljust(BODY_MAX)

        refused = service.ask("POST", "/v1/jobs", body=body)
        other = service.ask("POST", "/v1/jobs", body=body, token=token)
        slow.say(b" ")
        late = slow.answer()
        service.until(lambda: len(service.service.load) == 0)

        assert (refused.status, refused.code, refused.headers["retry-after"]) == (503, "too_much_arriving", "1")
        assert (other.status, status(late)) == (201, 400)
        assert service.ask("POST", "/v1/jobs", body=body).status == 201


def test_bound_of_all_bodies_has_room_for_each() -> None:
    with pytest.raises(InvalidArgument, match="bodies_bytes_max"):
        Settings(body_bytes_max=BODY_MAX, bodies_bytes_max=BODY_MAX)


def test_body_at_the_bound_is_taken(strict: Served) -> None:
    body = b'{"kind":"k"}'.ljust(BODY_MAX)

    assert strict.ask("POST", "/v1/jobs", body=body).status == 201
    assert strict.ask("POST", "/v1/jobs", body=body + b" ").code == "message_too_large"


def test_body_that_dawdles_is_not_waited_for(hasty: Served) -> None:
    line = Line(hasty)
    line.say(head(hasty, "POST", "/v1/jobs", "Content-Length: 40000", "Content-Type: application/json"))
    line.trickle(b" ")

    answer = line.answer()
    assert status(answer) == 408
    assert b'"code":"receipt_timed_out"' in answer
    line.close()


def test_too_many_verbs_at_once_are_refused(service: Served) -> None:
    answer = service.ask("POST", "/v1/batch", {"requests": [{}] * 10_001})

    assert (answer.status, answer.code) == (422, "invalid_argument")


def test_too_many_ids_at_once_are_refused(service: Served) -> None:
    for path in ("/v1/lookups", "/v1/purges", "/v1/dead-letters/redrive"):
        assert service.ask("POST", path, {"job_ids": ["x"] * 1_001}).status == 422
