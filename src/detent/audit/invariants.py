"""What must hold of every history, and the shape of a finding. Which module checks what is said beside each line."""

from typing import Final

from msgspec import Struct

INVARIANTS: Final[dict[str, str]] = {
    # step.py, the chain: without it nothing else can be judged
    "I1": "a job's revisions are 1, 2, 3 … and each event starts in the state the one before it led to",
    # moves.py
    "I2": "every move is declared by the job's lifecycle, for the role that made it, and is called what it says",
    "I4": "an end is final: nothing follows it, and nothing is left to do",
    "I22": "no event is earlier than the one it follows",
    # leases.py
    "I5": "a claim raises the attempt by one, and nothing else touches it",
    "I6": "what an owner did, it did under its own attempt and while its lease was live",
    "I7": "one holder at a time: a lease begins with a claim and is gone after the move that revokes it",
    "I8": "nobody loses a job for being late before being late",
    # budget.py
    "I9": "every lost attempt counts once, and failures and crashes stay within their maxima",
    "I21": "a dead letter was set aside on purpose or has used up its budget, and says why and where",
    # compensating.py
    "I29": "a job that ran and did not succeed is undone, once, if it says how; no other job is",
    # waiting.py; dwell.py for what only time can show
    "I16": "once asked to stop, a job is never queued again, and it ends within its grace",
    "I17": "time in a state is limited, and somebody looks when it is over",
    "I18": "no job is claimed before its time",
    # limits.py, over all jobs of a key together
    "I19": "of the jobs of a limit key no more are leased at once, or claimed in a while, than they allow",
    # row.py; job.py and auditor.py for what belongs to no record
    "I3": "the record shows what the log adds up to, and neither is there without the other",
    # requests.py; repeats.py with recorded calls
    "I12": "a request id has one effect, on one job, with one content",
    # with recorded calls only: creations.py
    "I10": "an acknowledged enqueue is never lost or altered",
    "I11": "no job exists that nobody asked for",
    # repeats.py, and creations.py for an enqueue that had no id at all
    "I13": "a call without an answer took effect once or not at all",
    # ordering.py, which also sees a cancel that was acknowledged and forgotten (I16)
    "I14": "one revision is left by one call only",
    "I15": "who asks later never sees an older revision",
    # of a store as a whole: it checks itself, and whoever walks over it adds what it says
    "I26": "the store's own checks of itself find nothing",
}


class Violation(Struct, frozen=True):
    """One fault: which invariant, of which job, at which revision if at one, and what is wrong, for a person.

    `tenant` is whose job it is; None where the fault is not one job's.
    """

    invariant: str
    job_id: str
    rev: int | None
    message: str
    tenant: str | None = None

    def __str__(self) -> str:
        where = self.job_id if self.rev is None else f"{self.job_id} rev {self.rev}"
        return f"{self.invariant} {where}: {self.message}"
