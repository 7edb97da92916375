"""What the planning is told inside a transaction: the facts, read before they are needed.

The planning asks for facts one at a time and does not wait. So those that a request is sure to need are read
beforehand, all in one go; whatever else it asks for is read then, and it plans again. It can: it is pure.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar

from detent.errors import NotFound
from detent.kernel import Event, Job, Note, Receipt
from detent.kernel.command import Enqueue
from detent.kernel.job import Spec
from detent.lifecycle import Lifecycle, Policy
from detent.store.facts import counted_to
from detent.store.limits import KeyUse, LimitKey
from detent.store.postgres.definitions import Definitions
from detent.store.postgres.models import Models
from detent.store.postgres.reckoning import monotonic_us
from detent.store.postgres.script import Script, ask
from detent.store.postgres.statements import SQL
from detent.store.postgres.values import texts
from detent.store.postgres.watermarks import Watermarks
from detent.store.request import Kept, Key, Request, Scope, scope_of
from detent.store.rows import WIDTH, Row, claimed_of, job_of, note_of, use_of

KEYS_MAX: Final = 128  # that one transaction locks: the table of locks is shared by everybody on the server
DedupeKey = tuple[str, str, str]  # tenant, kind and key
Known = tuple[Job, int]  # a job, and the number that the store has given it
Name = TypeVar("Name")
Fact = TypeVar("Fact")


class Missing(Exception):
    """A fact that was not read yet."""

    def __init__(self, what: str, key: Any) -> None:
        super().__init__(what, key)
        self.what = what
        self.key = key


class Session:
    """The facts of one transaction. `clock`: the moment, if it is not the store's own to say."""

    def __init__(
        self,
        definitions: Definitions,
        clock: int | None = None,
        watermarks: Watermarks | None = None,
        models: Models | None = None,
        reckoned: int | None = None,
    ) -> None:
        self.definitions = definitions
        self.watermarks = watermarks or Watermarks()
        self.models = models or Models()
        self.clock = clock
        self.reckoned = reckoned if clock is None else clock  # about now, if anybody knows
        self.now = 0 if clock is None else clock
        self.told: tuple[int, int] | None = None  # what the store's clock last said, and when that was heard
        self.transaction: str | None = None
        self.events: list[tuple[Key, Event]] = []  # one of each plan that was written
        self.locked: set[Key] = set()  # those that somebody else is moving
        self.written: dict[Key, Job] = {}
        self.at_commit: list[Callable[[], object]] = []
        self._jobs: dict[Key, Job | None] = {}
        self._live: dict[DedupeKey, Job | None] = {}
        self._kept: dict[Scope, Kept | None] = {}
        self._room: dict[Key, int | None] = {}
        self._noted: dict[tuple[str, str, str], list[Note]] = {}
        self._uses: dict[LimitKey, KeyUse | None] = {}
        self._keys_locked: set[LimitKey] = set()
        self._unknown: set[tuple[str, int]] = set()
        self._numbers: dict[Key, int] = {}

    # -- facts, as the planning asks for them

    def job(self, tenant: str, job_id: str) -> Job | None:
        return self._jobs.get((tenant, job_id)) or self._fact("job", self._jobs, (tenant, job_id))

    def live(self, tenant: str, kind: str, dedupe_key: str) -> Job | None:
        return self._fact("live", self._live, (tenant, kind, dedupe_key))

    def kept(self, scope: Scope) -> Kept | None:
        return self._fact("kept", self._kept, scope)

    def room(self, tenant: str, queue: str) -> int | None:
        return self._fact("room", self._room, (tenant, queue))

    def lifecycle(self, name: str, version: int) -> Lifecycle:
        known = self.definitions.named(name, version)
        if known is None and (name, version) in self._unknown:
            raise NotFound(f"the store keeps no lifecycle '{name} v{version}'; register it first")
        if known is None:
            raise Missing("lifecycle", (name, version))
        return known

    def noted(self, tenant: str, job_id: str, kind: str) -> list[Note]:
        return self._fact("noted", self._noted, (tenant, job_id, kind))

    def use(self, tenant: str, limit_key: str) -> KeyUse | None:
        return self._fact("use", self._uses, (tenant, limit_key))

    def definitions_of(self, spec: Spec) -> tuple[int, int]:
        """The numbers of its lifecycle and its policy."""
        known = self.definitions.numbers_of(spec.lifecycle, spec.lifecycle_version, spec.policy)
        if known is None:
            raise Missing("definitions", spec)
        return known

    # -- reading them

    def gather(self, requests: Sequence[Request]) -> Script[None]:
        """What these are sure to need."""
        yield from self.lock(dict.fromkeys([(each.tenant, each.job_id) for each in requests if not each.is_fresh]))
        yield from self.look_at_clock()
        keyed = [_dedupe_key(each.command) for each in requests if isinstance(each.command, Enqueue)]
        keys = [key for key in keyed if key is not None]
        if keys:
            yield from self._fetch_live(keys)
        scopes = [_scope(each) for each in requests if each.command.request_id is not None]
        if scopes:
            yield from self._fetch_kept(scopes)

    def fetch(self, missing: Missing) -> Script[None]:
        """What was asked for and not there."""
        key = missing.key
        if missing.what == "job":
            yield from self.lock([key])
        elif missing.what == "live":
            yield from self._fetch_live([key])
        elif missing.what == "kept":
            yield from self._fetch_kept([key])
        elif missing.what == "room":
            yield from self._fetch_room(key)
        elif missing.what == "noted":
            yield from self._fetch_noted(key)
        elif missing.what == "use":
            yield from self._fetch_uses(key)
        else:
            yield from self.definitions.known()
            self._unknown |= {key} if self.definitions.named(*key) is None else set()

    def lock(self, keys: Iterable[Key]) -> Script[None]:
        """Jobs that are to be moved. One that is not there, has ended or is being moved is looked at once more."""
        wanted = [key for key in keys if key not in self._jobs]
        if not wanted:
            return
        yield from self.jobs_of((yield ask(SQL["lock_by_ids"], _keys(wanted))))
        others = [key for key in wanted if key not in self._jobs]
        if others:
            jobs = yield from self.jobs_of((yield ask(SQL["by_ids"], _keys(others))))
            self.locked |= {(job.spec.tenant, job.id) for job in jobs if not job.is_ended}
            self._jobs.update(dict.fromkeys([key for key in others if key not in self._jobs]))

    def get(self, tenant: str, job_ids: Sequence[str]) -> Script[list[Job | None]]:
        """Jobs as they are, for whoever only reads."""
        keys = [(tenant, job_id) for job_id in job_ids]
        jobs = yield from self.jobs_of((yield ask(SQL["by_ids"], _keys(list(dict.fromkeys(keys))))))
        found = {(job.spec.tenant, job.id): job for job in jobs}
        return [found.get(key) for key in keys]

    def look_at_clock(self) -> Script[None]:
        if not self.now:
            self.at(*(yield ask(SQL["moment"], {}))[0])

    def jobs_of(self, rows: Sequence[Row]) -> Script[list[Job]]:
        """Rows of the shared columns as records; a moment may stand behind these."""
        policies: dict[int, Policy] = {}
        lifecycles: dict[int, Lifecycle] = {}
        jobs = []
        for row in rows:
            lifecycle = lifecycles.get(row[3])
            if lifecycle is None:
                lifecycle = lifecycles[row[3]] = yield from self.definitions.of_number(row[3])
            if row[4] not in policies:
                policies[row[4]] = yield from self.definitions.policy(row[4])
            job = job_of(row[:WIDTH], lifecycle, policies[row[4]])
            jobs.append(job)
            key = job.spec.tenant, job.id
            self._jobs[key], self._numbers[key] = job, row[0]
        if rows and len(rows[0]) > WIDTH:
            self.at(max([row[WIDTH] for row in rows]))
        return jobs

    def lifecycles(self) -> Script[list[Lifecycle]]:
        return (yield from self.definitions.known())

    def know(self, spec: Spec) -> Script[None]:
        """The numbers of the definitions of a new job."""
        yield from self.definitions.number(spec.lifecycle, spec.lifecycle_version)
        yield from self.definitions.policy_number(spec.policy)

    # -- what happens in the transaction

    def at(self, moment: int) -> None:
        """The store's clock was read. It decides by the last reading, after every lock was taken."""
        self.told = moment, monotonic_us()
        if self.clock is None:
            self.now = max(self.now, moment)

    def recall(self, key: Key, known: Known) -> None:
        """A record as it is remembered, which the write will compare."""
        self._jobs[key], self._numbers[key] = known

    def number(self, key: Key) -> int:
        return self._numbers[key]

    def numbers(self, keys: Iterable[Key]) -> list[int]:
        return [self._numbers[key] for key in keys]

    def numbered(self, numbers: Iterable[tuple[Key, int]]) -> None:
        self._numbers.update(numbers)

    def wrote(self, event: tuple[Key, Event] | None, jobs: dict[Key, Job]) -> None:
        """A plan is about to be written: those that come after it in the transaction see what it leaves."""
        self.events += [] if event is None else [event]
        self.written.update(jobs)
        for key, job in jobs.items():
            self._jobs[key] = job
        for facts in (self._live, self._kept, self._room, self._noted, self._uses):
            facts.clear()

    def heard(self, transaction: str, now: int) -> None:
        self.transaction = transaction
        self.at(now)

    def committed(self) -> None:
        """What can only be known now."""
        for each in self.at_commit:
            each()
        if self.watermarks.is_used:
            for key, job in self.written.items():
                if job.order_at is not None:
                    spec = job.spec
                    lane = spec.queue, spec.kind, spec.adapter_id or ""
                    self.watermarks.came(spec.tenant, lane, (job.order_at, self._numbers[key]))

    @property
    def makes_work(self) -> bool:
        """Whether there may be something to claim now that was not there: a job that waits, or room for a key."""
        return any(job.claim_at is not None or job.spec.limit_key is not None for job in self.written.values())

    def remembered(self) -> list[tuple[Key, Known]]:
        """What was written, for the next time."""
        numbers = self._numbers
        return [(key, (job, numbers[key])) for key, job in self.written.items()]

    def _fact(self, what: str, facts: dict[Name, Fact], key: Name) -> Fact:
        if key not in facts:
            raise Missing(what, key)
        return facts[key]

    def _fetch_live(self, keys: Sequence[DedupeKey]) -> Script[None]:
        names, columns = ("tenants", "kinds", "dedupe_keys"), zip(*dict.fromkeys(keys), strict=True)
        rows = yield ask(
            SQL["by_dedupe_key"], {name: texts(column) for name, column in zip(names, columns, strict=True)}
        )
        self._live.update(dict.fromkeys(keys))
        for job in (yield from self.jobs_of(rows)):
            self._live[job.spec.tenant, job.spec.kind, job.spec.dedupe_key or ""] = job

    def _fetch_kept(self, scopes: Sequence[Scope]) -> Script[None]:
        yield from self.look_at_clock()
        names = ("tenants", "verbs", "job_ids", "request_ids")
        columns = zip(*scopes, strict=True)
        values = {name: texts(column) for name, column in zip(names, columns, strict=True)}
        self._kept.update(dict.fromkeys(scopes))
        for place, digest, job_id, rev, claimed in (yield ask(SQL["receipt"], {**values, "now": self.now})):
            scope = scopes[place - 1]
            receipt = Receipt(scope.request_id, digest, job_id, rev)
            self._kept[scope] = Kept(scope, receipt, claimed_of(claimed))

    def _fetch_noted(self, key: tuple[str, str, str]) -> Script[None]:
        """A job that is new in this transaction has no number yet, and no notes."""
        tenant, job_id, kind = key
        asked = {"job": self._numbers.get((tenant, job_id), 0), "kind": kind}
        self._noted[key] = [note_of(row, job_id) for row in (yield ask(SQL["notes_of_kind"], asked))]

    def _fetch_uses(self, key: LimitKey) -> Script[None]:
        """Of this key, and of those that will be asked for next: all that the jobs have which were looked at."""
        tenant = key[0]
        waiting = [job.spec for job in self._jobs.values() if job is not None and job.claim_at is not None]
        near = [spec.limit_key for spec in waiting if spec.tenant == tenant and spec.limit_key is not None]
        wanted = [each for each in dict.fromkeys([key[1], *near]) if (tenant, each) not in self._uses]
        self._uses.update(dict.fromkeys((tenant, each) for each in wanted))  # None, unless it can be locked
        locked = yield from self._lock_keys(tenant, wanted[: KEYS_MAX - len(self._keys_locked)])
        if locked:
            for limit_key, *used, moment in (yield ask(SQL["key_uses"], {"tenant": tenant, "keys": texts(locked)})):
                self._uses[tenant, limit_key] = use_of(*used)
                self.at(moment)

    def _lock_keys(self, tenant: str, keys: Sequence[str]) -> Script[list[str]]:
        """Those of them that nobody else is counting."""
        if not keys:
            return []
        rows = yield ask(SQL["lock_keys"], {"tenant": tenant, "keys": texts(keys)})
        locked = [limit_key for limit_key, is_locked in rows if is_locked]
        self._keys_locked |= {(tenant, each) for each in locked}
        return locked

    def _fetch_room(self, key: Key) -> Script[None]:
        """Counted after the limit was locked, by a statement of its own: so it sees what others have just left."""
        tenant, queue = key
        limits = yield ask(SQL["depth_max"], {"tenants": texts([tenant]), "queues": texts([queue])})
        self._room[key] = None
        if limits:
            limit: int = limits[0][2]
            counted = {"tenant": tenant, "queue": queue, "counted_max": counted_to(limit)}
            ((waiting,),) = yield ask(SQL["depth"], counted)
            self._room[key] = limit - waiting


def _dedupe_key(command: Enqueue) -> DedupeKey | None:
    return None if command.dedupe_key is None else (command.tenant, command.kind, command.dedupe_key)


def _scope(request: Request) -> Scope:
    return scope_of(request.tenant, request.job_id, request.command.verb, request.command.request_id or "")


def _keys(keys: Sequence[Key]) -> dict[str, str]:
    return {"tenants": texts([tenant for tenant, _ in keys]), "ids": texts([job_id for _, job_id in keys])}
