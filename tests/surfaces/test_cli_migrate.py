"""`detent migrate`: making a store, finding it current, and printing what it would do."""

import json
from pathlib import Path

import apsw
import pytest

from detent.client import connect
from detent.store.sqlite.migrating import migrations
from tests.store.sqlite.files import ROOT
from tests.surfaces.shelf import COLUMNS, detent, url_of, widest


def test_missing_store_is_made_and_ready(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"

    result = detent("migrate", "--url", url_of(path))

    assert (result.exit_code, result.stderr) == (0, "")
    assert "applied migration 1: first" in result.stdout
    assert "is a new store, and ready." in " ".join(result.stdout.split())
    assert widest(result.stdout) <= COLUMNS
    assert detent("verify", "--url", url_of(path)).exit_code == 0


def test_second_time_there_is_nothing_to_do(tmp_path: Path) -> None:
    url = url_of(tmp_path / "jobs.db")
    detent("migrate", "--url", url)

    result = detent("migrate", "--url", url, columns=200)

    assert result.exit_code == 0
    assert "is current: it has migration" in result.stdout
    assert "applied" not in result.stdout


def test_file_with_tables_of_one_s_own_becomes_a_store_too(tmp_path: Path) -> None:
    path = tmp_path / "own.db"
    own = apsw.Connection(str(path))
    own.execute("create table invoices (number integer)")
    own.close()

    detent("migrate", "--url", url_of(path))

    assert detent("verify", "--url", url_of(path)).exit_code == 0


def test_json_says_what_was_applied_and_what_there_is(tmp_path: Path) -> None:
    url = url_of(tmp_path / "jobs.db")

    made, again = (json.loads(detent("migrate", "--url", url, "--json").stdout) for _ in range(2))

    assert [each["name"] for each in made["applied"]] == [each.name for each in migrations()]
    assert made["migrations"] == made["applied"] == again["migrations"]
    assert list(made["applied"][0]) == ["number", "name", "applied_at"]
    assert again["applied"] == []


def test_sql_of_a_new_store_is_all_of_it_and_nothing_is_made(tmp_path: Path) -> None:
    result = detent("migrate", "--url", url_of(tmp_path / "jobs.db"), "--sql")

    assert (result.exit_code, result.stderr) == (0, "")
    assert [line for line in result.stdout.splitlines() if line.startswith("-- migration ")] == [
        f"-- migration {each.number}: {each.name}" for each in migrations()
    ]
    assert list(tmp_path.iterdir()) == []
    tables = apsw.Connection(":memory:")
    tables.execute(result.stdout)
    assert tables.execute("select count(*) from detent_records").get == 0


def test_sql_of_a_current_store_is_nothing(tmp_path: Path) -> None:
    url = url_of(tmp_path / "jobs.db")
    detent("migrate", "--url", url)

    result = detent("migrate", "--url", url, "--sql")

    assert (result.exit_code, result.stdout) == (0, "")
    assert "is current: nothing is to be applied." in result.stderr


def test_store_of_a_newer_program_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "jobs.db"
    detent("migrate", "--url", url_of(path))
    newer = apsw.Connection(str(path))
    newer.execute("insert into detent_migrations values (999, 'later', '', 0)")
    newer.close()

    for arguments in ((), ("--sql",)):
        result = detent("migrate", "--url", url_of(path), *arguments)
        assert (result.exit_code, result.stdout) == (1, "")
        assert "it has migration 999 (later)" in result.stderr


def test_error_in_json_has_its_code(tmp_path: Path) -> None:
    result = detent("migrate", "--url", url_of(tmp_path), "--json")

    assert (result.exit_code, result.stdout) == (1, "")
    assert json.loads(result.stderr)["error"]["code"] == "store_unavailable"


@pytest.mark.parametrize("chosen", [("--sql", "--json"), ("--roles", "--json"), ("--sql", "--roles")])
def test_two_ways_to_print_at_once_are_wrong_usage(tmp_path: Path, chosen: tuple[str, str]) -> None:
    result = detent("migrate", "--url", url_of(tmp_path / "jobs.db"), *chosen)

    assert result.exit_code == 2
    assert "choose one" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_roles_are_printed_as_the_package_has_them_and_no_store_is_needed() -> None:
    result = detent("migrate", "--roles")

    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout == (ROOT / "src/detent/store/postgres/roles.sql").read_text()


def test_jobs_are_still_there_afterwards(tmp_path: Path) -> None:
    url = url_of(tmp_path / "jobs.db")
    with connect(url) as client:
        client.enqueue("scan", job_id="42")

    detent("migrate", "--url", url)

    with connect(url) as client:
        assert client.get("42").state == "queued"


def test_help_says_what_it_is_for_with_examples() -> None:
    shown = detent("migrate", "--help", columns=80).stdout

    assert "Make a store, or bring an older one up to date." in shown
    assert "detent migrate --sql" in shown
