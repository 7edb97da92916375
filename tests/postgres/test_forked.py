"""A client that is left by a fork: its copy in the child touches nothing of its parent's."""

import os

import psycopg

from detent.client import connect

APPLICATION = "detent"


def backends(url: str) -> list[int]:
    with psycopg.connect(url, autocommit=True) as own:
        sql = "select pid from pg_stat_activity where application_name = %s and datname = current_database() order by 1"
        return [pid for (pid,) in own.execute(sql, (APPLICATION,))]


def in_a_child(work: object) -> int:
    """Its exit code. It ends without anything that a fork of pytest would do."""
    pid = os.fork()
    if pid == 0:
        try:
            work()  # type: ignore[operator]
        except BaseException:
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def test_close_in_a_child_leaves_the_connections_of_its_parent(pg_emptied: str) -> None:
    with connect(pg_emptied) as client:
        client.enqueue("scan")
        client.find()
        before = backends(pg_emptied)

        assert in_a_child(client.close) == 0

        client.enqueue("scan")
        client.find()
        assert backends(pg_emptied) == before
