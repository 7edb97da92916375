"""The store's verbs as scripts: read the facts, plan, write the plan. Nothing is decided here."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from msgspec.structs import replace

from detent.kernel import Job
from detent.store.dice import Dice
from detent.store.keeping import Keeping
from detent.store.planning import Plan, plan, plan_claim, plan_due
from detent.store.postgres.at_once import at_once, remember
from detent.store.postgres.claiming import Candidates
from detent.store.postgres.script import Script, ask
from detent.store.postgres.session import Missing, Session
from detent.store.postgres.statements import SQL
from detent.store.postgres.writing import write
from detent.store.request import ClaimRequest, Key, Replies, Reply, Request

LOOKED_AGAIN_MAX: Final = 1_000  # in one statement


class Busy(Exception):
    """Somebody else is moving these jobs. Nothing was written; it is to be asked again a little later."""

    def __init__(self, keys: Sequence[Key]) -> None:
        super().__init__(keys)
        self.keys = keys


def apply(session: Session, requests: Sequence[Request], dice: Dice, keeping: Keeping) -> Script[Replies]:
    yield from session.gather(requests)
    planned = yield from _planned(session, lambda: plan(requests, session, session.now, dice), dice)
    in_the_way = _in_the_way(session, planned)
    if in_the_way:
        return (yield from _without(session, in_the_way, requests, dice, keeping))
    yield from write(session, planned, keeping)
    return planned.replies


def claim(session: Session, request: ClaimRequest, dice: Dice, keeping: Keeping) -> Script[Replies]:
    """By one statement, if jobs are as they were last time."""
    decided = at_once(session, request)
    taken = None if decided is None else (yield from Candidates(session, request).at_once(decided))
    if taken is None:
        return (yield from _claim(session, request, dice, keeping))
    replies, is_all = taken
    if is_all:
        return replies
    return replies + (yield from _claim(session, replace(request, limit=request.limit - len(replies)), dice, keeping))


def _claim(session: Session, request: ClaimRequest, dice: Dice, keeping: Keeping) -> Script[Replies]:
    """Candidates are looked for until there are enough that the kernel accepts, or none are left."""
    found: list[Job] = []
    more = Candidates(session, request)
    while True:
        page = yield from more.next_page()
        found = _in_order(session, found + page) if found else page
        passed: set[str] = set()
        planned = yield from _planned(session, partial(_claimed, session, request, found, passed), dice)
        if not page or len(planned.changes) >= request.limit or (planned.replies and not planned.changes):
            break
        yield from more.pass_over(passed)
    more.taken(len(planned.changes), more.places_of([change.before for change, _ in planned.changes]))
    remember(session, request, planned)
    yield from write(session, planned, keeping)
    return planned.replies


def _claimed(session: Session, request: ClaimRequest, found: list[Job], passed: set[str]) -> Plan:
    passed.clear()  # of an earlier try
    return plan_claim(request, found, session, session.now, passed=passed)


def _in_order(session: Session, found: list[Job]) -> list[Job]:
    """Of several pages: each by itself is in order."""
    return sorted(found, key=lambda job: (job.order_at, session.number((job.spec.tenant, job.id))))


def reconcile(session: Session, limit: int, dice: Dice, keeping: Keeping) -> Script[Replies]:
    yield ask(SQL["look_again"], {"now": session.clock, "limit": LOOKED_AGAIN_MAX})
    due = yield from session.jobs_of((yield ask(SQL["due"], {"now": session.clock, "limit": limit})))
    planned = yield from _planned(session, lambda: plan_due(due, session, session.now, dice), dice)
    yield from write(session, planned, keeping)
    return planned.replies


def _planned(session: Session, make: Callable[[], Plan], dice: Dice) -> Script[Plan]:
    """Plan; if a fact is missing, read it and plan again."""
    while True:
        try:
            return make()
        except Missing as missing:
            dice.again()
            yield from session.fetch(missing)


def _in_the_way(session: Session, planned: Plan) -> set[Key]:
    moved = [change.before for change, _ in planned.changes if change.before.rev]
    return session.locked.intersection([(job.spec.tenant, job.id) for job in moved])


def _without(
    session: Session, in_the_way: set[Key], requests: Sequence[Request], dice: Dice, keeping: Keeping
) -> Script[Replies]:
    """A renewal passes over a record that is being moved: its writer holds the fence, so the job is safe. What else was
    asked of such a job has to wait.
    """
    waiting = [each for each in requests if (each.tenant, each.job_id) in in_the_way]
    if any(each.command.verb != "renew" for each in waiting):
        raise Busy(sorted(in_the_way))
    dice.again()
    others = [each for each in requests if each not in waiting]
    answers = iter((yield from apply(session, others, dice, keeping)) if others else ())
    skipped = {key: session.job(*key) for key in in_the_way}
    return [
        Reply(job, "unchanged") if (job := skipped.get((each.tenant, each.job_id))) is not None else next(answers)
        for each in requests
    ]
