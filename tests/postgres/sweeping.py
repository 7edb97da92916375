"""Verbs to lose a connection in, at one moment after the other, and what can be counted of each afterwards."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from detent.client import Job, SyncClient
from tests.postgres.cutting import Passing, Verdict
from tests.postgres.moments import Once
from tests.postgres.wire import ASKS_FOR_READY

READER: Final = 1  # its connection is made first; what is said there is none of the verb's
BEGINS: Final = frozenset({b"Q", b"B"})  # a statement, asked at once or prepared before
BATCH: Final = 3
WORKER: Final = "w"
MOMENTS_MAX: Final = 60  # in one verb


class Asked(NamedTuple):
    """A verb, ready to be asked, and how often it had its effect in the eyes of somebody else."""

    call: Callable[[], Any]
    effects: Callable[[], float]


class Two(NamedTuple):
    """A client whose connections are lost, and one that is beside it."""

    lossy: SyncClient
    beside: SyncClient


def enqueue(two: Two, name: str) -> Asked:
    return Asked(lambda: two.lossy.enqueue(name), lambda: _made(two, name))


def enqueue_named(two: Two, name: str) -> Asked:
    return Asked(lambda: two.lossy.enqueue(name, request_id=name), lambda: _made(two, name))


def enqueue_many(two: Two, name: str) -> Asked:
    items = [{"kind": name} for _ in range(BATCH)]
    return Asked(lambda: two.lossy.enqueue_many(items), lambda: _made(two, name) / BATCH)


def claim(two: Two, name: str) -> Asked:
    job = two.lossy.enqueue(name, queue=name)
    return Asked(lambda: two.lossy.claim(worker=WORKER, queues=[name]), lambda: _moved(two, job, "claim"))


def claim_named(two: Two, name: str) -> Asked:
    job = two.lossy.enqueue(name, queue=name)
    call = lambda: two.lossy.claim(worker=WORKER, queues=[name], request_id=name)  # noqa: E731
    return Asked(call, lambda: _moved(two, job, "claim"))


def start(two: Two, name: str) -> Asked:
    return _of_owner(two, name, "start")


def complete(two: Two, name: str) -> Asked:
    return _of_owner(two, name, "complete")


def complete_named(two: Two, name: str) -> Asked:
    return _of_owner(two, name, "complete", request_id=name)


def renew(two: Two, name: str) -> Asked:
    return _of_owner(two, name, "renew")


def cancel(two: Two, name: str) -> Asked:
    job = two.lossy.enqueue(name)
    return Asked(lambda: two.lossy.cancel(job.id), lambda: _moved(two, job, "cancel"))


VERBS: Final[dict[str, Callable[[Two, str], Asked]]] = {
    each.__name__: each
    for each in (
        enqueue, enqueue_named, enqueue_many, claim, claim_named, start, complete, complete_named, renew, cancel,
    )
}  # fmt: skip


def _of_owner(two: Two, name: str, verb: str, **more: str) -> Asked:
    two.lossy.enqueue(name, queue=name)
    (job,) = two.lossy.claim(worker=WORKER, queues=[name], start=verb != "start")
    call = lambda: getattr(two.lossy, verb)(job.id, worker=WORKER, attempt=1, **more)  # noqa: E731
    return Asked(call, lambda: _moved(two, job, verb))


def _made(two: Two, kind: str) -> int:
    return len(two.beside.find(kind=kind).items)


def _moved(two: Two, job: Job, verb: str) -> int:
    return [event.verb for event in two.beside.history(job.id)].count(verb)


def is_as_answered(two: Two, answer: Any) -> bool:
    """Is each job that was answered with just as somebody else sees it?"""
    jobs = answer if isinstance(answer, list) else [answer]
    return bool(jobs) and all(two.beside.get(job.id).rev == job.rev for job in jobs)


def answers(answer: Any) -> set[str]:
    """ "applied", "unchanged", …: for each job that came back."""
    return {job.answer for job in (answer if isinstance(answer, list) else [answer])}


# -- moments


def statement_begins(message: Passing) -> bool:
    return _is_of_writer(message) and message.type in BEGINS


def statement_ends(message: Passing) -> bool:
    return _is_of_writer(message) and message.type in ASKS_FOR_READY


def connection_or_statement_begins(message: Passing) -> bool:
    return _is_of_writer(message) and (message.type in BEGINS or not message.type)


def _is_of_writer(message: Passing) -> bool:
    return message.direction == "to server" and message.connection != READER


class Committing:
    """Chooses what ends a transaction: its commit, or the end of a statement that is one by itself."""

    def __init__(self) -> None:
        self._is_inside = False

    def __call__(self, message: Passing) -> bool:
        if not statement_ends(message):
            return False
        if message.payload.startswith(b"begin"):
            self._is_inside = True
        return not self._is_inside or message.payload.startswith(b"commit")


class InTurn:
    """One moment, and after it another."""

    def __init__(self, first: Once, second: Once) -> None:
        self._first = first
        self._second = second

    def __call__(self, message: Passing) -> Verdict:
        return self._second(message) if self._first.happened.is_set() else self._first(message)
