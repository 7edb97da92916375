"""`detent completion`: scripts that shells take, and what they then offer."""

import subprocess

import pytest

from detent.lifecycles import BUILT_IN
from tests.surfaces.running import NOTHING, Env, Site, bury, detent, refused, succeed

SHELLS = {"bash": "complete -o nosort -F", "zsh": "compdef", "fish": "complete --no-files --command detent"}


@pytest.fixture
def busy(site: Site) -> Site:
    with site.client() as client:
        succeed(client, "order-1")
        bury(client, "order-2")
        client.enqueue("scan", job_id="other")
    with site.client(tenant="acme") as client:
        client.enqueue("scan", job_id="order-theirs")
    return site


def offered(site: Site, line: str, env: Env = NOTHING) -> list[str]:
    """What a shell would show after this line, the last word of which is not finished."""
    words = line.split(" ")
    asked = {"_DETENT_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    result = site.detent(env={**asked, **env})
    assert (result.exit_code, result.stderr) == (0, ""), result.output
    return [answer.partition(",")[2] for answer in result.stdout.splitlines() if answer]


@pytest.mark.parametrize(("shell", "sign"), SHELLS.items(), ids=SHELLS)
def test_script_of_each_shell_is_printed(shell: str, sign: str) -> None:
    result = detent("completion", shell)

    assert (result.exit_code, result.stderr) == (0, "")
    assert sign in result.stdout
    assert "_DETENT_COMPLETE" in result.stdout


def test_script_is_one_that_bash_takes() -> None:
    script = detent("completion", "bash").stdout

    checked = subprocess.run(["bash", "-n"], input=script, text=True, capture_output=True, check=False)

    assert (checked.returncode, checked.stderr) == (0, "")


def test_shell_that_is_not_known_is_wrong_usage() -> None:
    assert "'bash', 'zsh', 'fish'" in refused(detent("completion", "csh"), 2)


def test_commands_are_offered(site: Site) -> None:
    assert offered(site, "detent lif") == ["lifecycle"]
    assert offered(site, "detent job re") == ["rerun", "requeue"]
    assert {"list", "show", "redrive", "purge"} == set(offered(site, "detent dlq "))


def test_options_are_offered(site: Site) -> None:
    assert offered(site, "detent job list --created") == ["--created-since", "--created-until"]
    assert offered(site, "detent job list --phase h") == ["held"]
    assert offered(site, "detent dlq list --reason time") == ["timeout"]


@pytest.mark.parametrize(
    "line",
    ["enqueue ocr --lifecycle d", "lifecycle show d", "job list --lifecycle d", "dlq list --lifecycle d"],
)
def test_lifecycles_are_offered(site: Site, line: str) -> None:
    assert offered(site, f"detent {line}") == [name for name in BUILT_IN if name.startswith("d")]


@pytest.mark.parametrize(
    "line",
    [
        "job show ", "job explain ", "job cancel --hard ", "job wait ", "dlq show ", "dlq redrive ",
        "dlq purge order-1 ", "event tail --job ", "job list --parent ", "enqueue ocr --parent ",
    ],
)  # fmt: skip
def test_job_ids_are_offered(busy: Site, line: str) -> None:
    assert offered(busy, f"detent {line}order") == ["order-2", "order-1"]


def test_ids_come_from_the_store_and_the_tenant_that_the_line_names(busy: Site) -> None:
    line = f"detent job show --url {busy.url} --tenant acme o"

    assert offered(busy, line, env={"DETENT_URL": None}) == ["order-theirs"]
    assert offered(busy, "detent job show o", env={"DETENT_TENANT": "acme"}) == ["order-theirs"]


def test_missing_store_offers_nothing_and_is_not_made(site: Site) -> None:
    assert offered(site, "detent job show o") == []
    assert not site.path.exists()


@pytest.mark.parametrize("url", ["sqlite:////dev/null/jobs.db", "nonsense", "sqlite:///"])
def test_store_that_cannot_be_opened_offers_nothing(site: Site, url: str) -> None:
    assert offered(site, "detent job show o", env={"DETENT_URL": url}) == []
