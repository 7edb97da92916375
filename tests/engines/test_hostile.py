"""Messages that are wrong, too large, too many or forged: they are refused, and nobody else notices."""

import base64
import json
import os
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import urllib3

from tests.engines.playing import KIND, Puppet, scene
from tests.surfaces.http.process import WAIT_S, Service, Services, until

Engines = Callable[[], Puppet]
REGISTER = {"engineId": "e", "jobTypes": [KIND]}


@pytest.mark.parametrize(
    ("event", "data"),
    [
        ("register", {}), ("register", []), ("register", "x"), ("register", REGISTER | {"capacity": -1}),
        ("register", REGISTER | {"capacity": 10**9}), ("register", REGISTER | {"capacity": 1.5}),
        ("register", REGISTER | {"jobTypes": []}), ("register", REGISTER | {"jobTypes": ["x"] * 101}),
        ("register", REGISTER | {"engineId": ""}), ("register", REGISTER | {"engineId": "x" * 300}),
        ("register", REGISTER | {"engineId": "a\nb"}), ("register", REGISTER | {"engineId": "語" * 250}),
        ("register", REGISTER | {"jobTypes": ["a\nb"]}), ("register", REGISTER | {"queues": ["\x1b"]}),
        ("register", REGISTER | {"adapters": ["a\nb"]}), ("register", REGISTER | {"version": "\x1b[31m"}),
        ("register", REGISTER | {"queues": [7]}), ("register", REGISTER | {"colour": "red"}),
        ("job_ack", {}), ("job_ack", {"jobId": None}), ("job_ack", {"jobId": "x", "more": 1}),
        ("job_progress", {"jobId": "x", "progress": 101}), ("job_progress", {"jobId": "x", "progress": "half"}),
        ("job_failed", {"jobId": "x"}), ("job_failed", {"jobId": "x", "error": "e", "category": "queue"}),
        ("job_started", {"jobId": "x", "attempt": -1}), ("job_started", {"jobId": "x", "attempt": 2**70}),
        ("heartbeat", {"capacity": "many"}), ("watch", {"after": "\u0000"}), ("watch", {"after": "no cursor"}),
        ("", {}), ("on_connect", {}), ("__class__", {}), ("trigger_event", {}),
    ],
)  # fmt: skip
def test_wrong_message_is_refused_with_a_code(service: Service, engine: Engines, event: str, data: Any) -> None:
    one = engine().connected(service.token)
    answer = one.ask(event, data)

    assert answer["accepted"] is False
    assert answer["code"] != "internal_error"
    assert one.registered("after that")["accepted"]


def test_job_that_was_not_offered_is_not_given(service: Service, engine: Engines) -> None:
    busy, idle = engine().connected(service.token), engine().connected(service.token)
    busy.registered("busy")
    idle.registered("idle", capacity=0)
    job_id = scene(service)
    refused = idle.ask("job_ack", {"jobId": job_id})
    busy.took(job_id)

    assert (refused["accepted"], refused["code"]) == (False, "not_offered")
    busy.ask("job_started", {"jobId": job_id})
    busy.ask("job_complete", {"jobId": job_id})


def test_job_that_is_not_on_offer_cannot_be_rejected(service: Service, engine: Engines) -> None:
    one = engine().connected(service.token)
    one.registered("picky")
    job_id = scene(service)
    one.took(job_id)
    answers = [one.ask("job_reject", {"jobId": each}) for each in (job_id, "none")]

    assert [answer["code"] for answer in answers] == ["not_offered", "not_offered"]
    one.ask("job_started", {"jobId": job_id})
    assert one.ask("job_complete", {"jobId": job_id})["accepted"]


def test_engine_does_not_speak_for_another(service: Service, engine: Engines) -> None:
    mine, other = engine().connected(service.token), engine().connected(service.token)
    mine.registered("mine")
    job_id = scene(service)
    mine.took(job_id)
    other.registered("other")
    said = [
        ("job_started", {"jobId": job_id, "attempt": 1}),
        ("job_complete", {"jobId": job_id, "attempt": 1}),
        ("job_failed", {"jobId": job_id, "attempt": 1, "error": "x"}),
        ("job_progress", {"jobId": job_id, "attempt": 1, "progress": 1}),
    ]
    codes = {other.ask(*each)["code"] for each in said}

    assert codes <= {"not_owner", "illegal_move"}
    assert service.state(job_id) == "dispatched"
    mine.ask("job_started", {"jobId": job_id})
    assert mine.ask("job_complete", {"jobId": job_id})["accepted"]


