"""The history checker: a pure library over records, events and recorded calls.

`INVARIANTS` lists what must hold and which module checks it. `check_event` and `check_row` judge one step of one job,
`check_job` one job, `check_history` a history in memory; an `Auditor` walks a store of any size, job by job.
"""

from detent.audit.auditor import Auditor, Report
from detent.audit.calls import Answer, Call
from detent.audit.dwell import check_dwell
from detent.audit.events import check_event
from detent.audit.history import check_history, paired
from detent.audit.invariants import INVARIANTS, Violation
from detent.audit.job import JobCheck, check_job
from detent.audit.row import check_row

__all__ = [
    "INVARIANTS",
    "Answer",
    "Auditor",
    "Call",
    "JobCheck",
    "Report",
    "Violation",
    "check_dwell",
    "check_event",
    "check_history",
    "check_job",
    "check_row",
    "paired",
]
