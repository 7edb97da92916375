"""The server behind a store: transactions on its connections, tried again where that is safe."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final

import psycopg

from detent.errors import DetentError, StoreError
from detent.store.clock import Clock, host_random
from detent.store.desk import Again, Outcome
from detent.store.dice import Dice
from detent.store.keeping import Keeping
from detent.store.postgres import reflex
from detent.store.postgres.address import Address
from detent.store.postgres.connection import Connection
from detent.store.postgres.failing import is_again, is_locked, is_lost, store_error
from detent.store.postgres.memory import Memory
from detent.store.postgres.outcomes import Attempt, happened
from detent.store.postgres.patience import Patience
from detent.store.postgres.script import run
from detent.store.postgres.session import Session
from detent.store.postgres.verbs import Busy, apply
from detent.store.postgres.work import Work
from detent.store.request import Request
from detent.store.waiting import now_s

BUSY_S: Final = 0.005  # until a record that others are moving is looked at again


class Server:
    """One connection's worker. `memory` is shared with the others of the store."""

    def __init__(
        self, address: Address, memory: Memory, keeping: Keeping, clock: Clock | None, *, is_writing: bool
    ) -> None:
        self._address = address
        self._memory = memory
        self._keeping = keeping
        self._clock = clock
        self.connection = Connection(address, is_writing=is_writing)
        self.on_written: Callable[[bool], object] = lambda is_work: None
        self._has_moved = False

    def write(self, group: list[Work]) -> list[Outcome]:
        """All of it in one transaction; if anything in it fails, each by itself, so that one does not fail another.

        Requests are kept apart from what reads first: as a rule they need one statement and no transaction around it.
        """
        requests = [work for work in group if work.requests is not None]
        if requests and len(requests) < len(group):
            return self._in_parts(group, requests, [work for work in group if work.requests is None])
        merged = _merged(group, self._keeping)
        try:
            return _spread(group, self._settled(merged))
        except Busy as busy:
            if len(group) == 1:
                return [self._later(group[0], busy)]
            return self._apart(group, busy)
        except Exception as error:  # whoever asked hears of it, a bug included, and the thread lives on
            if len(group) == 1 or is_unreachable(error):  # waiting again for each would add up
                return [(None, error) for _ in group]
        return [outcome for work in group for outcome in self.write([work])]

    def _apart(self, group: list[Work], busy: Busy) -> list[Outcome]:
        """Those who have to wait for somebody are tried by themselves; the others stay together."""
        waiting = [each for each in group if not busy.keys or each.touches(busy.keys)] or group
        others = [each for each in group if each not in waiting]
        return self._in_parts(group, others, *[[each] for each in waiting])

    def _in_parts(self, group: list[Work], *parts: list[Work]) -> list[Outcome]:
        """Part by part, and answered in the order of the group."""
        outcomes = {id(work): outcome for part in parts if part for work, outcome in self._answered(part)}
        return [outcomes[id(each)] for each in group]

    def _answered(self, part: list[Work]) -> Iterable[tuple[Work, Outcome]]:
        return zip(part, self.write(part), strict=True)

    def read(self, group: list[Work]) -> list[Outcome]:
        return [self._look(work) for work in group]

    def tell(self) -> None:
        """What was written that is no work for anybody is told of when whoever asked for it has been answered."""
        if self._has_moved:
            self._has_moved = False
            self.on_written(False)

    def close(self) -> None:
        self.connection.close()

    def _settled(self, works: Sequence[Work]) -> list[Any]:
        """Carried out once, whatever it takes: others in the way, a lost connection, an end that was not heard of."""
        patience, doubts = Patience(self._address.retry_s), list[Attempt]()
        while True:
            attempt = Attempt()
            try:
                return self._carry_out(works, attempt, doubts)
            except Busy as busy:
                self._undo()
                if not doubts:
                    raise
                if not patience.waits_for_others():
                    raise self._meaning(busy, is_unknown=True) from busy
            except (psycopg.Error, OSError) as error:
                self._undo()
                self._memory.drop(attempt.keys)
                doubts += [attempt] if attempt.is_unknown and is_lost(error) else []
                if is_locked(error) and not doubts:
                    raise Busy([]) from error
                if not patience.allows(error):
                    raise self._meaning(error, is_unknown=bool(doubts)) from error
            except BaseException:
                self._undo()
                raise

    def _carry_out(self, works: Sequence[Work], attempt: Attempt, doubts: list[Attempt]) -> list[Any]:
        for work in works:
            work.again()
        if not doubts and len(works) == 1 and works[0].requests is not None:
            results = self._short(works[0], attempt)
            if results is not None:
                return results
            works[0].again()
        return self._transact(works, attempt, doubts)

    def _short(self, work: Work, attempt: Attempt) -> list[Any] | None:
        """One statement, if that is enough. It is its own transaction."""
        requests, dice = work.requests or (), work.dice
        assert dice is not None, "requests are planned with dice"
        moment = self.connection.reckoning.now() if self._clock is None else self._clock()
        if moment is None or not self.connection.is_open or not reflex.is_short(requests, self._memory):
            return None
        if not self._address.prepare and not all(each.is_fresh for each in requests):
            return None  # it would wait for a locked record, and nothing on this connection limits how long
        session = self._session()
        session.now = moment
        planned = reflex.decide(session, requests, self._memory, dice)
        if planned is None:
            return None
        attempt.results = [planned.replies]
        try:
            replies = reflex.write(session, planned, self._keeping, attempt.watched(session, self.connection))
        except psycopg.Error as error:
            if not is_again(error) and not is_locked(error):
                raise
            attempt.is_unknown = False  # it did not happen: it was not as remembered
            self._memory.drop(session.written)
            return None
        if replies is None:
            return None
        self._committed(session)
        return [replies]

    def _transact(self, works: Sequence[Work], attempt: Attempt, doubts: list[Attempt]) -> list[Any]:
        connection = self.connection
        session = self._session()
        connection.begin(self._address.begin)
        for doubtful in doubts:
            if run(happened(doubtful, session), connection.execute):
                connection.rollback()
                return doubtful.results
        attempt.results = results = [run(work.make(session), connection.execute) for work in works]
        attempt.ends(session)
        connection.commit()
        self._committed(session)
        return results

    def _look(self, work: Work) -> Outcome:
        """Reading changes nothing: it can be done again."""
        patience = Patience(0 if work.is_optional else self._address.retry_s)
        while True:
            try:
                return self._read(work), None
            except (psycopg.Error, OSError) as error:
                self._undo()
                if not patience.allows(error):
                    return None, self._meaning(error)
            except Exception as error:  # whoever asked hears of it, and the thread lives on
                self._undo()
                return None, error

    def _read(self, work: Work) -> Any:
        connection, session = self.connection, self._session()
        if not work.is_one_moment:
            return run(work.make(session), connection.execute)
        connection.begin("begin isolation level repeatable read read only")
        result = run(work.make(session), connection.execute)
        connection.commit()
        return result

    def _session(self) -> Session:
        clock = None if self._clock is None else self._clock()
        memory, reckoned = self._memory, self.connection.reckoning.now()
        return Session(self.connection.definitions, clock, memory.watermarks, memory.models, reckoned)

    def _committed(self, session: Session) -> None:
        self.connection.definitions.committed()
        session.committed()
        self._memory.put(session.remembered())
        if session.events:
            if session.makes_work:
                self.on_written(True)
            else:
                self._has_moved = True
        if session.told is not None:
            self.connection.reckoning.heard(*session.told)

    def _later(self, work: Work, busy: Busy) -> Outcome:
        if work.give_up_at is None:
            work.give_up_at = now_s() + self._address.busy_s
        if now_s() < work.give_up_at:
            return Again(BUSY_S), None
        what = f"job {', '.join(job_id for _, job_id in busy.keys)}" if busy.keys else "what this call needs"
        message = f"another transaction keeps {what} locked; end that, or wait longer with busy_s"
        return None, StoreError(f"store {self._address.shown}: {message}", code="store_locked")

    def _undo(self) -> None:
        self.connection.definitions.rolled_back()
        try:
            self.connection.rollback()
        except psycopg.Error:
            self.connection.close()  # there is nobody to tell: the server has undone it by itself

    def _meaning(self, error: Exception, *, is_unknown: bool = False) -> DetentError:
        meant = store_error(self._address.shown, error)
        if is_unknown:
            message = f"{meant}; whether the call took effect is not known: read the job when the server is back"
            return StoreError(message, code="outcome_unknown")
        return meant


def is_unreachable(error: Exception) -> bool:
    return isinstance(error, StoreError) and error.code in ("store_unavailable", "outcome_unknown")


def _merged(group: Sequence[Work], keeping: Keeping) -> list[Work]:
    """Requests of several callers become those of one, in their order, as far as they follow one another."""
    if len(group) == 1 or any(work.requests is None for work in group):
        return list(group)
    requests: list[Request] = [each for work in group for each in work.requests or ()]
    together = Dice(group[0].dice.random if group[0].dice is not None else host_random)
    return [Work(make=lambda session: apply(session, requests, together, keeping), requests=requests, dice=together)]


def _spread(group: Sequence[Work], results: list[Any]) -> list[Outcome]:
    if len(results) == len(group):
        return [(result, None) for result in results]
    replies = iter(results[0])
    return [([next(replies) for _ in work.requests or ()], None) for work in group]
