"""The first contact with a server: what is warned of, what is refused and how soon, and what is waited for."""

import time
from asyncio import StreamReader, StreamWriter
from collections.abc import Callable
from itertools import count
from typing import Final
from urllib.parse import quote

import pytest

from detent.store.postgres import NotDurable, opening
from tests.postgres import wire
from tests.postgres.casting import as_role
from tests.postgres.children import told
from tests.postgres.clients import opened
from tests.postgres.cutting import Cutter
from tests.postgres.pooler import Pooler
from tests.postgres.ports import free_port
from tests.postgres.server import Server, database_of
from tests.postgres.wire import Message
from tests.store.sqlite.files import raises

SOON_S: Final = 2.0


def option(url: str, setting: str) -> str:
    return f"{url}?options={quote(f'-c {setting}')}"


# An address made of that of the database, the code, and what is said.
REFUSED: Final[dict[str, tuple[Callable[[str], str], str, str]]] = {
    "no such database": (lambda url: f"{url}_not", "store_missing", "there is no such database; create it"),
    "no such user": (lambda url: as_role(url, "nobody"), "store_unavailable", "refused this user or password"),
    "nobody there": (
        lambda url: f"postgresql://postgres@127.0.0.1:{free_port()}/x",
        "store_unavailable",
        "no server answers there",
    ),
    "no such host": (lambda url: "postgresql://postgres@host.invalid/x", "store_unavailable", "no server answers"),
    "no such setting": (lambda url: option(url, "no_such=1"), "store_unavailable", "mend `options`"),
    "no such schema": (lambda url: option(url, "search_path=nowhere"), "store_missing", "there is no such schema"),
    "no encryption": (lambda url: f"{url}?sslmode=require", "store_unavailable", "does not support SSL"),
}


@pytest.mark.alone
@pytest.mark.parametrize("what", REFUSED)
def test_what_will_never_be_there_is_refused_at_once(pg_url: str, what: str) -> None:
    address, code, said = REFUSED[what]
    began_s = time.monotonic()
    with raises(code) as refused, opened(address(pg_url)):
        pass

    assert said in str(refused.value)
    assert time.monotonic() - began_s < SOON_S


def test_pooler_that_was_not_told_of_is_refused_with_what_to_do(pg_url: str) -> None:
    with Pooler(pg_url) as pooler, raises("store_unavailable") as refused, opened(pooler.url):
        pass

    assert "connect with prepare=off" in str(refused.value)


def test_password_is_in_no_error(pg_url: str) -> None:
    address = pg_url.replace("postgres@", "nobody:secret@")
    with raises("store_unavailable") as refused, opened(address):
        pass

    assert "secret" not in str(refused.value)


class Starting(Cutter):
    """Behind it, the server is not ready for the first few who come."""

    def __init__(self, upstream: str, said: str, refusals: int) -> None:
        super().__init__(upstream)
        self.comers = count(1)
        self._said = said
        self._refusals = refusals

    async def serve(self, opening: Message, reader: StreamReader, writer: StreamWriter) -> None:
        if next(self.comers) <= self._refusals:
            writer.write(wire.fatal("57P03", self._said).encoded())
        else:
            await super().serve(opening, reader, writer)


@pytest.mark.parametrize(
    "said", ["the database system is starting up", "das Datenbanksystem startet", "sorry, too many clients already"]
)
def test_server_that_is_not_ready_is_waited_for(pg_url: str, said: str) -> None:
    with Starting(pg_url, said, refusals=3) as starting, opened(starting.url) as client:
        assert client.enqueue("scan").state == "queued"
        assert next(starting.comers) > 4


@pytest.mark.alone
def test_server_that_does_not_get_ready_is_not_waited_for_for_ever(pg_url: str) -> None:
    said = "the database system is starting up"
    with Starting(pg_url, said, refusals=1000) as starting:
        began_s = time.monotonic()
        with raises("store_unavailable") as refused, opened(starting.url, busy_s=0.3):
            pass

    assert "coming up; try again when it is there" in str(refused.value)
    assert said in str(refused.value)
    assert 0.3 < time.monotonic() - began_s < SOON_S


def test_server_that_is_too_old_is_refused(pg_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(opening, "VERSION_MIN", 990_000)
    with raises("server_too_old") as refused, opened(pg_url):
        pass

    assert "Detent needs 13 or later" in str(refused.value)


@pytest.mark.parametrize("place", ["the address", "the database", "the role"])
def test_session_that_does_not_wait_for_the_disk_is_warned_of(pg_server: Server, pg_url: str, place: str) -> None:
    if place == "the database":
        pg_server.psql(f"alter database {database_of(pg_url)} set synchronous_commit = off")
    elif place == "the role":
        pg_server.psql(f"alter role postgres in database {database_of(pg_url)} set synchronous_commit = off")
    address = option(pg_url, "synchronous_commit=off") if place == "the address" else pg_url

    with pytest.warns(NotDurable, match="synchronous_commit is off"), opened(address) as client:
        assert client.enqueue("scan").state == "queued"


def test_server_that_may_forget_is_warned_of_once_for_each_client() -> None:
    with (
        Server(in_memory=True, durable=False) as server,
        pytest.warns(NotDurable) as warned,
        opened(server.url("postgres")) as client,
    ):
        client.enqueue("scan")

    assert [str(each.message).split(": ")[1].partition(" is off")[0] for each in warned] == [
        "fsync, full_page_writes, synchronous_commit"
    ]


def test_durable_server_is_not_warned_of(pg_url: str) -> None:
    """Here a warning is an error."""
    with opened(pg_url) as client:
        assert client.enqueue("scan").state == "queued"


def test_client_that_was_open_before_a_fork_is_refused_after_it(pg_url: str) -> None:
    answer = told("fork", pg_url)

    assert answer == {"told": ["forked", "forked", "forked", "ok"], "ids": ["child", "parent", "parent again"]}
