"""What a reason is, and the words that reasons share.

Why a job that has not ended is where it is, is told in `client.stays`, with `client.turns` for one that is ready; why
it has ended, in `client.ends`.
"""

from datetime import datetime
from typing import Final

from msgspec import Struct, field

from detent.client.views import Event, Job
from detent.client.workers import Worker
from detent.kernel import Error
from detent.lifecycle import Lifecycle
from detent.store.fleet import QueueFacts
from detent.store.limits import KeyReport

ERROR_CHARS_MAX: Final = 300  # of an error within a sentence; the record has all of it


class Reason(Struct, frozen=True, omit_defaults=True):
    """`code` is stable, `text` is for people. `since` and `until` bound it in time, as far as the record knows."""

    code: str
    text: str
    since: datetime | None = None
    until: datetime | None = None


class Facts(Struct):
    """What the record of the job does not say by itself. `stop_asked` is the last request to cancel it.

    `workers` were seen lately. `gone` was not: the last that would have taken the job, or else the last of all.
    """

    now: datetime
    lifecycle: Lifecycle
    last: Event
    stop_asked: Event | None = None
    queue_claim: Event | None = None
    kind_claim: Event | None = None
    looked_back_to: datetime | None = None
    waiting: int = 0
    queue: QueueFacts | None = None
    limit_key: KeyReport | None = None  # how far the job's own is used
    workers: list[Worker] = field(default_factory=list)
    gone: Worker | None = None
    reruns: list[str] = field(default_factory=list)
    compensated_by: str | None = None


def described(error: Error) -> str:
    """`TransientError: scanner is busy (exhausted_retries, stage exec)`."""
    said = f"{error.type}: {error.message}" if error.message else error.type
    more = [error.reason_code, error.stage and f"stage {error.stage}"]
    known = ", ".join(each for each in more if each)
    return f"{said} ({known})" if known else said


def brief(error: Error) -> str:
    """The same within a sentence, however long the message is."""
    text = described(error)
    if len(text) <= ERROR_CHARS_MAX:
        return text
    return f"{text[:ERROR_CHARS_MAX]}… ({len(text):,} characters; the job's record has all)"


def because(event: Event) -> str:
    return f" ({event.cause})" if event.cause else ""


def losses(job: Job) -> str:
    failures = f"{job.failures} failure{'' if job.failures == 1 else 's'}"
    crashes = f"{job.crashes} crash{'' if job.crashes == 1 else 'es'}"
    return f"{failures} and {crashes}, of at most {job.policy.retry.max_attempts}"