def test_secrets_and_forged_lines_do_not_reach_the_log(tmp_path: Path) -> None:
    with Services(tmp_path).running() as service:
        with raw(service) as line:
            line.say('40/engine,{"token":"hunter2\\nforged"}')
            line.say('42/engine,["hunter2\\u001b[31m\\nforged"]')
            line.say("garbage hunter2\nforged")
            line.say('42/engine,"hunter2"')
            line.say("4" + "9" * 50)
        _, log = service.stopped()

    assert "hunter2" not in log
    assert "forged" not in log
    assert "Traceback" not in log


class Line:
    """A connection that speaks WebSocket by hand, and says what a client never would."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection

    def say(self, text: str | bytes) -> None:
        data, code = (text.encode(), 1) if isinstance(text, str) else (text, 2)
        mask = os.urandom(4)
        head = bytes([0x80 | code]) + (
            bytes([0x80 | len(data)]) if len(data) < 126 else b"\xff" + struct.pack(">Q", len(data))
        )
        self._connection.sendall(head + mask + bytes(byte ^ mask[place % 4] for place, byte in enumerate(data)))

    def until(self, text: bytes) -> bytes:
        said = b""
        while text not in said:
            part = self.heard()
            assert part, said
            said += part
        return said

    def heard(self) -> bytes:
        self._connection.settimeout(WAIT_S)
        try:
            return self._connection.recv(65_536)
        except OSError:
            return b""


@contextmanager
def raw(service: Service) -> Iterator[Line]:
    connection = socket.create_connection(("127.0.0.1", service.port), timeout=WAIT_S)
    key = base64.b64encode(os.urandom(16)).decode()
    head = [
        "GET /socket.io/?EIO=4&transport=websocket HTTP/1.1", f"host: 127.0.0.1:{service.port}", "upgrade: websocket",
        "connection: Upgrade", f"sec-websocket-key: {key}", "sec-websocket-version: 13",
    ]  # fmt: skip
    connection.sendall("\r\n".join([*head, "", ""]).encode())
    with connection:
        line = Line(connection)
        assert b"101" in line.heard()
        yield line


def is_well(service: Service) -> bool:
    return service.ask("GET", "/v1/session")[0] == 200


@pytest.mark.parametrize(
    "said",
    [
        '42/engine,["heartbeat"]', '41/engine,', "45999-/engine,[]", b"\x00" * 100, "4", "9", "42", '42/engine,{}',
        "40/other,", "40/engine," + "[" * 100_000, "42/engine,[1]", '43/engine,7["x"]', "2probe", "1", "6",
    ],
    ids=range(15),
)  # fmt: skip
def test_anything_may_come_over_the_line(service: Service, said: str | bytes) -> None:
    with raw(service) as line:
        line.say(said)
        line.say('40/engine,{"token":"x"}')

    assert is_well(service)


def test_names_of_the_librarys_own_are_no_way_in(service: Service) -> None:
    with raw(service) as line:
        line.say(f'40/engine,{{"token":"{service.token}"}}')
        line.say('42/engine,1["connect",{"REMOTE_ADDR":"elsewhere"},{"token":"x"}]')
        said = line.until(b"43/engine,1")
        line.say('42/engine,2["disconnect"]')
        line.say('42/engine,3["heartbeat"]')

    assert b"unknown_message" in said
    assert is_well(service)


def test_message_that_is_too_large_ends_the_connection(service: Service) -> None:
    with raw(service) as line:
        line.say("4" + "2" * 2_000_000)
        while line.heard():
            continue

    assert is_well(service)


def test_message_with_an_attachment_is_refused_and_what_comes_after_it_is_heard(service: Service) -> None:
    with raw(service) as line:
        line.say(f'40/engine,{{"token":"{service.token}"}}')
        line.until(b"40/engine,")
        line.say('451-/engine,1["job_complete",{"jobId":"x","result":{"_placeholder":true,"num":0}}]')
        line.say(b"\x00" * 100)
        refused = line.until(b"43/engine,1")
        line.say('42/engine,2["heartbeat"]')
        line.until(b"43/engine,2")

    assert b'"code":"invalid_argument"' in refused
    assert b"job_complete came with an attachment" in refused


def test_body_that_is_too_large_is_not_read(service: Service) -> None:
    http = urllib3.PoolManager(retries=False)
    opened = http.request("GET", f"{service.url}/socket.io/?EIO=4&transport=polling").data
    sid = json.loads(opened[1:])["sid"]
    answer = http.request(
        "POST", f"{service.url}/socket.io/?EIO=4&transport=polling&sid={sid}", body=b"4" + b"2" * 2_000_000
    )

    assert answer.status == 413
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_who_does_not_say_who_it_is_has_to_go(service: Service) -> None:
    with raw(service) as line:
        until(lambda: not line.heard())

    assert is_well(service)
