"""What the commands share: exit codes, where the store is, whose jobs they see, and the one door of two names."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from detent.client import connect
from detent.surfaces.cli.command import EXIT_CODES
from tests.surfaces.running import Site, detent, fail, refused, refused_in_json, run_one, succeed

CODES = [
    (("job", "wait", "done"), 0),
    (("job", "cancel", "done"), 1),
    (("job", "cancel"), 2),
    (("job", "show", "nobody"), 3),
    (("job", "wait", "broken"), 10),
    (("job", "wait", "gone"), 11),
    (("job", "wait", "running", "--timeout", "0"), 124),
]
BY_A_SIGNAL = 130  # shown in test_cli_job_wait.py, by a process that is interrupted


@pytest.fixture
def busy(site: Site) -> Site:
    with site.client() as client:
        succeed(client, "done")
        fail(client, "broken")
        client.enqueue("scan", job_id="gone")
        client.cancel("gone")
        run_one(client, "running")
    return site


@pytest.mark.parametrize(("arguments", "code"), CODES, ids=[str(code) for _, code in CODES])
def test_exit_code_says_how_it_went(busy: Site, arguments: tuple[str, ...], code: int) -> None:
    assert busy.detent(*arguments).exit_code == code


def test_every_exit_code_is_shown_and_documented() -> None:
    shown = " ".join(detent("--help").stdout.split())

    assert EXIT_CODES.keys() == {code for _, code in CODES} | {BY_A_SIGNAL}
    assert all(f"{code} {meaning}" in shown for code, meaning in EXIT_CODES.items())


def test_error_says_what_happened_to_which_job_and_what_to_do(busy: Site) -> None:
    message = refused(busy.detent("job", "cancel", "done"), 1)

    assert message == (
        "Error: job done has ended ('succeeded'); nothing to cancel. To run it again: detent job rerun done"
    )


@pytest.mark.parametrize("place", ["before", "after"])
def test_error_is_json_wherever_json_was_asked_for(busy: Site, place: str) -> None:
    wrong = ("--limit", "0")
    arguments = ("--json", *wrong) if place == "before" else (*wrong, "--json")

    error = refused_in_json(busy.detent("job", "list", *arguments), 2)

    assert error == {"code": "wrong_usage", "message": "Invalid value for '--limit': 0 is not in the range x>=1."}


def test_mistyped_command_is_wrong_usage_with_a_guess_in_json_too(busy: Site) -> None:
    assert "Did you mean 'show'?" in refused(busy.detent("job", "shwo", "42"), 2)
    assert "Did you mean 'show'?" in refused_in_json(busy.detent("job", "shwo", "42", "--json"), 2)["message"]


def test_file_that_is_no_store_is_an_error(tmp_path: Path) -> None:
    site = Site(tmp_path, "notes.txt")
    site.path.write_text("milk, bread, and something long enough to be looked at as a database\n" * 100)

    assert refused_in_json(site.detent("job", "list", "--json"), 1)["code"] == "store_corrupt"
    assert site.path.read_text().startswith("milk")


def test_address_comes_from_the_option_before_the_environment_before_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("option", "environment", "detent"):
        with connect(f"sqlite:///{name}.db") as client:
            client.enqueue("scan", job_id=f"in-{name}")

    env = {"DETENT_URL": "sqlite:///environment.db"}
    listings = (
        detent("job", "list", "--json", "--url", "sqlite:///option.db", env=env),
        detent("job", "list", "--json", env=env),
        detent("job", "list", "--json"),
    )

    found = [job["id"] for listing in listings for job in json.loads(listing.stdout)]
    assert found == ["in-option", "in-environment", "in-detent"]


def test_empty_address_in_the_environment_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    detent("enqueue", "scan", "--id", "42", env={"DETENT_URL": ""})

    assert (tmp_path / "detent.db").exists()


def test_jobs_are_those_of_the_tenant_that_is_named(site: Site) -> None:
    for tenant in ("default", "acme", "other"):
        with site.client(tenant=tenant) as client:
            client.enqueue("scan", job_id=f"of-{tenant}")

    by_default, by_environment = (site.json("job", "list", env={"DETENT_TENANT": name}) for name in (None, "acme"))
    by_option = site.json("job", "list", "--tenant", "other", env={"DETENT_TENANT": "acme"})

    assert [[job.id for job in found] for found in (by_default, by_environment, by_option)] == [
        ["of-default"],
        ["of-acme"],
        ["of-other"],
    ]


def test_job_is_made_for_the_tenant_that_is_named(site: Site) -> None:
    site.shown("enqueue", "scan", "--id", "42", "--tenant", "acme")

    assert site.json("job", "show", "42", "--tenant", "acme").tenant == "acme"
    assert refused(site.detent("job", "show", "42"), 3)


def test_python_m_detent_is_detent(busy: Site) -> None:
    script = Path(sys.executable).with_name("detent")
    commands = ([str(script)], [sys.executable, "-m", "detent"])

    first, second = (
        subprocess.run(
            [*command, "job", "wait", "broken", "--json"],
            env=busy.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        for command in commands
    )

    assert (first.returncode, first.stdout, first.stderr) == (second.returncode, second.stdout, second.stderr)
    assert first.returncode == 10
