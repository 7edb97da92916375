"""What a token may not be, and may not become, the schema refuses by itself, whoever writes it."""

from typing import Any, Final

import apsw
import psycopg
import pytest

from tests.client.places import OnPostgres, OnSqlite
from tests.client.world import World

ROW: Final[dict[str, str]] = {
    "id": "'t1'", "tenant": "'a'", "name": "'ci'", "scopes": """'["work"]'""", "worker": "'w1'",
    "digest": f"'{'0123456789abcdef' * 4}'", "created_at": "10", "created_by": "'ann'", "expires_at": "20",
    "revoked_at": "null", "revoked_by": "null",
}  # fmt: skip
NONSENSE: Final[list[dict[str, str]]] = [
    *({name: "null"} for name in ("id", "name", "scopes", "digest", "created_at", "created_by")),
    *({name: "''"} for name in ("id", "tenant", "name", "worker", "digest")),
    {"scopes": "'[]'"},
    {"digest": f"'{'x' * 64}'"},
    {"digest": f"'{'A' * 64}'"},
    {"digest": "'0123'"},
    {"expires_at": "10"},
    {"expires_at": "9"},
    {"tenant": "null"},
    {"scopes": """'["read"]'"""},
    {"revoked_at": "15"},
    {"revoked_by": "'bob'"},
]
CHANGES: Final = [
    *(f"{name} = 'other'" for name in ("id", "tenant", "name", "worker", "created_by")),
    """scopes = '["work", "admin"]'""",
    f"digest = '{'0' * 64}'",
    "created_at = 11",
    "expires_at = 21",
    "expires_at = null",
    "worker = null",
]
UNDONE: Final = ["revoked_at = null, revoked_by = null", "revoked_at = 16", "revoked_by = 'carl'"]
ONCE: Final = "a token never changes, but for being revoked once"


def do(world: World, statement: str) -> Any:
    """Past the store, as somebody with the file or the database in hands."""
    if isinstance(world.place, OnSqlite):
        with apsw.Connection(str(world.place.path)) as connection:
            return connection.execute(statement).fetchall()
    assert isinstance(world.place, OnPostgres)
    with psycopg.connect(world.place.url, autocommit=True) as connection:
        answer = connection.execute(statement.encode())
        return answer.fetchall() if answer.description else []


def insert(world: World, **changes: str) -> None:
    row = ROW | changes
    do(world, f"insert into detent_tokens ({', '.join(row)}) values ({', '.join(row.values())})")


def refused(world: World, statement: str) -> str:
    with pytest.raises((apsw.ConstraintError, psycopg.DatabaseError)) as wrong:
        do(world, statement)
    return str(wrong.value)


@pytest.mark.parametrize("wrong", NONSENSE, ids=str)
def test_token_that_makes_no_sense_is_not_let_in(fresh: World, wrong: dict[str, str]) -> None:
    with pytest.raises((apsw.ConstraintError, psycopg.errors.IntegrityError)):
        insert(fresh, **wrong)
    insert(fresh)

    assert [token.id for token in fresh.beside(tenant="a").tokens()] == ["t1"]


@pytest.mark.parametrize("change", CHANGES)
def test_token_never_changes(fresh: World, change: str) -> None:
    insert(fresh)

    assert ONCE in refused(fresh, f"update detent_tokens set {change}")


@pytest.mark.parametrize("change", UNDONE)
def test_revoked_token_stays_revoked(fresh: World, change: str) -> None:
    insert(fresh)
    do(fresh, "update detent_tokens set revoked_at = 15, revoked_by = 'bob'")

    assert ONCE in refused(fresh, f"update detent_tokens set {change}")
    do(fresh, "delete from detent_tokens")
