"""The short way: requests decided on what is remembered, and written by one statement that compares.

It takes one journey to the server instead of four. It is taken only where nothing has to be looked up: new jobs whose
ids were made up for them, and moves of jobs that this client wrote last. Whatever else comes up (a refusal, a repeat,
a job that is not remembered, a full queue) is not for it: then everything is asked again the long way, which reads.
"""

from collections.abc import Callable, Sequence
from typing import Final

from detent.kernel.command import Enqueue
from detent.store.dice import Dice
from detent.store.keeping import Keeping
from detent.store.planning import Plan, plan
from detent.store.postgres.memory import Memory
from detent.store.postgres.script import Ask
from detent.store.postgres.session import Missing, Session
from detent.store.postgres.writing import batch_of
from detent.store.request import Replies, Reply, Request
from detent.store.rows import Row

Execute = Callable[[Ask], list[Row]]
# A renewal must not wait for a record that somebody has locked, and a comparison would. A submission fills a queue.
_LONG_WAY: Final = frozenset({"renew", "submit", "rerun"})


def is_short(requests: Sequence[Request], memory: Memory) -> bool:
    """Whether nothing has to be looked up."""
    for each in requests:
        if not _is_simple(each) or not (each.is_fresh or memory.get((each.tenant, each.job_id))):
            return False
    return True


def decide(session: Session, requests: Sequence[Request], memory: Memory, dice: Dice) -> Plan | None:
    """A plan in which everything is carried out as asked; None, if that is not how it turns out."""
    for request in requests:
        key = request.tenant, request.job_id
        known = None if request.is_fresh else memory.get(key)
        if known is not None:
            session.recall(key, known)
    try:
        planned = plan(requests, _Blind(session), session.now, dice)
    except Missing:
        return None
    for reply in planned.replies:
        if type(reply) is not Reply or reply.answer != "applied":
            return None
    return planned


def write(session: Session, planned: Plan, keeping: Keeping, execute: Execute) -> Replies | None:
    """None, if it takes more than one statement."""
    try:
        batch = batch_of(session, planned, keeping)
    except Missing:
        return None
    only = batch.only
    if only is None:
        return None
    session.wrote(batch.first_event, batch.jobs)
    only.heard(session, execute(only.asked(session, reckoned=session.now)))
    return planned.replies


class _Blind:
    """Facts without a look at the store. Queues count as unlimited: the statement sees to it that they are."""

    def __init__(self, session: Session) -> None:
        self.job, self.live, self.kept = session.job, session.live, session.kept
        self.lifecycle, self.noted, self.use = session.lifecycle, session.noted, session.use

    def room(self, tenant: str, queue: str) -> int | None:
        return None


def _is_simple(request: Request) -> bool:
    command = request.command
    if command.request_id is not None or command.verb in _LONG_WAY:
        return False
    return not isinstance(command, Enqueue) or (request.is_fresh and command.dedupe_key is None)
