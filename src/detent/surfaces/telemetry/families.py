"""Every family of metrics: what a worker has, what the service has, and what is read from the store when asked.

The page `docs/reference/metrics.md` is written from these. Where a worker and the service both count something, each
counts what it did itself: a claim that a worker has made over HTTP is counted by both.
"""

from typing import Final

from detent.surfaces.telemetry.exposition import Family

CLAIMS: Final = Family("claims_total", "counter", "Jobs claimed.", ("queue", "kind"))
CONFLICTS: Final = Family("claim_conflicts_total", "counter", "Jobs that a claim was after and others had first.")
RENEWALS: Final = Family("lease_renewals_total", "counter", "Leases renewed.")
EXPIRIES: Final = Family("lease_expiries_total", "counter", "Leases found to have run out, anybody's.")
RETRIES: Final = Family(
    "retries_total", "counter", "Attempts that failed and after which the job runs again.", ("kind",)
)
FAILURES: Final = Family(
    "failures_total",
    "counter",
    "Attempts that failed, by the class of the error; of a worker, those that its own handlers failed.",
    ("kind", "error"),
)
DEAD_LETTERS: Final = Family("dead_letters_total", "counter", "Jobs that became dead letters.", ("kind", "reason"))
WAITS: Final = Family(
    "wait_seconds", "histogram", "From when a job was made, or was to run, to its first claim.", ("kind",)
)
RUNS: Final = Family("run_seconds", "histogram", "From the start of an attempt to its end.", ("kind",))

# Of workers alone.
RUNNING: Final = Family("running", "gauge", "Attempts under way.")
SLOTS: Final = Family("slots", "gauge", "How many attempts there is room for.")
DRAINING: Final = Family("draining", "gauge", "1 while a worker is shutting down.")
LOST: Final = Family("lease_losses_total", "counter", "Attempts whose lease was lost before their end.", ("kind",))
ATTEMPTS: Final = Family(
    "attempts_total",
    "counter",
    "Attempts settled: success, failure, cancelled, retried, released or lost.",
    ("kind", "outcome"),
)
GIVEN_UP: Final = Family(
    "given_up_total",
    "counter",
    "Jobs that time has ended as failures, or parked until a person requeues them.",
    ("kind", "state"),
)
TICKS: Final = Family("cron_jobs_total", "counter", "Jobs made for the calendar.", ("schedule",))
STOPS: Final = Family("stops_total", "counter", "Handlers told to stop.", ("reason",))
LATE: Final = Family("late_results_total", "counter", "Results refused for coming too late.", ("code",))
VERDICTS: Final = Family("verdicts_total", "counter", "Verdicts of the policy on the record.", ("verdict",))
STALLS: Final = Family("loop_stalls_total", "counter", "Times that the event loop stood still.")
RECONCILED: Final = Family("reconciled_total", "counter", "Jobs that time demanded something of.")
PRUNED: Final = Family("pruned_total", "counter", "Old jobs removed.")
TROUBLES: Final = Family(
    "troubles_total", "counter", "Times that a duty could not be done, and was tried again.", ("duty",)
)

# Of the service alone.
REQUESTS: Final = Family(
    "requests_total",
    "counter",
    "Requests by how they were answered: applied, repeat, duplicate, unchanged, noted or refused.",
    ("verb", "outcome"),
)
MOVES: Final = Family(
    "moves_total",
    "counter",
    "Requests that moved a job, by the state it has come to; the verb of what time demanded is reconcile.",
    ("verb", "kind", "queue", "state"),
)
REFUSED: Final = Family("refused_moves_total", "counter", "Requests refused.", ("verb", "code"))
LOSSES: Final = Family(
    "lease_losses_total",
    "counter",
    "Requests of owners that were no longer the owner (these are refused, too).",
    ("code",),
)
ENDS: Final = Family("jobs_ended_total", "counter", "Jobs ended: success, failure or cancelled.", ("kind", "outcome"))
STORE_ERRORS: Final = Family("store_errors_total", "counter", "Calls that the store could not carry out.", ("code",))

# Of what a service has beside its routes: engines, a bus.
ENGINES: Final = Family("engines", "gauge", "Engines that are connected and have registered.")
BUS_CONNECTED: Final = Family("bus_connected", "gauge", "1 while the service is on its bus.")
BUS_RECEIVED: Final = Family(
    "bus_received_total", "counter", "Packets that came over the bus, each time that they came.", ("message",)
)
BUS_REFUSED: Final = Family(
    "bus_refused_total", "counter", "Packets that were refused, or could not be read.", ("message", "code")
)
BUS_SENT: Final = Family("bus_sent_total", "counter", "Packets brought to the bus, repeats included.", ("message",))

# Read from the store when somebody asks, and then kept for some seconds.
JOBS: Final = Family("jobs", "gauge", "Jobs that have not ended, by phase.", ("tenant", "queue", "phase"))
OLDEST: Final = Family(
    "oldest_ready_seconds", "gauge", "How long the first job waits that could be claimed.", ("tenant", "queue")
)
LETTERS: Final = Family("dead_letters_kept", "gauge", "Dead letters that are kept.", ("tenant", "queue"))
PAUSED: Final = Family("queue_paused", "gauge", "1 for each queue that is paused.", ("tenant", "queue"))
WORKERS: Final = Family("workers", "gauge", "Workers that have reported themselves lately.", ("tenant",))

WORKER: Final = (
    RUNNING, SLOTS, DRAINING, CLAIMS, CONFLICTS, RENEWALS, EXPIRIES, LOST, ATTEMPTS, RETRIES, FAILURES, DEAD_LETTERS,
    GIVEN_UP, TICKS, STOPS, LATE, VERDICTS, STALLS, RECONCILED, PRUNED, TROUBLES, WAITS, RUNS,
)  # fmt: skip
SERVICE: Final = (
    REQUESTS, MOVES, REFUSED, STORE_ERRORS, CLAIMS, CONFLICTS, RENEWALS, EXPIRIES, LOSSES, RETRIES, FAILURES,
    DEAD_LETTERS, ENDS, WAITS, RUNS,
)  # fmt: skip
ATTACHED: Final = (ENGINES, BUS_CONNECTED, BUS_RECEIVED, BUS_REFUSED, BUS_SENT)
STORE: Final = (JOBS, OLDEST, LETTERS, PAUSED, WORKERS)
