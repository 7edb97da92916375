"""Lifecycles and policies as a store keeps them: each once, under a number, and in memory once it was read."""

import msgspec

from detent.errors import LifecycleError, NotFound
from detent.kernel.digest import digest
from detent.lifecycle import Lifecycle, Policy
from detent.lifecycle.problems import problem
from detent.store.moves import moves_of
from detent.store.rows import encode, lifecycle_of, text
from detent.store.sqlite.connection import Connection
from detent.store.sqlite.statements import SQL


class Definitions:
    """A store's own numbers for what it knows. Rows are only ever added, so what was read stays right."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, int], int] = {}
        self._named: dict[tuple[str, int], Lifecycle] = {}
        self._lifecycles: dict[int, Lifecycle] = {}
        self._policies: dict[int, Policy] = {}
        self._policy_numbers: dict[bytes, int] = {}
        self._last_policy: tuple[Policy, int] | None = None  # most jobs in a row are of one type

    def register(self, connection: Connection, lifecycles: tuple[Lifecycle, ...]) -> list[Lifecycle]:
        self._refresh(connection)
        for lifecycle in lifecycles:
            number = self._numbers.get((lifecycle.name, lifecycle.version))
            if number is None:
                self._insert(connection, lifecycle)
                self._refresh(connection)
            elif self._lifecycles[number].digest != lifecycle.digest:
                version = lifecycle.version
                message = f"the store keeps version {version} with other content; make this one version {version + 1}"
                raise LifecycleError(lifecycle.name, [problem("lifecycle_conflict", message)])
        return list(self._lifecycles.values())

    def known(self, connection: Connection) -> list[Lifecycle]:
        self._refresh(connection)
        return list(self._lifecycles.values())

    def forget(self) -> None:
        """After a rollback: a number that was given in it may be given anew."""
        for known in (self._numbers, self._named, self._lifecycles):
            known.clear()
        self.forget_policies()

    def forget_policies(self) -> None:
        self._policies.clear()
        self._policy_numbers.clear()
        self._last_policy = None

    def lifecycle(self, connection: Connection, number: int) -> Lifecycle:
        if number not in self._lifecycles:
            self._refresh(connection)
        return self._lifecycles[number]

    def lifecycle_named(self, connection: Connection, name: str, version: int) -> Lifecycle:
        known = self._named.get((name, version))
        return known or self._lifecycles[self.lifecycle_number(connection, name, version)]

    def lifecycle_number(self, connection: Connection, name: str, version: int) -> int:
        if (name, version) not in self._numbers:
            self._refresh(connection)
        number = self._numbers.get((name, version))
        if number is None:
            raise NotFound(f"the store keeps no lifecycle '{name} v{version}'; register it first")
        return number

    def policy(self, connection: Connection, number: int) -> Policy:
        known = self._policies.get(number)
        if known is None:
            ((content,),) = connection.execute(SQL["policy"], (number,))
            known = self._policies[number] = msgspec.json.decode(content, type=Policy)
        return known

    def policy_number(self, connection: Connection, policy: Policy) -> int:
        if self._last_policy is not None and self._last_policy[0] is policy:
            return self._last_policy[1]
        content = encode(policy)
        number = self._policy_numbers.get(content)
        if number is None:
            number = self._policy_numbers[content] = _policy_number(connection, content)
        self._last_policy = policy, number
        return number

    def _refresh(self, connection: Connection) -> None:
        for number, name, version, _, definition in connection.execute(SQL["lifecycles"]):
            if number not in self._lifecycles:
                self._lifecycles[number] = lifecycle_of(definition)
                self._numbers[name, version] = number
                self._named[name, version] = self._lifecycles[number]

    def _insert(self, connection: Connection, lifecycle: Lifecycle) -> None:
        row = (lifecycle.name, lifecycle.version, lifecycle.digest, text(lifecycle))
        connection.execute(SQL["insert_lifecycle"], row)
        number = connection.last_insert_rowid()
        connection.executemany(SQL["insert_move"], [(number, *move) for move in moves_of(lifecycle)])


def _policy_number(connection: Connection, content: bytes) -> int:
    key = digest(content)
    row = connection.one(SQL["policy_by_digest"], (key,))
    if row is None:
        connection.execute(SQL["insert_policy"], (key, content.decode()))
        return connection.last_insert_rowid()
    number: int = row[0]
    return number
