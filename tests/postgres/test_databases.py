"""Databases know nothing of each other, and can be had, copied, emptied of users and dropped."""

from contextlib import ExitStack

import psycopg
import pytest

from tests.postgres.server import Server, database_of


def databases_of(server: Server) -> set[str]:
    return {name for (name,) in server.psql("select datname from pg_database")}


def test_fresh_databases_are_apart(pg_server: Server) -> None:
    one, other = pg_server.new_database(), pg_server.new_database()
    pg_server.psql("create table mine (n int)", one)

    assert pg_server.psql("select to_regclass('mine')", one) == [("mine",)]
    assert pg_server.psql("select to_regclass('mine')", other) == [(None,)]


def test_url_alone_is_enough_to_connect(pg_url: str) -> None:
    with psycopg.connect(pg_url) as connection:
        found = connection.execute("select current_database(), current_user, inet_client_addr()::text").fetchone()

    assert found == (database_of(pg_url), "postgres", "127.0.0.1/32")


def test_url_can_name_another_role(pg_server: Server) -> None:
    pg_server.psql("create role guest login")

    with psycopg.connect(pg_server.url(user="guest")) as connection:
        assert connection.execute("select current_user").fetchone() == ("guest",)

    pg_server.psql("drop role guest")


def test_database_like_another_has_what_that_one_has(pg_server: Server) -> None:
    filled = pg_server.new_database()
    pg_server.psql("create table mine as select 1 as n", filled)

    copy = pg_server.new_database(like=filled)

    assert pg_server.psql("select n from mine", copy) == [(1,)]


def test_database_is_dropped_whoever_uses_it(pg_server: Server) -> None:
    url = pg_server.new_database()
    with psycopg.connect(url) as user:
        pg_server.drop_database(url)

        assert database_of(url) not in databases_of(pg_server)
        with pytest.raises(psycopg.OperationalError):
            user.execute("select 1")


def test_so_many_backends_of_a_database_are_terminated(pg_server: Server, pg_url: str) -> None:
    with psycopg.connect(pg_server.new_database()) as bystander, ExitStack() as stack:
        users = [stack.enter_context(psycopg.connect(pg_url)) for _ in range(3)]

        ended = pg_server.terminate_backends(2, pg_url)

        assert ended == 2
        assert sum(is_usable(user) for user in users) == 1
        assert is_usable(bystander)


def is_usable(connection: psycopg.Connection) -> bool:
    try:
        connection.execute("select 1")
    except psycopg.OperationalError:
        return False
    return True
