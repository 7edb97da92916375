"""How many failures and crashes a job may have. Interruptions have no bound."""

from detent.kernel.job import Job
from detent.lifecycle import Retry


def used_up(retry: Retry, *, failures: int, crashes: int) -> bool:
    if failures + crashes >= retry.max_attempts:
        return True
    return retry.crashes_max is not None and crashes >= retry.crashes_max


def is_waiting_for_a_person(job: Job) -> bool:
    """Parked for good by a used-up budget: due at no time, so the system must not send it round again."""
    retry = job.spec.policy.retry
    return job.due_at is None and any(
        used_up(bound, failures=job.failures, crashes=job.crashes) for bound in (retry, *retry.by_error.values())
    )
