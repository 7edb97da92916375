"""Statements on psycopg's connection without a cursor in between: a store says the same few thousands of times.

psycopg makes the connection, knows its errors and reads its rows. What a cursor would do around each statement (look at
the types of the values, at the text, at what is prepared) is known here beforehand, and takes as long as a commit.
"""

import select
from typing import Any, Final, NamedTuple

import psycopg
from psycopg import adapt
from psycopg.abc import Transformer
from psycopg.errors import error_from_result
from psycopg.pq import ConnStatus, ExecStatus
from psycopg.pq.abc import PGresult

from detent.store.postgres.script import Ask
from detent.store.rows import Row

PREPARED_MAX: Final = 150  # each takes the server some hundred kilobytes
_EITHER: Final = select.POLLIN | select.POLLOUT


class _Reader:
    """Reads the rows of one statement. Their types do not change: they are looked at once."""

    def __init__(self, raw: "psycopg.Connection[Any]") -> None:
        self._transformer: Transformer = adapt.Transformer(raw)
        self._knows_types = False

    def rows(self, result: PGresult) -> list[Row]:
        if result.status != ExecStatus.TUPLES_OK:
            return []
        self._transformer.set_pgresult(result, set_loaders=not self._knows_types)
        self._knows_types = True
        rows = self._transformer.load_rows(0, result.ntuples, tuple)
        self._transformer.set_pgresult(None, set_loaders=False)  # it may be large
        return rows


class _Prepared(NamedTuple):
    """A statement that the server knows by name."""

    name: bytes
    reader: _Reader


class Link:
    """Used by one thread at a time. Whoever is interrupted while waiting finds it closed."""

    def __init__(self, raw: "psycopg.Connection[Any]", *, prepares: bool) -> None:
        self.raw = raw
        self._wire = raw.pgconn
        self._prepares = prepares
        self._prepared: dict[str, _Prepared] = {}
        self._poll = select.poll()
        self._poll.register(self._wire.socket, select.POLLIN)

    @property
    def is_open(self) -> bool:
        return self._wire.status == ConnStatus.OK

    def ask(self, asked: Ask) -> list[Row]:
        values = _encoded(asked)
        if not self._prepares:
            self._wire.send_query_params(asked.sql.encode(), values)
            return _Reader(self.raw).rows(self._result())
        known = self._known(asked.sql)
        self._wire.send_query_prepared(known.name, values)
        return known.reader.rows(self._result())

    def ask_after(self, first: str, asked: Ask) -> list[Row]:
        """The same after another statement, which has no values or rows: on one journey."""
        if not self._prepares:
            self.say(first)
            return self.ask(asked)
        known, values = self._known(asked.sql), _encoded(asked)
        self._wire.enter_pipeline_mode()
        self._wire.send_query_params(first.encode(), None)
        self._wire.send_query_prepared(known.name, values)
        self._wire.pipeline_sync()
        return known.reader.rows(self._result_of_pipeline())

    def say(self, sql: str) -> None:
        """A statement, or several, without values or rows. It is not worth preparing."""
        self._wire.send_query(sql.encode())
        self._result()

    def close(self) -> None:
        self.raw.close()

    def _known(self, sql: str) -> _Prepared:
        return self._prepared.get(sql) or self._prepare(sql)

    def _prepare(self, sql: str) -> _Prepared:
        if len(self._prepared) >= PREPARED_MAX:
            self.say("deallocate all")
            self._prepared.clear()
        known = _Prepared(b"detent_%d" % len(self._prepared), _Reader(self.raw))
        self._wire.send_prepare(known.name, sql.encode())
        self._result()
        self._prepared[sql] = known
        return known

    def _result(self) -> PGresult:
        """Of what was sent; of several statements the last, or the first that failed."""
        return _judged(self._received(is_pipeline=False))

    def _result_of_pipeline(self) -> PGresult:
        """The same. There, nothing comes after each statement, and something at the very end."""
        last = self._received(is_pipeline=True)
        if self.is_open:
            self._wire.exit_pipeline_mode()
        elif last is not None and last.status != ExecStatus.FATAL_ERROR:
            last = None  # what came is not of the last statement
        return _judged(last)

    def _received(self, *, is_pipeline: bool) -> PGresult | None:
        last: PGresult | None = None
        try:
            while True:
                result = self._next()
                if result is None:
                    if not is_pipeline or not self.is_open:
                        return last
                elif is_pipeline and result.status == ExecStatus.PIPELINE_SYNC:
                    return last
                elif last is None or last.status != ExecStatus.FATAL_ERROR:
                    last = result
        except psycopg.Error:
            raise
        except BaseException:
            self.close()  # an answer may still come, and nobody would know what to
            raise

    def _next(self) -> PGresult | None:
        """Asked for only when it is there: libpq would wait for it, and stop every thread of the program meanwhile."""
        wire, poll = self._wire, self._poll
        while wire.flush():  # more than fits into the socket: what the server says meanwhile has to be taken
            poll.modify(wire.socket, _EITHER)
            if any(event & select.POLLIN for _, event in poll.poll()):
                wire.consume_input()
            poll.modify(wire.socket, select.POLLIN)
        while wire.is_busy():
            poll.poll()
            wire.consume_input()
        return wire.get_result()


def _encoded(asked: Ask) -> list[bytes | None]:
    return [None if value is None else value.encode() for value in asked.values]


def _judged(last: PGresult | None) -> PGresult:
    if last is None:
        raise psycopg.OperationalError("the connection was lost")
    if last.status == ExecStatus.FATAL_ERROR:
        raise error_from_result(last)
    return last
