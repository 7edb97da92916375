"""The store knows phases and outcomes. A lifecycle's own words are rows: no SQL may name one."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from detent.lifecycle.toml import from_toml
from detent.lifecycle.words import OUTCOMES, PHASES
from detent.lifecycles import BUILT_IN
from tests.store.sqlite.by_hand import Hand
from tests.store.sqlite.files import ROOT

STORE: Final = ROOT / "src/detent/store"
SQL_FILES: Final = sorted(STORE.rglob("*.sql"))
PYTHON_FILES: Final = sorted(STORE.rglob("*.py"))
LIFECYCLES: Final = (*BUILT_IN.values(), from_toml((ROOT / "docs/examples/article.toml").read_text()))
STATES: Final = {state.name.lower() for lifecycle in LIFECYCLES for state in lifecycle.states}
# A state may be called what an outcome is called: then the word in SQL is the outcome's.
OURS: Final = {*OUTCOMES, *PHASES}
KEYWORDS: Final = ("select ", "insert ", "update ", "delete ", "create ", "pragma ", "with ", "and ", "where ")


def test_there_is_sql_to_look_at() -> None:
    assert len(SQL_FILES) >= 7
    assert sum(1 for file in PYTHON_FILES for _ in sql_in(file)) >= 3
    assert {"queued", "running", "retrying", "in_review"} <= STATES


@pytest.mark.parametrize("file", SQL_FILES, ids=lambda file: file.name)
def test_sql_file_names_no_state_not_even_in_a_comment(file: Path, hand: Hand) -> None:
    assert words(file.read_text()) & STATES - OURS - columns(hand) == set()


@pytest.mark.parametrize("file", SQL_FILES, ids=lambda file: file.name)
def test_sql_file_compares_with_no_state(file: Path) -> None:
    literals = {literal.lower() for literal in re.findall(r"'([^']*)'", file.read_text())}

    assert literals & STATES - OURS == set()


@pytest.mark.parametrize("file", PYTHON_FILES, ids=lambda file: str(file.relative_to(STORE)))
def test_statement_in_a_module_names_no_state(file: Path, hand: Hand) -> None:
    named = {word for statement in sql_in(file) for word in words(statement)}

    assert named & STATES - OURS - columns(hand) == set()


def words(text: str) -> set[str]:
    return set(re.findall(r"\b\w+\b", text.lower()))


def columns(hand: Hand) -> set[str]:
    """Names of columns: `claimed` of a receipt is no state."""
    tables = hand.db.execute("select name from sqlite_master where type = 'table'").fetchall()
    return {column[1] for (table,) in tables for column in hand.db.execute(f"pragma table_info({table})")}


def sql_in(file: Path) -> Iterator[str]:
    """Strings of a module that begin as a statement, or as a part of one, does."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value.strip()
            if text.lower().startswith(KEYWORDS):
                yield text
