"""A store that somebody else wrote to is still looked at: what is wrong is told, and nothing crashes over it."""

from pathlib import Path

import apsw
import pytest

from detent.client import connect
from tests.surfaces.running import Site
from tests.surfaces.shelf import tamper


@pytest.fixture
def tampered(site: Site) -> Site:
    with site.client() as client:
        client.enqueue("scan", job_id="a")
        client.enqueue("scan", job_id="b")
        client.cancel("b")
    tamper(
        site.path,
        "drop trigger detent_events_fixed",
        "update detent_events set to_state = 'gone' where job = 1",
        "update detent_events set verb = 'frobnicate' where job = 2 and rev = 2",
    )
    return site


@pytest.mark.parametrize(
    "command", [("job", "history", "a"), ("job", "history", "b"), ("event", "tail", "--no-follow")]
)
def test_log_with_words_that_nobody_knows_is_still_told(tampered: Site, command: tuple[str, ...]) -> None:
    shown = tampered.told(*command)

    assert "gone" in shown or "'frobnicate' by" in shown


def test_record_without_a_log_is_a_difference(site: Site) -> None:
    with site.client() as client:
        client.enqueue("scan", job_id="a")
    tamper(site.path, "drop trigger detent_events_kept", "delete from detent_events")

    result = site.detent("replay")

    assert result.exit_code == 1
    assert "1 difference" in result.stdout


def test_summary_of_a_lifecycle_cannot_colour_the_screen(tmp_path: Path, site: Site) -> None:
    article = Path(__file__).resolve().parents[2] / "docs" / "examples" / "article.toml"
    lines = article.read_text(encoding="utf-8").splitlines()
    evil = ['summary = "evil \\u001b[31mred"' if line.startswith("summary") else line for line in lines]
    (tmp_path / "evil.toml").write_text("\n".join(evil), encoding="utf-8")

    shown = site.shown("lifecycle", "show", str(tmp_path / "evil.toml"))

    assert "\x1b" not in shown
    assert "evil" in shown


def test_job_with_the_longest_id_can_be_run_again(site: Site) -> None:
    name = "x" * 255
    with connect(site.url) as client:
        client.enqueue("scan", job_id=name)
        client.cancel(name)

    assert site.json("job", "rerun", name).rerun_of == name
    assert site.detent("job", "rerun", name).exit_code == 1


def test_demo_keeps_out_of_a_file_that_is_somebody_s_own(site: Site) -> None:
    own = apsw.Connection(str(site.path))
    own.execute("create table mine (a)")
    own.close()

    result = site.detent("demo", "--file", str(site.path))

    assert result.exit_code == 1
    assert "somebody's own" in " ".join(result.stderr.split())
