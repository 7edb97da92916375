"""What a request is told that is cut off when the service ends: to ask again only if nothing can have come of it."""

import asyncio
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from detent.client import connect
from detent.surfaces.http.service import Service
from detent.surfaces.http.serving import Cut


@pytest.mark.parametrize(
    ("method", "length", "has_arrived", "code"),
    [
        ("POST", b"2", True, "outcome_unknown"),
        ("POST", b"2", False, "closing"),
        ("GET", None, True, "closing"),
        ("DELETE", None, None, "outcome_unknown"),
        ("POST", b"0", None, "outcome_unknown"),
        ("POST", b"2", None, "closing"),
        ("GET", None, None, "closing"),
    ],
)
def test_only_what_cannot_have_been_carried_out_is_to_be_asked_again(
    method: str, length: bytes | None, has_arrived: bool | None, code: str
) -> None:
    """`has_arrived` None: nobody has asked for a body."""
    sent = asyncio.run(_cut_off(method, length, has_arrived=has_arrived))

    names = {name for name, _ in sent[0]["headers"]}
    assert (sent[0]["status"], f'"code":"{code}"'.encode() in sent[1]["body"]) == (503, True)
    assert (b"retry-after" in names) == (code == "closing")
    assert b"x-content-type-options" in names


async def _cut_off(method: str, length: bytes | None, *, has_arrived: bool | None) -> list[Any]:
    service = Service(connect("sqlite:///never-opened.db"))
    reached = asyncio.Event()
    sent: list[Any] = []

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        while has_arrived is not None and (await receive()).get("more_body"):
            reached.set()
            await asyncio.Event().wait()
        reached.set()
        await asyncio.Event().wait()

    async def receive() -> Message:
        return {"type": "http.request", "body": b"{}", "more_body": not has_arrived}

    async def send(message: Message) -> None:
        sent.append(message)

    headers = [] if length is None else [(b"content-length", length)]
    scope = {"type": "http", "method": method, "headers": headers}
    asking = asyncio.create_task(Cut(app, service)(scope, receive, send))
    await reached.wait()
    service.begin_closing()
    asking.cancel()
    await asking
    return sent
