"""The generator of the reference pages: what it writes is current, and what is changed by hand is noticed."""

from pathlib import Path

import pytest

from detent.lifecycles import BUILT_IN
from tools.generate_docs import REFERENCE, main


def generate(folder: Path, *options: str) -> int:
    return main(["--folder", str(folder), *options])


def test_pages_in_the_repository_are_current() -> None:
    assert main(["--check"]) == 0


def test_one_page_is_written_per_lifecycle_with_an_index_and_one_for_each_surface(tmp_path: Path) -> None:
    assert generate(tmp_path) == 0

    written = {path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*.*")}
    assert written == {
        "cli.md",
        "client.md",
        "errors.md",
        "failure-paths.md",
        "http-api.md",
        "lifecycles/index.md",
        "metrics.md",
        "openapi.json",
        *(f"lifecycles/{name}.md" for name in BUILT_IN),
    }


def test_pages_just_written_are_current(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generate(tmp_path)
    capsys.readouterr()

    assert generate(tmp_path, "--check") == 0
    assert capsys.readouterr() == ("", "")


def test_changed_page_is_named_with_what_to_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generate(tmp_path)
    changed = tmp_path / "lifecycles" / "engine.md"
    changed.write_text(changed.read_text(encoding="utf-8").replace("30 s", "31 s"), encoding="utf-8")

    assert generate(tmp_path, "--check") == 1
    said = capsys.readouterr().err
    assert str(changed) in said
    assert "standard.md" not in said
    assert "make docs" in said


def test_missing_page_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    generate(tmp_path)
    (tmp_path / "errors.md").unlink()

    assert generate(tmp_path, "--check") == 1
    assert "errors.md" in capsys.readouterr().err


def test_page_of_a_lifecycle_that_is_gone_is_named_and_then_removed(tmp_path: Path) -> None:
    generate(tmp_path)
    gone = tmp_path / "lifecycles" / "gone.md"
    gone.touch()

    assert generate(tmp_path, "--check") == 1
    assert gone.exists()
    assert generate(tmp_path) == 0
    assert not gone.exists()


def test_check_writes_nothing(tmp_path: Path) -> None:
    generate(tmp_path, "--check")

    assert list(tmp_path.iterdir()) == []


def test_pages_go_where_the_documentation_links_to_them() -> None:
    assert (REFERENCE / "lifecycles" / "index.md").exists()
    assert (REFERENCE / "errors.md").exists()
