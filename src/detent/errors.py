"""Every error Detent raises, in one tree. Each has a stable `code`; the message may improve, the code may not.

    DetentError
    ├── Refused             a verb the job's lifecycle or its present record does not allow; changes nothing
    ├── NotFound            no such job, or no such lifecycle, in this tenant
    ├── InvalidArgument     a command or a setting that could never be accepted, whatever the job
    ├── LifecycleError      a lifecycle whose declaration does not hold together
    ├── PolicyError         a policy of `dispatch` that is wrong or out of reach; what it was to judge does not run
    ├── WaitTimedOut        a job that had not ended when the time to wait for it was over; also a TimeoutError
    ├── JobFailed           a job whose result was asked for, and which ended without one
    ├── ServiceError        a service that cannot take the request as it came, or not now; nothing was done
    ├── StoreError          the store cannot be used, or could not write; nothing was acknowledged
    ├── Unauthorized        no token, or none that holds: nobody knows who asks
    └── Forbidden           a token that holds, and does not reach as far as what was asked

    JobError                what a handler raises on purpose; the class says whether another attempt may help
    ├── ValidationError     the input is wrong; final
    ├── TransientError      it may work next time; retried while the budget lasts
    ├── PermanentError      it will never work; final
    └── LeaseConflictError  somebody else has what the handler needs; retried

    Stopped                 what a handler meets when it is to stop; it lets it pass
    ├── Cancelled           somebody asked for a cancel
    └── LeaseLost           the job is no longer this worker's; whatever the handler returns is discarded

In the kernel a `Refused` is returned as a value, because a refusal is an expected answer there; the client raises it.
The two lower trees are no `DetentError`s: a handler that catches those of its own calls must not swallow its signals.
"""

from collections.abc import Iterable
from typing import Any, ClassVar, Final

# Where several reasons apply, the answer is the first of these that does; the two that ask for a fence share a place.
REFUSALS: Final = {
    "request_conflict": "its request id was already used for another request; send new content under a new id",
    "illegal_move": "the lifecycle declares no such verb from this state",
    "wrong_actor": "the lifecycle gives this verb to other roles",
    "fence_required": "owner verbs name the attempt they act for, or the revision; pass attempt= or expected_rev=",
    "rev_required": "this lifecycle wants the revision you decided on; pass expected_rev=",
    "not_owner": "the lease belongs to another worker or to a newer attempt; stop working on it",
    "lease_expired": "the lease ran out before the call arrived; stop working on it",
    "stale_rev": "the job has moved since you read it; read it again and decide anew",
    "not_due": "its time has not come",
    "compensation_conflict": "its work has to be undone before it is run again, and is undone once",
    "job_exists": "a job of this id exists already; choose another id",
    "queue_full": "its queue holds as many waiting jobs as it may; try again later, or raise the limit of the queue",
    "limit_reached": "the limit of its key is used up; try again when one of its jobs has ended, or its rate allows",
    "too_many_artifacts": "it has registered as many artifacts as a job may; list the others in one of them",
}

# Every code of an `InvalidArgument` of a command or a message; those of settings are in lifecycle/bounds.py.
ARGUMENT_ERRORS: Final = {
    "unknown_verb": "a verb that does not exist",
    "unknown_state": "a time limit on a state that the lifecycle does not have",
    "no_timeout_answer": "a time limit on a state that the lifecycle has no answer for",
    "wrong_lifecycle": "a job was to be decided by a lifecycle or a version that is not its own",
    "job_required": "a verb that acts on a job came without one",
    "bad_json": "a message that is not JSON",
    "message_too_large": "a message longer than its bound",
    "unknown_field": "a message with a field that is not understood",
    "bad_moment": "a time that is not written as RFC 3339 asks",
    "payload_not_json": "a payload that was to be shown as JSON and is none",
    "unknown_event_type": "an event type that is not in the vocabulary",
    "unknown_status": "a status that is no state of the lifecycle",
    "status_not_reportable": "a status that is not for the sender to report",
    "worker_required": "a result that does not say whose it is",
    "contradictory_result": "a result that claims success and failure at once",
    "value_not_json": "a payload, result or checkpoint that JSON cannot hold: NaN, a lone surrogate, an unknown type",
    "value_too_large": "a payload, result or checkpoint with more bytes than the codec allows",
    "value_too_deep": "a payload, result or checkpoint nested deeper than the codec allows",
    "value_unreadable": "a payload, result or checkpoint that this client's codec cannot read",
    "bad_url": "an address that names no store this program can open",
    "bad_cursor": "a cursor that no listing gave out",
    "bad_packet": "a packet of the bus that cannot be read, or is of another protocol",
    "bad_signature": "a packet of the bus that nobody has signed whose key is known",
    "bad_key": "a file that holds no key of an elliptic curve",
    "bad_topic": "a topic that is no pool of this bus, or no subject at all",
    "wrong_tenant": "a request over the bus for another tenant than the bus is for",
    "unknown_kind": "a kind of jobs that this service does not know, and it takes no others",
    "payload_misfit": "a payload that the schema of the job's kind forbids",
    "bad_kinds": "a file that declares no kinds of jobs, or a schema that is none",
    "bad_transaction": "a tx= that is no open transaction of this store",
    "blocking_call": "a blocking call on the thread of a running event loop",
    "not_connected": "a client that was not opened, or is closed",
    "bad_job_function": "a function that cannot be a job, or an option of its declaration that makes no sense",
    "kind_taken": "a second function for a kind that has one already",
    "bad_payload": "arguments that the job's function does not take",
}

