"""Values and arrays as text: a real server reads each of them as what was meant."""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from detent.store.postgres.values import array, in_text
from tests.chance import examples
from tests.postgres.server import Connection, Server

HOSTILE: Final = (
    "", " ", "NULL", "null", "Null", "{}", "{", "}", "{a,b}", '{"a"}', '"', '""', "\\", "\\\\", '\\"', "\\x41",
    "\\N", "\\n", "\n", "\t", "\r\n", ",", "'", "''", "$1", ":name", "%s", "a\u202eb", "\u2028", "\ufeff", "naïve",
    "漢字", "🙂", "e\u0301", "\x01", "\x7f", "x" * 100_000, '"' * 1_000, "\\" * 1_001,
)  # fmt: skip
# What the store keeps as text: no NUL, and nothing that UTF-8 has no bytes for.
texts = st.sampled_from(HOSTILE) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
whole = st.sampled_from([0, -1, 2**63 - 1, -(2**63), 2**31, -(2**31) - 1]) | st.integers(-(2**63), 2**63 - 1)
edges = st.sampled_from([0.0, -0.0, 1e-7, 5e-324, 1.7976931348623157e308, 0.1, 1 / 3, 1e16, 1e22, 123456789.123456789])
real = edges | st.floats(allow_nan=False, allow_infinity=False)
KINDS: Final[dict[str, st.SearchStrategy[Any]]] = {
    "text": texts,
    "bigint": whole,
    "double precision": real,
    "bytea": st.binary(max_size=300) | st.sampled_from([b"", b"\\x41", b"NULL", b"\0", b'"\\', bytes(range(256))]),
}


@pytest.fixture(scope="module")
def connection(pg_server: Server) -> Iterator[Connection]:
    with pg_server.connected() as connection:
        yield connection


def read(connection: Connection, kind: str, given: str | None) -> Any:
    ((read,),) = connection.execute(f"select %s::text::{kind}", (given,)).fetchall()
    return read


@pytest.mark.hypothesis
@pytest.mark.parametrize("kind", KINDS)
def test_value_is_read_as_it_was_meant(connection: Connection, kind: str) -> None:
    @settings(max_examples=examples(300))
    @given(value=st.none() | KINDS[kind])
    def check(value: Any) -> None:
        found = read(connection, kind, in_text(value))

        assert (type(found), repr(found)) == (type(value), repr(value))

    check()


@pytest.mark.hypothesis
@pytest.mark.parametrize("kind", KINDS)
def test_array_is_read_as_it_was_meant(connection: Connection, kind: str) -> None:
    """But for nulls at its end, which need not be written: who reads arrays side by side has them all the same."""

    @settings(max_examples=examples(300))
    @given(values=st.lists(st.none() | KINDS[kind], min_size=1, max_size=12))
    def check(values: list[Any]) -> None:
        found = read(connection, f"{kind}[]", array(kind, values))

        assert repr(found + [None] * (len(values) - len(found))) == repr(values)

    check()


@pytest.mark.hypothesis
@pytest.mark.parametrize("kind", KINDS)
def test_arrays_that_run_side_by_side_stay_in_step(connection: Connection, kind: str) -> None:
    @settings(max_examples=examples(100))
    @given(rows=st.lists(st.tuples(st.none() | KINDS[kind], whole), min_size=1, max_size=8))
    def check(rows: list[tuple[Any, int]]) -> None:
        columns = array(kind, [value for value, _ in rows]), array("bigint", [number for _, number in rows])
        statement = f"select * from unnest(%s::text::{kind}[], %s::text::bigint[])"

        assert repr(connection.execute(statement, columns).fetchall()) == repr(rows)

    check()


@settings(max_examples=examples(200))
@example(text="\0")
@example(text="a\0b")
@given(text=st.text(st.characters(categories=["Cs"]), min_size=1))
def test_text_that_a_server_cannot_keep_does_not_get_there_as_something_else(connection: Connection, text: str) -> None:
    """NUL and halves of pairs are refused long before; if one came here, it would be an error and no other text."""
    for value, kind in ((in_text(text), "text"), (array("text", [text]), "text[]")):
        with pytest.raises((ValueError, UnicodeEncodeError, connection.DataError)):
            read(connection, kind, value)
