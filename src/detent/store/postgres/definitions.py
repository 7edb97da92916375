"""Lifecycles and policies as a store keeps them: each once, under a number, and in memory once it was read.

What was read stays right, because rows are only ever added. What was added in a transaction is forgotten if that is
rolled back: then its number was never given.
"""

import msgspec

from detent.errors import LifecycleError, NotFound
from detent.kernel.digest import digest
from detent.kernel.job import Spec
from detent.lifecycle import Lifecycle, Policy
from detent.lifecycle.problems import problem
from detent.store.moves import moves_of
from detent.store.postgres.script import Script, ask
from detent.store.postgres.statements import SQL
from detent.store.postgres.values import texts
from detent.store.rows import encode, lifecycle_of, text


class Definitions:
    """One for each connection. Each way to ask is a script, which asks the store for what is new only."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        self._numbers: dict[tuple[str, int], int] = {}
        self._lifecycles: dict[int, Lifecycle] = {}
        self._policies: dict[int, Policy] = {}
        self._policy_numbers: dict[bytes, int] = {}
        self._last_policy: tuple[Policy, int] | None = None  # most jobs in a row are of one type
        self._has_added = False

    def rolled_back(self) -> None:
        """A number that was given in the transaction may be given anew."""
        if self._has_added:
            self.forget()

    def committed(self) -> None:
        self._has_added = False

    def copy(self) -> "Definitions":
        """For a transaction of somebody else's, of which nobody knows here whether it will be rolled back."""
        copied = Definitions()
        copied._numbers, copied._lifecycles = self._numbers.copy(), self._lifecycles.copy()
        copied._policies, copied._policy_numbers = self._policies.copy(), self._policy_numbers.copy()
        return copied

    def has(self, policy: Policy) -> bool:
        return encode(policy) in self._policy_numbers

    def register(self, lifecycles: tuple[Lifecycle, ...]) -> Script[list[Lifecycle]]:
        yield ask(SQL["lock_lifecycles"], {})
        yield from self._refresh()
        for lifecycle in lifecycles:
            number = self._numbers.get((lifecycle.name, lifecycle.version))
            if number is None:
                yield from self._insert(lifecycle)
            elif self._lifecycles[number].digest != lifecycle.digest:
                version = lifecycle.version
                message = f"the store keeps version {version} with other content; make this one version {version + 1}"
                raise LifecycleError(lifecycle.name, [problem("lifecycle_conflict", message)])
        return (yield from self.known())

    def known(self) -> Script[list[Lifecycle]]:
        yield from self._refresh()
        return list(self._lifecycles.values())

    def of_number(self, number: int) -> Script[Lifecycle]:
        if number not in self._lifecycles:
            yield from self._refresh()
        return self._lifecycles[number]

    def named(self, name: str, version: int) -> Lifecycle | None:
        """One that is known already."""
        return self._lifecycles.get(self._numbers.get((name, version), -1))

    def number(self, name: str, version: int) -> Script[int]:
        if (name, version) not in self._numbers:
            yield from self._refresh()
        number = self._numbers.get((name, version))
        if number is None:
            raise NotFound(f"the store keeps no lifecycle '{name} v{version}'; register it first")
        return number

    def numbers_of(self, name: str, version: int, policy: Policy) -> tuple[int, int] | None:
        """Of a lifecycle and a policy that are both known already."""
        lifecycle, last = self._numbers.get((name, version)), self._last_policy
        number = last[1] if last is not None and last[0] is policy else self._policy_numbers.get(encode(policy))
        return None if lifecycle is None or number is None else (lifecycle, number)

    def numbers_read(self, spec: Spec) -> tuple[int, int] | None:
        """Of a job that was read here: its policy is one of those in hand."""
        lifecycle = self._numbers.get((spec.lifecycle, spec.lifecycle_version))
        number = next((number for number, policy in self._policies.items() if policy is spec.policy), None)
        return None if lifecycle is None or number is None else (lifecycle, number)

    def has_read(self, lifecycle: int, policy: int, spec: Spec) -> bool:
        """Whether these are still the numbers of its definitions here: a database may be replaced by another."""
        is_so = self._numbers.get((spec.lifecycle, spec.lifecycle_version)) == lifecycle
        return is_so and self._policies.get(policy) == spec.policy

    def policy(self, number: int) -> Script[Policy]:
        known = self._policies.get(number)
        if known is None:
            ((content,),) = yield ask(SQL["policy"], {"policy": number})
            known = self._policies[number] = msgspec.json.decode(content, type=Policy)
        return known

    def policy_number(self, policy: Policy) -> Script[int]:
        last = self._last_policy
        if last is not None and last[0] is policy:
            return last[1]
        content = encode(policy)
        number = self._policy_numbers.get(content)
        if number is None:
            self._has_added = True
            number = self._policy_numbers[content] = yield from _policy_number(content)
        self._last_policy = policy, number
        return number

    def _refresh(self) -> Script[None]:
        for number, name, version, _, definition in (yield ask(SQL["lifecycles"], {})):
            if number not in self._lifecycles:
                self._lifecycles[number] = lifecycle_of(definition)
                self._numbers[name, version] = number

    def _insert(self, lifecycle: Lifecycle) -> Script[None]:
        row = {
            "name": lifecycle.name,
            "version": lifecycle.version,
            "digest": lifecycle.digest,
            "definition": text(lifecycle),
        }
        self._has_added = True
        ((number,),) = yield ask(SQL["insert_lifecycle"], row)
        names = ("sources", "verbs", "targets", "phases", "outcomes")
        columns = zip(*moves_of(lifecycle), strict=True)
        moves = {name: texts(column) for name, column in zip(names, columns, strict=True)}
        yield ask(SQL["insert_move"], {"lifecycle": number, **moves})
        yield from self._refresh()


def _policy_number(content: bytes) -> Script[int]:
    """Looked for first: nearly always it is there. If somebody else brings it meanwhile, it is there then."""
    key = {"digest": digest(content)}
    rows = yield ask(SQL["policy_by_digest"], key)
    if not rows:
        rows = yield ask(SQL["insert_policy"], {**key, "content": content.decode()})
    if not rows:
        rows = yield ask(SQL["policy_by_digest"], key)
    number: int = rows[0][0]
    return number
