"""What a person hears whose PostgreSQL server, database, user, password, store or driver is not there."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pytest

from tests.postgres.ports import free_port
from tests.postgres.server import Server
from tests.surfaces.calls import CALLS, MAKING, OPENING
from tests.surfaces.running import Path_, Site, detent, refused, refused_in_json

SECRET: Final = "open-sesame"
READING: Final = [path for path in OPENING if path not in MAKING]


def refusal(url: str, command: Path_ = ("job", "list"), *, exit_code: int = 1) -> tuple[str, str]:
    """The code and the words: the same in JSON, and never with the password."""
    plain, in_json = (detent(*command, *CALLS[command], "--url", url, *more) for more in ((), ("--json",)))
    error = refused_in_json(in_json, exit_code)
    assert error["message"] in refused(plain, exit_code)
    assert SECRET not in plain.output + in_json.output
    return error["code"], error["message"]


def with_password(url: str, user: str = "postgres") -> str:
    return url.replace("postgres@", f"{user}:{SECRET}@")


def test_server_that_is_not_there_is_said_to_be_out_of_reach(pg_emptied: str) -> None:
    parts = urlsplit(pg_emptied)
    nowhere = pg_emptied.replace(f":{parts.port}", f":{free_port()}")

    code, message = refusal(with_password(nowhere))

    assert (code, message.split(":")[0]) == ("store_unavailable", "store postgresql")
    assert "no server answers there; see whether it runs" in message


def test_database_that_is_not_there_is_said_to_be_missing(pg_emptied: str) -> None:
    code, message = refusal(with_password(f"{pg_emptied}_not"), exit_code=3)

    assert code == "store_missing"
    assert "there is no such database; create it, or give the right --url" in message


def test_user_that_is_not_there_is_said_to_be_refused(pg_emptied: str) -> None:
    code, message = refusal(with_password(pg_emptied, user="nobody"))

    assert code == "store_unavailable"
    assert "the server refused this user or password" in message


@pytest.fixture(scope="module")
def strict_server() -> Iterator[Server]:
    """It asks everybody but the superuser for a password."""
    with Server(in_memory=True) as server:
        ((rules,),) = server.psql("show hba_file")
        file = Path(rules)
        everybody = "host all postgres 127.0.0.1/32 trust\nhost all all 127.0.0.1/32 scram-sha-256\n"
        file.write_text(everybody, encoding="utf-8")
        server.restart()
        server.psql("create role ann login superuser password 'right'")
        yield server


def test_wrong_password_is_said_to_be_refused_and_the_right_one_is_not_shown(strict_server: Server) -> None:
    url = strict_server.url(user="ann").replace("ann@", "ann:{}@")

    code, message = refusal(url.format(SECRET))
    made = detent("migrate", "--url", url.format("right"), columns=200)

    assert code == "store_unavailable"
    assert "the server refused this user or password; mend the address or pg_hba.conf" in message
    assert f"postgresql://ann:…@127.0.0.1:{strict_server.port}/postgres is a new store, and ready." in made.stdout
    assert "right" not in made.output


@pytest.mark.parametrize("path", READING, ids=" ".join)
def test_command_that_only_reads_makes_no_store_of_an_empty_database(
    pg_server: Server, empty_database: str, path: Path_
) -> None:
    code, message = refusal(empty_database, path, exit_code=3)

    assert code == "store_missing"
    assert "there is no store in" in message
    assert pg_server.psql("select count(*) from pg_tables where schemaname = 'public'", empty_database) == [(0,)]


@pytest.fixture(scope="module")
def empty_database(pg_server: Server) -> Iterator[str]:
    """Nothing is to be made in it, so all may have the same."""
    url = pg_server.new_database()
    yield url
    pg_server.drop_database(url)


def test_driver_that_is_not_installed_is_asked_for(pg_emptied: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)

    code, message = refusal(with_password(pg_emptied), exit_code=2)

    assert code == "bad_url"
    assert "psycopg is not installed; run: pip install 'detent[postgres]'" in message


def test_command_on_sqlite_needs_no_driver_of_postgresql(site: Site) -> None:
    """In a process of its own, which has not imported anything yet."""
    program = "import sys; sys.modules['psycopg'] = None; from detent.surfaces.cli import main; main(sys.argv[1:])"
    command = [sys.executable, "-c", program, "enqueue", "scan", "--url", site.url]
    done = subprocess.run(command, capture_output=True, text=True, env=site.environment())

    assert (done.returncode, done.stderr) == (0, "")
    with site.client() as client:
        assert len(client.find().items) == 1
