"""What the service counts at the boundary to its store: by what was asked, and by the job that came of it.

Nothing is read for it. A reply has the whole record, and the record tells when the job was claimed, started and ended,
and what went wrong with it; its lifecycle tells which states are those of dead letters and of leases that ran out.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from detent.errors import DetentError
from detent.kernel import Job
from detent.kernel.budget import is_waiting_for_a_person
from detent.kernel.dead_letter import reason_code_of
from detent.kernel.failure import EXPIRED
from detent.lifecycle import Lifecycle
from detent.runtime.counting import Histograms, Table, ran_s, waited_s
from detent.runtime.ways import Ways
from detent.store import Reply
from detent.store.request import Replies
from detent.surfaces.telemetry import families
from detent.surfaces.telemetry.exposition import Family, Samples, alone

RECONCILE: Final = "reconcile"  # stands for the verb where time has asked, and the reply does not say for what
# Verbs by which an attempt fails; a release or a stall of the owner's own is none.
_FAILING: Final = frozenset({"fail", "retry", "time_out", "expire"})
_ENDING: Final = _FAILING | {"complete"}
# Verbs by which time ends an attempt.
_BY_TIME: Final = ("expire", "stall", "time_out")
_LOST: Final = frozenset({"not_owner", "lease_expired"})


class Meter:
    """Counters that only grow, for one event loop. Lifecycles are to be learned before their jobs are counted."""

    def __init__(self) -> None:
        self.conflicts = self.renewals = self.expiries = 0
        self.requests = Table(*families.REQUESTS.labels)
        self.moves = Table(*families.MOVES.labels)
        self.refusals = Table(*families.REFUSED.labels)
        self.store_errors = Table(*families.STORE_ERRORS.labels)
        self.claims = Table(*families.CLAIMS.labels)
        self.losses = Table(*families.LOSSES.labels)
        self.retries = Table(*families.RETRIES.labels)
        self.failures = Table(*families.FAILURES.labels)
        self.dead_letters = Table(*families.DEAD_LETTERS.labels)
        self.ends = Table(*families.ENDS.labels)
        self.waits = Histograms()
        self.runs = Histograms()
        self._ways: dict[tuple[str, int], Ways] = {}

    def learn(self, lifecycles: Iterable[Lifecycle]) -> None:
        for each in lifecycles:
            if (each.name, each.version) not in self._ways:
                self._ways[each.name, each.version] = Ways.of(each)

    def knows(self, job: Job) -> bool:
        return (job.spec.lifecycle, job.spec.lifecycle_version) in self._ways

    def answered(self, verb: str, reply: Reply) -> None:
        """One request was carried out, or answered with what is already so."""
        self.requests.add(verb, reply.answer)
        if reply.answer == "applied":
            self._moved(verb, reply.job)

    def refused(self, verb: str, error: DetentError) -> None:
        self.requests.add(verb, "refused")
        self.refusals.add(verb, error.code)
        if error.code in _LOST:
            self.losses.add(error.code)

    def claimed(self, replies: Replies) -> None:
        """A claim was answered. Jobs in it that were refused are those that somebody else had first.

        But for a request id that was used for another claim: that is a mistake of who asks.
        """
        for reply in replies:
            if isinstance(reply, Reply):
                self.answered("claim", reply)
            else:
                self.refused("claim", reply)
                self.conflicts += reply.code != "request_conflict"

    def reconciled(self, replies: Replies) -> None:
        for reply in replies:
            if isinstance(reply, Reply):
                self.answered(RECONCILE, reply)
            else:
                self.refused(RECONCILE, reply)

    def failed(self, error: DetentError) -> None:
        """The store raised this instead of answering."""
        self.store_errors.add(error.code)

    def families(self) -> Iterator[tuple[Family, Samples]]:
        yield families.REQUESTS, self.requests
        yield families.MOVES, self.moves
        yield families.REFUSED, self.refusals
        yield families.STORE_ERRORS, self.store_errors
        yield families.CLAIMS, self.claims
        yield families.CONFLICTS, alone(self.conflicts)
        yield families.RENEWALS, alone(self.renewals)
        yield families.EXPIRIES, alone(self.expiries)
        yield families.LOSSES, self.losses
        yield families.RETRIES, self.retries
        yield families.FAILURES, self.failures
        yield families.DEAD_LETTERS, self.dead_letters
        yield families.ENDS, self.ends
        yield families.WAITS, {(kind,): each for kind, each in self.waits.items()}
        yield families.RUNS, {(kind,): each for kind, each in self.runs.items()}

    def _moved(self, verb: str, job: Job) -> None:
        spec = job.spec
        self.moves.add(verb, spec.kind, spec.queue, job.state)
        if verb == "claim":
            self._taken(job)
        elif verb == "renew":
            self.renewals += 1
        elif verb in _ENDING:
            self._settled(job)
        has_expired = verb in (RECONCILE, "expire") and self._has_expired(job)
        self.expiries += has_expired
        if verb in _FAILING or (verb == RECONCILE and self._is_lost(job)):
            self._lost(job)
        if job.ended_at == job.updated_at:
            self._ended(job)

    def _taken(self, job: Job) -> None:
        self.claims.add(job.spec.queue, job.spec.kind)
        waited = waited_s(job)
        if waited is not None:
            self.waits.took(job.spec.kind, waited)

    def _settled(self, job: Job) -> None:
        ran = ran_s(job)
        if ran is not None:
            self.runs.took(job.spec.kind, ran)

    def _lost(self, job: Job) -> None:
        error = job.error or job.last_error
        self.failures.add(job.spec.kind, "none" if error is None else error.type)
        if not job.is_ended and not is_waiting_for_a_person(job):
            self.retries.add(job.spec.kind)

    def _ended(self, job: Job) -> None:
        kind, ways = job.spec.kind, self._ways_of(job)
        self.ends.add(kind, job.outcome or "none")
        if ways is not None and job.state in ways.dead_letters:
            self.dead_letters.add(kind, reason_code_of(job) or "none")

    def _has_expired(self, job: Job) -> bool:
        """Whether its lease has just run out: that is the last that went wrong with it, and it is where this leads."""
        error, ways = job.error or job.last_error, self._ways_of(job)
        return error is not None and error.type == EXPIRED and ways is not None and job.state in ways.expired

    def _ways_of(self, job: Job) -> Ways | None:
        return self._ways.get((job.spec.lifecycle, job.spec.lifecycle_version))

    def _is_lost(self, job: Job) -> bool:
        """Whether time has taken an attempt from it; not, whether its wait is over or its cancel was wanted."""
        error, ways = job.error or job.last_error, self._ways_of(job)
        if error is None or error.category == "cancelled" or ways is None:
            return False
        targets = ways.lifecycle.table.targets
        leading_here = {verb for verb in _BY_TIME if job.state in targets.get(verb, ())}
        return bool(leading_here) and job.state not in targets.get("requeue", ())
