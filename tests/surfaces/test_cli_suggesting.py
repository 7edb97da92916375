"""What a command suggests can be typed as it stands: it is started likewise, and is about the same store."""

import shlex
import sys
from pathlib import Path

import pytest

from detent import __main__ as main
from detent.surfaces.cli.suggesting import program
from tests.surfaces.running import Site, detent


def suggestions(text: str) -> list[list[str]]:
    return [shlex.split(line[line.index("detent ") :]) for line in text.splitlines() if "detent " in line]


def test_suggestion_names_the_store_that_was_named(site: Site) -> None:
    with site.client(tenant="acme") as client:
        client.enqueue("scan", job_id="a job")
    shown = detent("job", "explain", "a job", "--url", site.url, "--tenant", "acme").stdout

    (cancel,) = suggestions(shown)
    assert cancel == ["detent", "job", "cancel", "a job", "--url", site.url, "--tenant", "acme"]
    assert detent(*cancel[1:]).exit_code == 0


def test_suggestion_leaves_out_what_the_environment_says(site: Site) -> None:
    with site.client() as client:
        client.enqueue("scan", job_id="42")

    assert suggestions(site.shown("job", "explain", "42")) == [["detent", "job", "cancel", "42"]]


@pytest.mark.parametrize("command", ["show", "explain"])
def test_id_that_looks_like_an_option_is_set_apart(site: Site, command: str) -> None:
    with site.client() as client:
        client.enqueue("scan", job_id="--all")

    for suggestion in suggestions(detent("job", command, "--url", site.url, "--", "--all").stdout):
        assert suggestion[-2:] == ["--", "--all"]
        assert detent(*suggestion[1:]).exit_code == 0


@pytest.mark.parametrize(
    ("called", "expected"),
    [
        ("/srv/app/.venv/bin/detent", "/srv/app/.venv/bin/detent"),
        ("/usr/bin/pytest", "detent"),
        ("/usr/lib/python3/pytest/__main__.py", "detent"),
        (f"{Path(main.__file__)}", f"{sys.executable} -m detent"),
    ],
)
def test_command_that_is_not_on_the_path_is_named_by_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, called: str, expected: str
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sys.argv", [called])

    assert program() == expected
