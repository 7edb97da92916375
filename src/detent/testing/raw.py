"""The baseline that the SQLite store is measured against: the same tables, indexes, triggers and settings, written by
plain apsw, with the very rows that the engine would write. No decisions, no records, no client: whoever wants more
speed than this has to change the tables. A store filled this way passes `verify`.
"""

from typing import Any, Final

from detent.kernel.clock import micros
from detent.kernel.digest import digest
from detent.kernel.job import NULL
from detent.lifecycles import STANDARD
from detent.store.clock import host_clock, new_id
from detent.store.rows import encode, text
from detent.store.sqlite.claiming import LANES
from detent.store.sqlite.connection import Connection, Synchronous, create_file
from detent.store.sqlite.definitions import Definitions
from detent.store.sqlite.migrating import migrate
from detent.store.sqlite.statements import SQL, insert_record, move_record, say

KIND: Final = "bench"
WORKER: Final = "w"
PAYLOAD: Final = b"{}"
_RESULT_DIGEST: Final = digest(NULL)
_PAYLOAD_DIGEST: Final = digest(PAYLOAD)
_TO_WORK_ON: Final = """
select j.job, j.id, j.kind, j.payload from json_each(?) k cross join detent_jobs j on j.job = k.value
"""
_LEASE_S: Final = STANDARD.defaults.lease_s
# verb → revision, event type, who: actor, role, worker; attempt
_EVENTS: Final = {
    "enqueue": (1, "job_queued", ("client", "client", None), 0),
    "claim": (2, "job_claimed", (WORKER, "worker", WORKER), 1),
    "start": (3, "job_started", (WORKER, "owner", WORKER), 1),
    "complete": (4, "job_succeeded", (WORKER, "owner", WORKER), 1),
}


class RawSqlite:
    """Full lives, four moves each, in batches: enqueue, claim, start, complete."""

    def __init__(self, path: str, *, synchronous: Synchronous = "full") -> None:
        create_file(path)
        self._connection = connection = Connection(path, synchronous=synchronous)
        self._last = 0
        connection.begin()
        migrate(connection, host_clock())
        definitions = Definitions()
        definitions.register(connection, (STANDARD,))
        self._lifecycle = definitions.lifecycle_number(connection, STANDARD.name, STANDARD.version)
        self._policy = definitions.policy_number(connection, STANDARD.defaults)
        connection.commit()

    def close(self) -> None:
        self._connection.close()

    def lives(self, batch: int) -> None:
        self.enqueue(batch)
        numbers = self.claim(batch)
        self.complete(numbers, self.start(numbers))

    def enqueue(self, batch: int) -> None:
        now = host_clock()
        numbers = range(self._last + 1, self._last + batch + 1)
        self._last += batch
        changes = {
            "phase": "ready", "due_at": now, "claim_at": now, "order_at": now, "deadline_at": None, "wake_at": None,
            "created_at": now, "retries": 0, "payload_digest": _PAYLOAD_DIGEST,
        }  # fmt: skip
        spec = (KIND, self._lifecycle, self._policy, "default", "default", 0, PAYLOAD, *(None,) * 12)
        record = ("default", "default", KIND, "", None, None, self._lifecycle, "queued", now, *changes.values())
        self._connection.begin()
        self._connection.executemany(SQL["insert_job"], [(number, new_id(), *spec) for number in numbers])
        self._log(numbers, "enqueue", (None, "queued"), changes, now)
        self._connection.executemany(insert_record(tuple(changes)), [(number, *record) for number in numbers])
        self._connection.commit()

    def claim(self, batch: int) -> list[int]:
        now = host_clock()
        ends = now + micros(_LEASE_S)
        connection = self._connection
        connection.begin()
        lane = ("default", "default", KIND, "", now, -(2**63), 0, batch)
        numbers = [number for _, number in connection.execute(LANES[0], lane)]
        jobs = connection.execute(_TO_WORK_ON, (encode(numbers),))  # a claim hands out what is to be done
        assert len(jobs) == len(numbers)
        changes = {
            "phase": "held", "attempt": 1, "owner": WORKER, "lease_s": _LEASE_S, "claimed_at": now, "claim_at": None,
            "order_at": None, "due_at": None, "lease_expires_at": ends, "heartbeat_by": ends, "wake_at": ends,
        }  # fmt: skip
        self._move(numbers, "claim", ("queued", "assigned"), changes, now)
        connection.commit()
        return numbers

    def start(self, numbers: list[int]) -> int:
        now = host_clock()
        ends = now + micros(_LEASE_S)
        changes = {
            "phase": "active", "started_at": now, "lease_expires_at": ends, "heartbeat_by": ends, "wake_at": ends,
        }  # fmt: skip
        self._connection.begin()
        self._move(numbers, "start", ("assigned", "running"), changes, now)
        self._connection.commit()
        return ends

    def complete(self, numbers: list[int], ends: int) -> None:
        now = host_clock()
        changes = {
            "owner": None, "lease_s": None, "lease_expires_at": None, "heartbeat_by": None, "last_owner": WORKER,
            "last_lease_expires_at": ends, "phase": "ended", "ended_at": now, "wake_at": None,
            "result_digest": _RESULT_DIGEST,
        }  # fmt: skip
        self._connection.begin()
        self._move(numbers, "complete", ("running", "succeeded"), changes, now, outcome="success")
        self._connection.executemany(say(("result",)), [(number, NULL) for number in numbers])
        self._connection.commit()

    def _move(
        self, numbers: list[int], verb: str, way: tuple[str, str], changes: dict[str, Any], now: int, **more: Any
    ) -> None:
        rev = self._log(numbers, verb, way, changes, now)
        columns = changes | more
        row = (*columns.values(), way[1], rev, now)
        self._connection.executemany(move_record(tuple(columns)), [(*row, number, rev - 1) for number in numbers])

    def _log(self, numbers: Any, verb: str, way: tuple[str | None, str], changes: dict[str, Any], now: int) -> int:
        rev, kind, who, attempt = _EVENTS[verb]
        said = text({"kind": KIND, "queue": "default"}) if verb == "enqueue" else None
        event = (rev, kind, verb, *way, now, *who, attempt, None, None, None, text(changes), said, 1)
        self._connection.executemany(SQL["insert_event"], [("default", number, *event) for number in numbers])
        return rev
