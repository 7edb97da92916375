"""The steps of a store's schema: numbered files, each applied once, with a checksum of what it was."""

import hashlib
from collections.abc import Iterable
from functools import cache
from importlib.resources import files

from msgspec.structs import replace

from detent.errors import StoreError
from detent.store.query import Migration
from detent.store.rows import Row


@cache
def migrations_in(package: str) -> tuple[Migration, ...]:
    """Those this program has, in their order: `0001_first.sql` is number 1."""
    found = [each for each in files(package).iterdir() if each.name.endswith(".sql")]
    made = [
        Migration(number=int(each.name[:4]), name=each.name[5:-4], sql=each.read_text(encoding="utf-8"))
        for each in found
    ]
    return tuple(sorted(made, key=lambda migration: migration.number))


def matched(migrations: Iterable[Migration], rows: Iterable[Row], where: str) -> list[Migration]:
    """The handshake: each of them as the store has it. A store this program cannot understand is refused.

    Rows are the number, the name, the checksum and the moment of what was applied.
    """
    known = {migration.number: migration for migration in migrations}
    for number, name, checksum, applied_at in rows:
        if number not in known:
            raise _newer(where, number, name, max(known))
        if checksum_of(known[number]) != checksum:
            raise _changed(where, number, name)
        known[number] = replace(known[number], applied_at=applied_at)
    return list(known.values())


def checksum_of(migration: Migration) -> str:
    return hashlib.sha256(migration.sql.encode()).hexdigest()


def _newer(where: str, number: int, name: str, newest: int) -> StoreError:
    return StoreError(
        f"store {where}: it has migration {number} ({name}), and this program knows them up to {newest}; "
        "use the version of Detent that migrated it, or a later one",
        code="schema_newer",
    )


def _changed(where: str, number: int, name: str) -> StoreError:
    return StoreError(
        f"store {where}: its migration {number} ({name}) is not this program's; "
        "use the version of Detent that made it, or restore a backup",
        code="schema_changed",
    )
