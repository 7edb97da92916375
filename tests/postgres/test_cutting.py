"""The cutter loses a connection at the moment it was told, and at no other."""

import threading
from collections.abc import Iterator

import psycopg
import pytest

from tests.postgres.cutting import Cutter, Passing, Verdict
from tests.postgres.moments import Once, cut_after, cut_before, hang_after, hang_before, holding
from tests.postgres.server import Server

WAIT_S = 10.0


@pytest.fixture
def url(pg_server: Server, pg_url: str) -> str:
    pg_server.psql("create table kept (n int)", pg_url)
    return pg_url


@pytest.fixture
def cutter(url: str) -> Iterator[Cutter]:
    with Cutter(url) as cutter:
        yield cutter


def insert(url: str) -> None:
    with psycopg.connect(url) as client:
        client.execute("insert into kept values (1)")


def kept(server: Server, url: str) -> int:
    return int(server.psql("select count(*) from kept", url)[0][0])


def test_everything_passes_as_it_comes(pg_server: Server, cutter: Cutter, url: str) -> None:
    insert(cutter.url)

    assert kept(pg_server, url) == 1


def test_cut_before_commit_leaves_nothing(pg_server: Server, cutter: Cutter, url: str) -> None:
    cutter.decide = moment = cut_before(b"commit")

    with pytest.raises(psycopg.OperationalError):
        insert(cutter.url)

    assert moment.happened.is_set()
    assert kept(pg_server, url) == 0


def test_cut_after_commit_leaves_it_done_and_untold(pg_server: Server, cutter: Cutter, url: str) -> None:
    cutter.decide = moment = cut_after(b"commit")

    with pytest.raises(psycopg.OperationalError):
        insert(cutter.url)

    assert moment.happened.is_set()
    assert kept(pg_server, url) == 1


def test_moment_comes_once(pg_server: Server, cutter: Cutter, url: str) -> None:
    cutter.decide = cut_after(b"commit")
    with pytest.raises(psycopg.OperationalError):
        insert(cutter.url)

    insert(cutter.url)

    assert kept(pg_server, url) == 2


def test_moment_is_the_nth(pg_server: Server, cutter: Cutter, url: str) -> None:
    cutter.decide = cut_before(b"commit", nth=3)

    insert(cutter.url)
    insert(cutter.url)
    with pytest.raises(psycopg.OperationalError):
        insert(cutter.url)

    assert kept(pg_server, url) == 2


@pytest.mark.parametrize(
    ("moment", "is_done"),
    [
        pytest.param(hang_before(b"commit"), False, id="before"),
        pytest.param(hang_after(b"commit"), True, id="after"),
    ],
)
def test_hanging_connection_tells_neither_side(
    pg_server: Server, cutter: Cutter, url: str, moment: Once, is_done: bool
) -> None:
    cutter.decide = moment
    heard: list[Exception | None] = []
    client = threading.Thread(target=lambda: heard.append(error_of_insert(cutter.url)))
    client.start()
    assert moment.happened.wait(WAIT_S)

    assert heard == []
    assert kept(pg_server, url) == is_done
    assert backend_states(pg_server, url) == ["idle" if is_done else "idle in transaction"]

    cutter.cut_all()
    client.join(WAIT_S)

    assert isinstance(heard[0], psycopg.OperationalError)


def test_server_does_not_hear_that_the_client_of_a_hanging_connection_has_left(
    pg_server: Server, cutter: Cutter, url: str
) -> None:
    cutter.decide = hang_before(b"select 1")
    client = psycopg.connect(cutter.url)
    client.execute("insert into kept values (1)")
    client.pgconn.send_query(b"select 1")
    assert cutter.decide.happened.wait(WAIT_S)

    client.close()

    assert backend_states(pg_server, url) == ["idle in transaction"]


def test_orphaned_connection_ends_for_the_client_alone(pg_server: Server, cutter: Cutter, url: str) -> None:
    cutter.decide = Once("orphan", holding(b"commit"))

    with pytest.raises(psycopg.OperationalError):
        insert(cutter.url)

    assert backend_states(pg_server, url) == ["idle in transaction"]


def test_dropped_message_is_missing_and_the_rest_passes(cutter: Cutter) -> None:
    cutter.decide = Once("drop", lambda message: message.type == b"N" and b"two" in message.payload)
    heard: list[str | None] = []
    with psycopg.connect(cutter.url) as client:
        client.add_notice_handler(lambda notice: heard.append(notice.message_primary))
        for word in ("one", "two", "three"):
            client.execute(f"do $$ begin raise notice '{word}'; end $$")

    assert heard == ["one", "three"]


def test_connection_can_be_cut_at_what_the_server_says(pg_server: Server, cutter: Cutter, url: str) -> None:
    cutter.decide = Once("cut", lambda message: message.type == b"C" and message.payload.startswith(b"COMMIT"))

    with pytest.raises(psycopg.OperationalError):
        insert(cutter.url)

    assert kept(pg_server, url) == 1


def test_connection_can_be_cut_as_it_opens(cutter: Cutter) -> None:
    cutter.decide = Once("cut", lambda message: message.type == b"")

    with pytest.raises(psycopg.OperationalError):
        insert(cutter.url)


def test_all_connections_can_be_cut_and_new_ones_are_welcome(pg_server: Server, cutter: Cutter, url: str) -> None:
    with psycopg.connect(cutter.url) as client:
        cutter.cut_all()

        with pytest.raises(psycopg.OperationalError):
            client.execute("select 1")
    insert(cutter.url)

    assert kept(pg_server, url) == 1


def test_failure_of_the_choice_is_not_hidden(url: str) -> None:
    def fail(message: Passing) -> Verdict:
        raise ZeroDivisionError

    with pytest.raises(ExceptionGroup) as failed, Cutter(url, fail) as cutter, pytest.raises(psycopg.OperationalError):
        insert(cutter.url)

    assert failed.group_contains(ZeroDivisionError)


def test_answers_to_what_was_asked_before_still_pass() -> None:
    moment = cut_after(b"two")
    asked = [(b"P", b"one"), (b"S", b""), (b"P", b"two"), (b"S", b"")]
    answered = [(b"C", b""), (b"Z", b"I"), (b"C", b""), (b"Z", b"I"), (b"C", b"")]

    verdicts = [moment(Passing(1, "to server", *message)) for message in asked]
    elsewhere = moment(Passing(2, "to client", b"Z", b"I"))
    verdicts += [moment(Passing(1, "to client", *message)) for message in answered]

    assert elsewhere == "pass"
    assert verdicts == ["pass"] * 4 + ["pass", "pass", "drop", "cut", "pass"]


def error_of_insert(url: str) -> Exception | None:
    try:
        insert(url)
    except psycopg.Error as error:
        return error
    return None


def backend_states(server: Server, url: str) -> list[str]:
    found = server.psql(
        "select state from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()"
        " and backend_type = 'client backend'",
        url,
    )
    return [state for (state,) in found]