# Every code of a `PolicyError`.
POLICY_ERRORS: Final = {
    "bad_rules": "a file of rules that does not hold together",
    "bad_verdict": "an answer of a policy's function that is no verdict",
    "policy_unreachable": "rules that cannot be read, or a function that raised or did not answer in time",
}

# Every code of a `StoreError`. After store_io, store_full and outcome_unknown nobody knows what became of the call.
STORE_ERRORS: Final = {
    "store_locked": "another process or transaction kept locked what the call needs, for longer than the wait allows",
    "store_read_only": "the file, its folder or the database cannot be written",
    "store_full": "no space is left where the store lives",
    "store_corrupt": "the store is damaged, or the file is none",
    "store_io": "reading or writing failed in the operating system",
    "store_unavailable": "the file cannot be opened or created, or the server not be reached",
    "store_missing": "there is no store at that place, and none was to be made",
    "store_moved": "the file was removed or replaced while it was open",
    "schema_newer": "the store was migrated by a newer program than this one",
    "schema_changed": "the store has a migration whose content is not this program's",
    "second_library": "another SQLite library in this process has the same file open",
    "library_too_old": "the SQLite library has a known bug that can corrupt a store",
    "server_too_old": "the PostgreSQL server is older than Detent can use",
    "outcome_unknown": "the connection was lost for good while a transaction ended, and nobody could be asked about it",
    "forked": "the client was opened before a fork and is used after it",
    "guard_refused": "the store's own constraints refused a write that was decided; this is a bug of Detent's",
}

# Every code of an `Unauthorized`. What became of a token is told to those only who know its secret.
TOKEN_ERRORS: Final = {
    "token_missing": "no token was presented",
    "token_malformed": "what was presented is not written like a token",
    "token_unknown": "no token of that id is kept, or its secret is another one",
    "token_expired": "the token's time is over; make a new one",
    "token_revoked": "somebody revoked the token; make a new one, if it should have been yours",
}

# Every code of a `Forbidden`.
DENIALS: Final = {
    "scope_missing": "the token lacks the scope that this needs",
    "tenant_denied": "the token is another tenant's",
    "worker_denied": "the token works under another worker's name",
    "role_denied": "the token's scopes do not allow to ask in that role",
}

# Every code of a `ServiceError`.
SERVICE_ERRORS: Final = {
    "no_such_path": "there is nothing at this path; what there is: /openapi.json",
    "method_not_allowed": "the method is not for this path; see /openapi.json",
    "not_acceptable": "what was asked for cannot be answered in that form",
    "unsupported_media": "a body that is not called JSON, or is packed",
    "not_http": "what came is not HTTP/1.1, or has a head of more than 64 KiB",
    "receipt_timed_out": "the request did not arrive in time; send it again",
    "too_many_requests": "the token asks more often than it may; ask less often, or many things at once",
    "too_many_connections": "the service has as many connections as it may; ask again in a while",
    "too_much_arriving": "the service has as much to read and to answer as it may; ask again in a while",
    "too_many_waiting": "as many claims wait for jobs already as the service allows; ask again in a while",
    "too_many_streams": "the service has as many live readers as it may; ask again in a while",
    "closing": "the service is stopping; ask again when it is back, or ask another one",
    "not_ready": "the service is there, and its store does not answer",
    "read_only": "the service only lets people look; ask another one to change something",
    "too_many_engines": "the service has as many engines as it may; connect again in a while, or to another one",
    "unknown_message": "there is no message of that name for engines",
    "not_registered": "an engine says who it is, and what it can run, before anything else: register",
    "not_offered": "the job was not offered to this engine; wait for an offer",
    "engine_full": "the engine holds as many jobs as it said it has room for",
    "bus_unavailable": "the bus cannot be reached, or does not do what was asked; it is tried again",
    "foreign_origin": "a page of another site asked, or by another name, and nobody has to say who they are here",
    "internal_error": "the service made a mistake; its log has more",
}

# Codes that the record of a job may have for its error where it was the bus, and no handler, that failed it.
BUS_ERRORS: Final = {
    "not_publishable": "the job cannot be told to its pool: it does not fit into a packet",
    "bad_result": "its worker's result cannot be recorded: something in it is too large, or too much",
}

SHOWN_CHARS_MAX: Final = 100


def shown(value: object) -> str:
    """Whatever was given, for an error message: short, and printable even if it is huge, deep or hostile."""
    try:
        text = repr(value)
    except Exception:  # too many digits, too deep, or a repr of somebody's own that fails
        return f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= SHOWN_CHARS_MAX else f"{text[:SHOWN_CHARS_MAX]}…"


class DetentError(Exception):
    """The root: catch this to catch everything Detent raises on purpose."""

    code: str = "error"


