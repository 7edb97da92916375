"""What the kernel is told inside a transaction: the facts, read from one connection as they are needed.

A session remembers the records it read and wrote. That is safe because SQLite says when anybody else has written to
the file (`data_version`); then, and after a rollback, everything is forgotten. A program that has the file to itself
reads each job once.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

from detent.kernel import Job, Note, Receipt
from detent.lifecycle import Lifecycle
from detent.store.facts import counted_to
from detent.store.limits import HOLDERS_MAX, KeyReport, KeyUse
from detent.store.request import Kept, Key, Scope
from detent.store.rows import Row, claimed_of, encode, job_of, note_of, use_of
from detent.store.sqlite.connection import Connection
from detent.store.sqlite.definitions import Definitions
from detent.store.sqlite.statements import SQL

_BY_ID, _BY_IDS, _BY_NUMBERS, _BY_KEY = SQL["by_id"], SQL["by_ids"], SQL["by_numbers"], SQL["by_dedupe_key"]
_RECEIPT, _DEPTH_MAX, _DEPTH, _IS_PAUSED = SQL["receipt"], SQL["depth_max"], SQL["depth"], SQL["is_paused"]
_KEY_USE, _KEY_RATE, _USED_UP = SQL["key_use"], SQL["key_rate"], SQL["used_up"]
REMEMBERED_MAX: Final = 4_096
REMEMBERED_BYTES_MAX: Final = 16_384  # of payload and checkpoint: larger ones are read again


class Session:
    """Facts for one transaction after the other, on one connection."""

    def __init__(self, connection: Connection, definitions: Definitions) -> None:
        self.connection = connection
        self.definitions = definitions
        self.now = 0
        self.makes_work = False  # there may be something to claim that was not there: a job that waits, room for a key
        self._version = -1
        self._jobs: dict[Key, Job | None] = {}  # None: known not to be there
        self._numbers: dict[Key, int] = {}
        self._keys: dict[int, Key] = {}
        self._paused: dict[Key, bool] = {}  # by tenant and queue

    def begin(self, now: int) -> None:
        """At the start of a transaction: forget what others may have changed since the last one."""
        self.now, self.makes_work = now, False
        ((version,),) = self.connection.execute(SQL["data_version"])
        if version != self._version or max(len(self._numbers), len(self._jobs), len(self._paused)) > REMEMBERED_MAX:
            self.forget()
            self._version = version

    def forget(self) -> None:
        """Everything that a rollback, or another's write, may have made wrong."""
        self._jobs.clear()
        self._numbers.clear()
        self._keys.clear()
        self._paused.clear()
        self.definitions.forget_policies()

    def fetch(self, keys: Sequence[Key]) -> None:
        """Read those of these jobs that are not remembered, in one statement for a tenant."""
        missing = [key for key in keys if key not in self._jobs]
        for tenant in {tenant for tenant, _ in missing}:
            job_ids = {job_id for other, job_id in missing if other == tenant}
            for row in self.connection.execute(_BY_IDS, (tenant, encode(job_ids))):
                job_ids.discard(self.job_of(row).id)
            self._jobs.update(dict.fromkeys((tenant, job_id) for job_id in job_ids))

    def numbered(self, numbers: Sequence[int]) -> list[Job]:
        """These jobs, in the order of the numbers."""
        missing = [number for number in numbers if self._keys.get(number) not in self._jobs]
        found = {}
        if missing:
            found = {row[0]: self.job_of(row) for row in self.connection.execute(_BY_NUMBERS, (encode(missing),))}
        return [found.get(number) or self._jobs[self._keys[number]] for number in numbers]  # type: ignore[misc]

    def job(self, tenant: str, job_id: str) -> Job | None:
        key = tenant, job_id
        return self._jobs[key] if key in self._jobs else self._read(self.connection.one(_BY_ID, key))

    def number(self, tenant: str, job_id: str) -> int:
        return self._numbers[tenant, job_id]

    def new_number(self, tenant: str, job_id: str, number: int) -> None:
        self._numbers[tenant, job_id] = number

    def written(self, jobs: Iterable[tuple[int, Job]]) -> None:
        """What there is now, after a write."""
        remember = self._remember
        for number, job in jobs:
            remember(number, job)
            self.makes_work = self.makes_work or job.claim_at is not None or job.spec.limit_key is not None

    def live(self, tenant: str, kind: str, dedupe_key: str) -> Job | None:
        return self._read(self.connection.one(_BY_KEY, (tenant, kind, dedupe_key)))

    def kept(self, scope: Scope) -> Kept | None:
        row = self.connection.one(_RECEIPT, (*scope, self.now))
        if row is None:
            return None
        digest, job_id, rev, claimed = row
        return Kept(scope, Receipt(scope.request_id, digest, job_id, rev), claimed_of(claimed))

    def room(self, tenant: str, queue: str) -> int | None:
        limit = self.connection.one(_DEPTH_MAX, (tenant, queue))
        if limit is None:
            return None
        ((waiting,),) = self.connection.execute(_DEPTH, (tenant, queue, counted_to(*limit)))
        room: int = limit[0] - waiting
        return room

    def noted(self, tenant: str, job_id: str, kind: str) -> list[Note]:
        number = self._numbers.get((tenant, job_id), 0)  # one that is new in this transaction has none
        return [note_of(row, job_id) for row in self.connection.execute(SQL["notes_of_kind"], (number, kind))]

    def use(self, tenant: str, limit_key: str) -> KeyUse:
        """Nobody else takes of it meanwhile: the transaction has the file to itself."""
        key = tenant, limit_key
        ((leased, strictest),) = self.connection.execute(_KEY_USE, key)
        rate = self.connection.one(_KEY_RATE, key)
        return use_of(leased, strictest, None if rate is None else rate[0])

    def key_report(self, tenant: str, limit_key: str) -> KeyReport:
        holders = self.connection.execute(SQL["key_holders"], (tenant, limit_key, HOLDERS_MAX))
        return KeyReport(self.use(tenant, limit_key), [(job_id, owner) for job_id, owner in holders])

    def used_up(self, tenant: str) -> set[str]:
        return {key for (key,) in self.connection.execute(_USED_UP, (tenant, self.now))}

    def is_paused(self, tenant: str, queue: str) -> bool:
        key = tenant, queue
        if key not in self._paused:
            self._paused[key] = self.connection.one(_IS_PAUSED, key) is not None
        return self._paused[key]

    def pause(self, tenant: str, queue: str, by: str, reason: str | None) -> None:
        self._paused.clear()
        self.connection.execute(SQL["pause_queue"], (tenant, queue, self.now, by, reason))

    def resume(self, tenant: str, queue: str) -> None:
        self._paused.clear()
        self.makes_work = True
        self.connection.execute(SQL["resume_queue"], (tenant, queue))

    def lifecycle(self, name: str, version: int) -> Lifecycle:
        return self.definitions.lifecycle_named(self.connection, name, version)

    def job_of(self, row: Row) -> Job:
        """A row of the shared columns as a record."""
        definitions, connection = self.definitions, self.connection
        job = job_of(row, definitions.lifecycle(connection, row[3]), definitions.policy(connection, row[4]))
        self._remember(row[0], job)
        return job

    def _read(self, row: Row | None) -> Job | None:
        return None if row is None else self.job_of(row)

    def _remember(self, number: int, job: Job) -> None:
        """The number for as long as the transaction may need it; the record if it will be needed, and is not large."""
        spec = job.spec
        key = spec.tenant, spec.id
        self._numbers[key] = number
        if not job.is_ended and len(spec.payload) + len(job.checkpoint or b"") <= REMEMBERED_BYTES_MAX:
            self._jobs[key] = job
            self._keys[number] = key
        else:
            self._jobs.pop(key, None)


# What a desk is handed.
Work = Callable[[Session], Any]
