"""The pooler keeps transactions whole, and loses what a session keeps between them."""

import socket
import threading
from collections.abc import Iterator
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.postgres import wire
from tests.postgres.pooler import Pooler
from tests.postgres.server import Server
from tests.postgres.waiting import until

Connection = psycopg.Connection[tuple[object, ...]]


@pytest.fixture
def pooler(pg_url: str) -> Iterator[Pooler]:
    with Pooler(pg_url) as pooler:
        yield pooler


def connected(pooler: Pooler, *, prepare_threshold: int | None = None) -> Connection:
    return psycopg.connect(pooler.url, autocommit=True, prepare_threshold=prepare_threshold)


def backend_pid(connection: Connection) -> object:
    found = connection.execute("select pg_backend_pid()").fetchone()
    assert found is not None
    return found[0]


def test_each_transaction_gets_the_connection_that_rested_longest(pooler: Pooler) -> None:
    with connected(pooler) as client:
        pids = [backend_pid(client) for _ in range(6)]

    assert len(set(pids[:3])) == 3
    assert pids[3:] == pids[:3]


def test_transaction_stays_on_one_connection(pooler: Pooler) -> None:
    with connected(pooler) as client, client.transaction():
        pids = {backend_pid(client) for _ in range(4)}

    assert len(pids) == 1


def test_failed_transaction_stays_on_its_connection_until_it_is_rolled_back(pooler: Pooler) -> None:
    with connected(pooler) as client:
        client.execute("begin")
        with pytest.raises(psycopg.errors.DivisionByZero):
            client.execute("select 1 / 0")
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            client.execute("select 1")
        client.execute("rollback")

        assert client.execute("select 1").fetchone() == (1,)


def test_pipeline_is_answered_whole(pooler: Pooler) -> None:
    with connected(pooler) as client:
        with client.pipeline():
            cursors = [client.execute("select %s::int", (n,)) for n in range(50)]

        assert [cursor.fetchone() for cursor in cursors] == [(n,) for n in range(50)]


def test_many_clients_share_few_connections(pg_server: Server, pooler: Pooler) -> None:
    pg_server.psql("create table sums (n int); insert into sums values (0)", pooler.url)

    def add() -> None:
        with connected(pooler) as client:
            for _ in range(20):
                client.execute("update sums set n = n + %s", (1,))

    threads = [threading.Thread(target=add) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert pg_server.psql("select n from sums", pooler.url) == [(160,)]
    assert pg_server.terminate_backends(9, pooler.url) == 3


def test_copy_goes_through(pooler: Pooler) -> None:
    with connected(pooler) as client:
        with client.transaction():
            client.execute("create table copied (n int)")
            with client.cursor().copy("copy copied from stdin") as copy:
                for n in range(1000):
                    copy.write_row((n,))

        assert client.execute("select sum(n) from copied").fetchone() == (499_500,)


def test_setting_does_not_survive_its_transaction(pooler: Pooler) -> None:
    with connected(pooler) as client:
        client.execute("set statement_timeout = 12345")

        assert client.execute("show statement_timeout").fetchone() == ("0",)


def test_setting_leaks_to_another_client(pooler: Pooler) -> None:
    with connected(pooler) as client, connected(pooler) as other:
        client.execute("set statement_timeout = 12345")

        found = [other.execute("show statement_timeout").fetchone() for _ in range(3)]

    assert ("12345ms",) in found


def test_named_prepared_statement_is_not_there_the_next_time(pooler: Pooler) -> None:
    # It is prepared in one round trip and used in the next.
    with (
        connected(pooler, prepare_threshold=0) as client,
        pytest.raises(psycopg.errors.InvalidSqlStatementName),
    ):
        client.execute("select %s::int", (1,))


def test_notifications_get_lost(pg_server: Server, pooler: Pooler) -> None:
    with connected(pooler) as client:
        client.execute("listen wake")
        pg_server.psql("notify wake", pooler.url)

        assert list(client.notifies(timeout=0.2)) == []


def test_lock_of_a_session_stays_with_a_connection_that_somebody_else_gets(pooler: Pooler) -> None:
    with connected(pooler) as client:
        client.execute("select pg_advisory_lock(7)")

        assert client.execute("select pg_advisory_unlock(7)").fetchone() == (False,)


def test_options_are_refused(pooler: Pooler) -> None:
    with pytest.raises(psycopg.OperationalError, match="unsupported startup parameter: options"):
        psycopg.connect(pooler.url, options="-c statement_timeout=1")


def test_startup_parameter_that_poolers_do_not_know_is_refused(pooler: Pooler) -> None:
    opening = wire.startup({"user": "postgres", "search_path": "public"})
    with socket.create_connection(("127.0.0.1", urlsplit(pooler.url).port)) as client:
        client.sendall(opening.encoded())
        answer = client.makefile("rb").read()

    assert b"unsupported startup parameter: search_path" in answer


def test_application_name_reaches_the_server(pooler: Pooler) -> None:
    with psycopg.connect(pooler.url, application_name="w1", prepare_threshold=None) as client:
        assert client.execute("show application_name").fetchone() == ("w1",)


def test_database_that_does_not_exist_is_the_servers_to_refuse(pg_server: Server) -> None:
    with (
        Pooler(pg_server.url("nowhere")) as pooler,
        pytest.raises(psycopg.OperationalError, match='database "nowhere" does not exist'),
    ):
        connected(pooler)


def test_client_that_leaves_in_a_transaction_takes_it_along(pg_server: Server, pooler: Pooler) -> None:
    pg_server.psql("create table kept (n int)", pooler.url)
    for _ in range(4):  # more often than there are connections
        client = psycopg.connect(pooler.url, prepare_threshold=None)
        client.execute("insert into kept values (1)")
        client.close()

    with connected(pooler) as client:
        assert client.execute("select count(*) from kept").fetchone() == (0,)


def test_client_loses_its_connection_with_the_server_and_can_come_back(pg_server: Server, pooler: Pooler) -> None:
    with connected(pooler) as client:
        client.execute("begin")
        pg_server.terminate_backends(9, pooler.url)

        with pytest.raises(psycopg.OperationalError):
            client.execute("select 1")
    with connected(pooler) as client:
        assert [client.execute("select 1").fetchone() for _ in range(4)] == [(1,)] * 4


def test_statement_can_be_cancelled(pg_server: Server, pooler: Pooler) -> None:
    sleeping = "select 1 from pg_stat_activity where state = 'active' and query = 'select pg_sleep(60)'"

    def cancel() -> None:
        if until(lambda: pg_server.psql(sleeping) == [(1,)]):
            client.cancel_safe()

    canceller = threading.Thread(target=cancel)
    with connected(pooler) as client:
        canceller.start()
        with pytest.raises(psycopg.errors.QueryCanceled):
            client.execute("select pg_sleep(60)")
        canceller.join()
