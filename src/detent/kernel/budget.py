"""How many failures and crashes a job may have. Interruptions have no bound."""

from detent.kernel.job import Job
from detent.lifecycle import Retry


def used_up(retry: Retry, *, failures: int, crashes: int) -> bool:
    if failures + crashes >= retry.max_attempts:
        return True
    return retry.crashes_max is not None and crashes >= retry.crashes_max


def is_used_up(job: Job) -> bool:
    return used_up(job.spec.policy.retry, failures=job.failures, crashes=job.crashes)