class Refused(DetentError):
    """What was asked is not allowed now. `state` and `allowed` say where the job is and what would be accepted."""

    def __init__(
        self,
        code: str,
        *,
        job_id: str,
        verb: str,
        state: str | None,
        allowed: tuple[str, ...],
        lifecycle: str,
        detail: str = "",
    ) -> None:
        self.code = code
        self.job_id = job_id
        self.verb = verb
        self.state = state
        self.allowed = allowed
        self.lifecycle = lifecycle
        self.detail = detail

    def __str__(self) -> str:
        allowed = ", ".join(self.allowed) or "none"
        why = self.detail or REFUSALS[self.code]
        if self.state is None:
            about = f" of job {self.job_id}" if self.job_id else ""
            return f"'{self.verb}'{about} refused ({self.code}): {why}"
        return (
            f"job {self.job_id} is '{self.state}'; '{self.verb}' refused ({self.code}): {why}. "
            f"Allowed now: {allowed}. See: detent lifecycle show {self.lifecycle}"
        )


class NotFound(DetentError):
    """Nothing of that name in this tenant."""

    code = "not_found"


class InvalidArgument(DetentError):
    """A value that no job could accept. Refused before anything is queued, hence the category."""

    category: ClassVar[str] = "validation"

    def __init__(self, message: str, *, code: str = "invalid_argument") -> None:
        super().__init__(message)
        self.code = code


class LifecycleError(DetentError):
    """A declaration with holes. `problems` has one (code, message) each, all of them at once."""

    def __init__(self, lifecycle: str, problems: Iterable[tuple[str, str]]) -> None:
        self.lifecycle = lifecycle
        self.problems = tuple(problems)
        self.code = self.problems[0][0]
        lines = "".join(f"\n  - {message} [{code}]" for code, message in self.problems)
        super().__init__(f"lifecycle '{lifecycle}' does not hold together:{lines}")


class PolicyError(DetentError):
    """The policy gave no verdict, and so nothing it was asked about runs. `problems` are those of a rules file."""

    def __init__(self, message: str, *, code: str = "bad_verdict", problems: Iterable[str] = ()) -> None:
        super().__init__(message)
        self.code = code
        self.problems = tuple(problems)

    @classmethod
    def of_rules(cls, where: str, problems: Iterable[str]) -> "PolicyError":
        """All that is wrong with the rules at once."""
        listed = tuple(problems)
        lines = "".join(f"\n  - {each}" for each in listed)
        return cls(f"the rules in {where} do not hold together:{lines}", code="bad_rules", problems=listed)


class WaitTimedOut(DetentError, TimeoutError):
    """The job goes on; only the waiting is over. `state` is where it was then."""

    code = "wait_timed_out"

    def __init__(self, job_id: str, state: str, timeout_s: float) -> None:
        self.job_id = job_id
        self.state = state
        super().__init__(
            f"job {job_id} is still '{state}' after {timeout_s:g} s of waiting; it goes on. "
            f"Why it has not ended: detent job explain {job_id}"
        )


class JobFailed(DetentError):
    """The job has ended, and not as a success. `error` is what the record says of it; a cancelled job has none."""

    def __init__(self, job_id: str, *, state: str, outcome: str | None, error: Any, said: str) -> None:
        self.code = "job_cancelled" if outcome == "cancelled" else "job_failed"
        self.job_id = job_id
        self.state = state
        self.error = error
        super().__init__(f"job {job_id} ended as '{state}'{said}. What happened: detent job history {job_id}")


class ServiceError(DetentError):
    """The service did nothing: the request cannot be taken as it came, or not now."""

    def __init__(self, code: str, message: str = "") -> None:
        super().__init__(message or SERVICE_ERRORS[code])
        self.code = code


class StoreError(DetentError):
    """The store itself is in trouble. What was acknowledged before stands; what raised this was not acknowledged."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class Unauthorized(DetentError):
    """Nobody knows who asks: there is no token, or none that holds. The message never has the secret."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class Forbidden(DetentError):
    """The token is good, and does not reach as far as what was asked."""

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


class JobError(Exception):
    """The root of what handlers raise on purpose. Your own exceptions may derive from its classes.

    `code` is a word of your own for programs to read; `reason_code` and `stage` go to a dead letter as they are.
    """

    def __init__(
        self, message: str = "", *, code: str | None = None, stage: str | None = None, reason_code: str | None = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.stage = stage
        self.reason_code = reason_code


class ValidationError(JobError):
    """The input is wrong, and will be next time: the job ends."""


class TransientError(JobError):
    """It may work next time: the job is tried again while its budget lasts. So is any exception that is not mapped."""


class PermanentError(JobError):
    """It will never work: the job ends."""


class LeaseConflictError(JobError):
    """Somebody else has what the handler needs: the job is tried again."""


class Stopped(Exception):
    """The root of what stops a handler. Clean up and let it pass: what is returned after it counts for nothing."""


class Cancelled(Stopped):
    """Somebody cancelled the job, softly. What was saved with `ctx.save` is kept."""


class LeaseLost(Stopped):
    """The lease is over or another worker's: stop at once, another attempt may be running."""
