"""What every part of the store over HTTP has: the line to the service, and who the service takes us for."""

from collections.abc import Sequence
from typing import Any, TypeVar
from urllib.parse import quote

from detent.errors import DetentError, InvalidArgument
from detent.store.http.address import Address
from detent.store.http.line import Line
from detent.store.request import Replies, Reply
from detent.wire.http.answers import OneAnswer, Session
from detent.wire.http.jobs import JobRecord, record_of
from detent.wire.http.problems import error_of

Answer = TypeVar("Answer")


class Sharing:
    _address: Address
    _line: Line
    _session: Session | None

    @property
    def is_tended(self) -> bool:
        """Whether the service does what time demands, and removes what is old: then a worker need not."""
        return self._session is None or self._session.is_tended

    @property
    def home(self) -> str | None:
        """The tenant of the token; of whoever names none."""
        return None if self._session is None else self._session.tenant

    @property
    def worker(self) -> str | None:
        """The worker whose name the token may act under, and below it."""
        return None if self._session is None else self._session.worker

    async def _of(self, tenant: str, answer: type[Answer], method: str, path: str, **more: Any) -> Answer:
        """Ask in a tenant. It is named only where it is another one than the token's own."""
        named = None if tenant == self.home else tenant
        return await self._line.ask(answer, method, path, tenant=named, **more)


def named(*parts: str) -> str:
    """A path of names, whatever they are: a slash or a dot of theirs is none of the path's."""
    return "".join(f"/{'%2E' * len(part) if part in ('.', '..') else quote(part, safe='')}" for part in parts)


def replies_of(answers: Sequence[OneAnswer]) -> Replies:
    return [_reply(each) for each in answers]


def _reply(answer: OneAnswer) -> Reply | DetentError:
    if answer.problem is not None:
        return error_of(answer.problem)
    assert answer.job is not None, "an answer is a job or a problem"
    return reply_of(answer.job)


def reply_of(job: JobRecord) -> Reply:
    return Reply(record_of(job), job.answer)


def refuse(tx: object) -> None:
    """A service commits what it is asked by itself: nobody else's transaction reaches that far."""
    if tx is not None:
        message = "tx= is a transaction in the store's own database, and a service has none to share"
        remedy = "connect to the database itself (postgresql://…) for that, or leave tx= out and give a request_id"
        raise InvalidArgument(f"{message}; {remedy}", code="bad_transaction")
