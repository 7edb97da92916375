"""A verb inside a caller's transaction: whole, or without a trace if it fails, so that the caller may go on."""

import asyncio
import threading
from typing import Any, Final, TypeVar

from detent.errors import DetentError, InvalidArgument, StoreError
from detent.store.postgres.address import Address
from detent.store.postgres.beforehand import Beforehand, Own
from detent.store.postgres.callers import Caller, caller_of
from detent.store.postgres.failing import is_again, store_error
from detent.store.postgres.memory import Memory
from detent.store.postgres.script import Ask, Script, arun, ask, run
from detent.store.postgres.session import Session
from detent.store.postgres.statements import SQL
from detent.store.postgres.turns import Turns
from detent.store.postgres.unwrapping import not_open
from detent.store.postgres.verbs import Busy
from detent.store.postgres.work import Work
from detent.store.waiting import in_thread, is_blocking, now_s, sleep

Result = TypeVar("Result")
LOOK_S: Final = 0.01  # between looks at a job that others are moving
CONFLICTS_MAX: Final = 20
BLOCKING: Final = Turns(threading.Lock)
SUSPENDING: Final = Turns(asyncio.Lock)
_SAVEPOINT: Final = Ask("savepoint detent", ())
_UNDO: Final = Ask("rollback to savepoint detent", ())
_RELEASE: Final = Ask("release savepoint detent", ())
_ISOLATION: Final = Ask("show transaction_isolation", ())


class TakingPart:
    """`own` runs a script in a transaction of the store's own."""

    def __init__(self, address: Address, memory: Memory, own: Own) -> None:
        self._address = address
        self._memory = memory
        self._beforehand = Beforehand(own)

    async def do(self, work: Work, tx: Any, clock: int | None) -> Any:
        caller = await _caller(tx)
        await self._beforehand.learn(work.requests or ())
        deadline, conflicts = now_s() + self._address.busy_s, 0
        while True:
            work.again()
            session = Session(self._beforehand.known.copy(), clock)
            try:
                result = await self._run(caller, self._inside(work.make(session), session))
            except Busy as busy:
                if now_s() >= deadline:
                    raise self._locked(busy) from busy
                await sleep(LOOK_S)
            except DetentError:
                raise
            except Exception as error:
                conflicts += 1
                if not is_again(error) or conflicts > CONFLICTS_MAX:
                    raise self._meaning(error) from error
            else:
                self._memory.drop(session.written)  # and until the caller has ended it, nobody is to wait for it
                return result

    def _inside(self, script: Script[Result], session: Session) -> Script[Result]:
        """Between a savepoint and its release, on a connection to this store and no other.

        Whoever was refused and goes on with its transaction does not keep the job locked: others have to move it.
        """
        yield _SAVEPOINT
        try:
            yield from self._check_store()
            result = yield from script
        except GeneratorExit:
            raise
        except BaseException as error:
            yield _UNDO
            yield _RELEASE
            yield from self._check_conflict(error)
            raise
        if session.transaction is None:  # nothing was written
            yield _UNDO
        yield _RELEASE
        return result

    def _check_store(self) -> Script[None]:
        if (yield ask(SQL["identity"], {})) != [(self._beforehand.identity,)]:
            raise self._elsewhere()

    def _check_conflict(self, error: BaseException) -> Script[None]:
        """Trying again helps only where the next statement sees what others have committed meanwhile."""
        if _state(error)[:2] == "40" or (is_again(error) and (yield _ISOLATION) != [("read committed",)]):
            message = "the transaction in tx= lost against another; roll it back, and run all of it again"
            said = " ".join(str(error).split())
            raise StoreError(f"store {self._address.shown}: {message} ({said})", code="store_locked") from error

    async def _run(self, caller: Caller, script: Script[Result]) -> Result:
        if caller.suspending is not None:
            with SUSPENDING.on(caller.raw) as turn:
                async with turn:
                    return await arun(script, caller.suspending)
        blocking = caller.blocking
        assert blocking is not None, "a connection is of one world or the other"

        def work() -> Result:
            with BLOCKING.on(caller.raw) as turn, turn:
                return run(script, blocking)

        return work() if is_blocking() else await _to_its_end(work)

    def _locked(self, busy: Busy) -> StoreError:
        jobs = ", ".join(job_id for _, job_id in busy.keys)
        message = f"another transaction keeps job {jobs} locked; end that, or wait longer with busy_s"
        return StoreError(f"store {self._address.shown}: {message}", code="store_locked")

    def _elsewhere(self) -> InvalidArgument:
        message = f"tx= is connected to another database than {self._address.shown}, or to another schema in it"
        return InvalidArgument(f"{message}; give a transaction on the store's own tables", code="bad_transaction")

    def _meaning(self, error: Exception) -> Exception:
        match _state(error):
            case "25P01":
                return not_open("begin one first")
            case "25P02":
                return not_open("it has failed; roll it back first")
            case "42P01":
                return self._elsewhere()
        return store_error(self._address.shown, error) if hasattr(error, "sqlstate") else error


async def _caller(tx: Any) -> Caller:
    """SQLAlchemy opens a connection with the first that is asked, and lets nobody else ask meanwhile."""
    if is_blocking():
        return await caller_of(tx)
    with SUSPENDING.on(tx) as turn:
        async with turn:
            return await caller_of(tx)


async def _to_its_end(work: Any) -> Any:
    """On a thread, while an event loop goes on. A caller that is cancelled gets its connection back when it is free."""
    task = asyncio.ensure_future(in_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        task.exception()  # nobody is there to hear of it
        raise


def _state(error: BaseException) -> str:
    return getattr(error, "sqlstate", None) or ""
