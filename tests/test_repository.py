"""What is in the repository works anywhere: it names no registry, and no place outside itself."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
KEPT_HIDDEN = frozenset({".ci", ".github", ".gitignore", ".editorconfig", ".gitattributes"})
BUILT = frozenset({"__pycache__", "build", "dist", "node_modules"})

# In pieces, so that this file does not find itself.
REGISTRY_ADDRESS = re.compile(
    "|".join(
        [
            r"pypi" + r"\.(org|python\.org)",
            r"python" + r"hosted\.org",
            r"^\s*--?(extra-)?index" + r"-url\b",
            r"(extra[-_])?index" + r"[-_]url\s*=\s*\S",
            r"^\s*--(find" + r"-links|trusted-host)\b",
            r"(https?|file)://\S+" + r"/simple\b",
        ]
    ),
    re.MULTILINE | re.IGNORECASE,
)
OUTSIDE_PATH = re.compile(r"\.\./" + r"shared\b|(?<![\w.])/" + r"work/")


def own_files(folder: Path = ROOT) -> Iterator[Path]:
    """Every file that is ours: no hidden folder (venv, caches, git) and nothing built."""
    for path in sorted(folder.iterdir()):
        if path.name in BUILT or (path.name.startswith(".") and path.name not in KEPT_HIDDEN):
            continue
        if path.is_dir():
            yield from own_files(path)
        else:
            yield path


def lines_with(pattern: re.Pattern[str]) -> list[str]:
    # A file that is no text (a demo's database) is not committed and has nothing to say here.
    texts = ((path, path.read_bytes().decode("utf-8", errors="ignore")) for path in own_files())
    return [
        f"{path.relative_to(ROOT)}: {match.group().strip()}" for path, text in texts for match in pattern.finditer(text)
    ]


def test_no_file_names_a_package_registry() -> None:
    assert lines_with(REGISTRY_ADDRESS) == []


def test_no_file_points_outside_the_repository() -> None:
    assert lines_with(OUTSIDE_PATH) == []


def test_own_files_include_the_hidden_ones_we_keep_and_no_installed_ones() -> None:
    names = {path.relative_to(ROOT).as_posix() for path in own_files()}

    assert {".ci/run", ".gitignore", "pyproject.toml", "tests/test_repository.py"} <= names
    assert not any(name.startswith((".git/", ".venv/")) for name in names)


@pytest.mark.parametrize(
    "line",
    [
        "https://{}/project/detent".format("pypi" + ".org"),
        "https://files.{}/packages".format("python" + "hosted.org"),
        "--{} https://example.org".format("index" + "-url"),
        "--extra-{} x".format("index" + "-url"),
        "{} = https://example.org".format("index" + "-url"),
        "PIP_{}=https://example.org".format("INDEX" + "_URL"),
        "--{} wheels".format("find" + "-links"),
        "file:///opt/mirror" + "/simple",
    ],
)
def test_registry_pattern_finds(line: str) -> None:
    assert REGISTRY_ADDRESS.search(line)


@pytest.mark.parametrize("option", ["--no-emit-" + "index-url", "env -u PIP_" + "FIND_LINKS"])
def test_registry_pattern_passes_options_that_keep_addresses_out(option: str) -> None:
    assert not REGISTRY_ADDRESS.search(option)


@pytest.mark.parametrize("text", ["see ../" + "shared/design.md", "cd /" + "work/main"])
def test_outside_path_pattern_finds(text: str) -> None:
    assert OUTSIDE_PATH.search(text)


@pytest.mark.parametrize("text", ["network/work/items", "src/detent/shared", "../docs"])
def test_outside_path_pattern_passes(text: str) -> None:
    assert not OUTSIDE_PATH.search(text)
