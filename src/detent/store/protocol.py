"""What a store must do. Small enough to be implemented over anything that can compare and set.

A store keeps records, logs, notes and receipts, and carries requests to the kernel. It decides nothing itself: inside
the transaction that writes it gives `plan`, `plan_claim` or `plan_due` the facts, at its own clock, and writes the
plan they return, whole or not at all. `detent.testing.StoreContract` says whether it does.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from detent.kernel import Job
from detent.lifecycle import Lifecycle
from detent.store.fleet import Fleet
from detent.store.limits import KeyReport
from detent.store.query import Counts, Entry, EventQuery, JobQuery, Migration, Page, Pruned, Retention, Story
from detent.store.request import ClaimRequest, Replies, Request
from detent.store.tokens import Tokens

# An open transaction of the caller's, in the store's own terms. Only the store that gave it out knows what it is.
Transaction = Any


class Store(Fleet, Tokens, Protocol):
    """Every method is atomic. What it acknowledged is durable, and every later call sees it."""

    async def open(self) -> None:
        """Make the store ready: an older or empty one is migrated, one of a newer program is refused."""

    async def close(self) -> None: ...

    async def migrations(self) -> list[Migration]:
        """What the schema of this program consists of, and which of it the store has; none, if it has no schema.

        It is answered whether the store is open or not, changes nothing, and makes no store where none is yet.
        """

    async def register(self, *lifecycles: Lifecycle) -> list[Lifecycle]:
        """Keep these definitions, and return all that are kept.

        The same version with other content is refused (`lifecycle_conflict`).
        """

    async def apply(self, requests: Sequence[Request], tx: Transaction | None = None) -> Replies:
        """Carry out requests, all in one transaction, each answered by itself (`plan`)."""

    async def claim(self, request: ClaimRequest, tx: Transaction | None = None) -> Replies:
        """Take the first jobs in the queue's order that are due (`plan_claim`)."""

    async def claimable(self, request: ClaimRequest) -> list[Job]:
        """What this claim would take now, in the queue's order. Nothing is taken, and nobody is kept from taking it."""

    async def reconcile(self, limit: int) -> Replies:
        """Do what time demands of at most so many jobs, whichever tenant's (`plan_due`)."""

    async def get(self, tenant: str, job_ids: Sequence[str]) -> list[Job | None]: ...

    async def find(self, query: JobQuery, limit: int, cursor: str | None = None) -> Page[Job]: ...

    async def count(self, query: JobQuery, by: Sequence[str]) -> Counts:
        """How many jobs match, for each combination of these values that occurs (`COUNTED_BY`); by nothing: of all.

        All of one moment. It has to look at every job that may match, and at no ended one if none can.
        """

    async def unjudged(
        self, tenant: str, queues: Sequence[str], kinds: Sequence[str], limit: int, cursor: str | None = None
    ) -> Page[Job]:
        """Jobs of these queues and kinds that wait for a verdict (`unjudged_states`), the oldest first."""

    async def events(self, query: EventQuery, limit: int, cursor: str | None = None) -> Page[Entry]:
        """In the order of commit. The cursor is never None: everything up to it was looked at, and a reader goes on."""

    async def recent(self, query: EventQuery, limit: int) -> Page[Entry]:
        """The newest that match, at most so many, in the order of commit.

        It looks back over `LOOK_BACK_MAX` events of all tenants; of one job or one correlation id, over all of them.
        The cursor is where it stopped, so that `events` goes on from it with the same page, or None at the beginning.
        """

    async def wait(self, cursor: str | None, timeout_s: float) -> str:
        """The end of the log, as soon as it is beyond the cursor, or else when the time is over."""

    async def news(self, seen: str | None, timeout_s: float) -> str:
        """A mark, another one than `seen` as soon as there may be something to claim that was not there then, or else
        the same when the time is over. It may be wrong, either way: who waits for work looks now and then, too.
        """

    async def stories(
        self, tenant: str | None, limit: int, cursor: str | None = None, job_id: str | None = None
    ) -> Page[Story]:
        """Each job with its log, in a fixed order, or the one job; tenant None: of all tenants.

        A page may be shorter than its limit. A walk ends with what there was when it began.
        """

    async def check(self) -> list[str]:
        """What is wrong with the store as a whole: its own integrity, logs without a record, missing events."""

    async def limit_queue(self, tenant: str, queue: str, depth_max: int | None) -> None:
        """Bound how many jobs may wait in a queue."""

    async def pace(self, tenant: str, rule: str, every: int, requests: Sequence[Request]) -> Replies:
        """Carry out verdicts that throttle (`plan`), each due `every` microseconds after the last of this rule.

        Whoever else paces the rule comes before or after, so that a rate holds however many ask (`spaced`).
        """

    async def key_use(self, tenant: str, limit_key: str) -> KeyReport:
        """How far a limit key is used, and who holds it, up to `HOLDERS_MAX`, the longest first."""

    async def prune(self, tenant: str, retention: Retention, limit: int) -> Pruned:
        """Remove at most so many jobs that ended long enough ago, and what has expired."""

    async def purge(self, tenant: str, job_ids: Sequence[str]) -> Pruned:
        """Remove those of these jobs that have ended, whenever that was. Others, and ids of none, stay as they are."""
