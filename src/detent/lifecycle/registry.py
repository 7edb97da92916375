"""Definitions by name and version. A version never changes; a job is decided by the one it was created under."""

from detent.errors import LifecycleError, NotFound
from detent.lifecycle.lifecycle import Lifecycle
from detent.lifecycle.model import START
from detent.lifecycle.problems import problem
from detent.lifecycle.soundness import edges


class Registry:
    """The lifecycles one store or program knows."""

    def __init__(self, *lifecycles: Lifecycle) -> None:
        self._known: dict[tuple[str, int], Lifecycle] = {}
        self._latest: dict[str, Lifecycle] = {}
        for lifecycle in lifecycles:
            self.register(lifecycle)

    def register(self, lifecycle: Lifecycle) -> None:
        """Idempotent for the same content. Another one under a known version is refused."""
        known = self._known.setdefault((lifecycle.name, lifecycle.version), lifecycle)
        if known.digest != lifecycle.digest:
            version = lifecycle.version
            message = f"version {version} is known with other content; make this one version {version + 1}"
            raise LifecycleError(lifecycle.name, [problem("lifecycle_conflict", message)])
        latest = self._latest.setdefault(lifecycle.name, lifecycle)
        if latest.version < lifecycle.version:
            self._latest[lifecycle.name] = lifecycle

    def knows(self, name: str, version: int | None = None) -> bool:
        return name in self._latest if version is None else (name, version) in self._known

    def get(self, name: str, version: int | None = None) -> Lifecycle:
        """The named version, or the latest."""
        found = self._latest.get(name) if version is None else self._known.get((name, version))
        if found is None:
            names = ", ".join(sorted(self._latest)) or "none"
            wanted = name if version is None else f"{name} v{version}"
            raise NotFound(f"there is no lifecycle '{wanted}'; known: {names}")
        return found


def removed_by(old: Lifecycle, new: Lifecycle) -> list[str]:
    """What a later version took away. A compatible one only adds, so for it this is empty."""
    lost = [f"state '{name}'" for name in old.by_name if name not in new.by_name]
    kept = _rows(new)
    for (verb, source, target), by in _rows(old).items():
        row = f"'{verb}' from '{source}' to '{target}'"
        if (verb, source, target) not in kept:
            lost.append(row)
            continue
        lost += [f"{row} by {role}" for role in by if role not in kept[verb, source, target]]
    return lost


def _rows(lifecycle: Lifecycle) -> dict[tuple[str, str, str], tuple[str, ...]]:
    first = lifecycle.table.start
    rows: dict[tuple[str, str, str], tuple[str, ...]] = {("enqueue", START, first.leg.state.name): first.by}
    return rows | {(move.verb, source.name, target.name): move.by for move, source, target in edges(lifecycle)}
