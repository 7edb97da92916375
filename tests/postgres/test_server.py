"""The server of the tests: a real one, that starts anywhere and comes back after a crash."""

import os
import pwd
import socket
import subprocess
from collections.abc import Iterator

import psycopg
import pytest

from tests.postgres.folders import IN_MEMORY
from tests.postgres.ports import PORTS, free_port
from tests.postgres.process import ServerFailed, StopMode
from tests.postgres.server import NOT_DURABLE, Server


@pytest.fixture(scope="module")
def own_server() -> Iterator[Server]:
    """To be stopped and restarted: the one that the run shares has other users."""
    with Server(in_memory=True) as server:
        yield server


def settings_of(server: Server, *names: str) -> dict[str, str]:
    return {name: server.psql(f"show {name}")[0][0] for name in names}


def test_server_is_set_as_durably_as_postgresql_comes(pg_server: Server) -> None:
    assert settings_of(pg_server, *NOT_DURABLE) == dict.fromkeys(NOT_DURABLE, "on")


def test_server_that_need_not_be_durable_is_not() -> None:
    with Server(in_memory=True, durable=False) as server:
        found = settings_of(server, *NOT_DURABLE)

    assert found == NOT_DURABLE


def test_settings_go_before_the_usual_ones() -> None:
    with Server(in_memory=True, settings={"max_connections": "17", "track_commit_timestamp": "on"}) as server:
        found = settings_of(server, "max_connections", "track_commit_timestamp", "listen_addresses")

    assert found == {"max_connections": "17", "track_commit_timestamp": "on", "listen_addresses": "127.0.0.1"}


def test_setting_that_does_not_exist_is_shown_and_leaves_nothing_behind() -> None:
    server = Server(settings={"no_such_setting": "1"})

    with pytest.raises(ServerFailed, match="no_such_setting"), server:
        pass

    assert not server.folder.exists()
    assert not server.data_folder.exists()


def test_server_on_disk_keeps_nothing_in_memory(pg_server_on_disk: Server) -> None:
    assert not pg_server_on_disk.data_folder.is_relative_to(IN_MEMORY)


def test_server_never_runs_as_root(pg_server: Server) -> None:
    shown = subprocess.run(["ps", "-o", "uid=", "-p", str(pg_server.pid)], capture_output=True, text=True, check=True)

    assert int(shown.stdout) == (os.geteuid() or pwd.getpwnam("nobody").pw_uid)


def test_server_takes_another_port_if_somebody_is_quicker(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", free_port())) as taken:
        port = taken.getsockname()[1]
        ports = iter([port, free_port()])
        monkeypatch.setattr("tests.postgres.process.free_port", lambda: next(ports))
        with Server(in_memory=True) as server:
            found = server.psql("select current_setting('port')::int")

    assert found == [(server.port,)]
    assert server.port != port


def test_server_does_not_take_another_for_itself(pg_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    ports = iter([pg_server.port, free_port()])
    monkeypatch.setattr("tests.postgres.process.free_port", lambda: next(ports))

    with Server(in_memory=True) as server:
        assert server.port != pg_server.port


def test_ports_are_none_that_a_client_could_be_given() -> None:
    with socket.create_server(("127.0.0.1", 0)) as given:
        assert given.getsockname()[1] not in PORTS


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_what_was_committed_survives_a_restart(own_server: Server, mode: StopMode) -> None:
    url, port = own_server.new_database(), own_server.port
    own_server.psql("create table kept (n int); insert into kept values (1)", url)

    own_server.restart(mode)

    assert own_server.port == port
    assert own_server.psql("select n from kept", url) == [(1,)]


def test_immediate_restart_is_a_crash(own_server: Server) -> None:
    with own_server.connected() as connection:
        own_server.restart("immediate")

        with pytest.raises(psycopg.OperationalError):
            connection.execute("select 1")
    assert "was not properly shut down" in own_server.log()


def test_stopped_server_is_not_there_until_it_is_started(own_server: Server) -> None:
    own_server.stop()

    with pytest.raises(psycopg.OperationalError):
        own_server.psql("select 1")

    own_server.start()

    assert own_server.psql("select 1") == [(1,)]
