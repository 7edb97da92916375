"""What every part of the store over HTTP has: the line to the service, and who the service takes us for."""

from collections.abc import Mapping, Sequence
from itertools import takewhile
from typing import Any, Final, TypeVar
from urllib.parse import quote

from msgspec import structs

from detent.errors import DetentError, InvalidArgument
from detent.kernel import Job
from detent.store.http.address import Address
from detent.store.http.failing import unreadable
from detent.store.http.line import Line
from detent.store.request import Replies, Reply
from detent.wire.http.answers import JobsAnswer, OneAnswer, Session
from detent.wire.http.jobs import JobRecord, record_of
from detent.wire.http.problems import error_of

Answer = TypeVar("Answer")
LOOKUP_MAX: Final = 1_000  # ids in one request


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

    async def _made_whole(self, tenant: str, replies: Replies, jobs: Sequence[JobRecord | None]) -> Replies:
        """With the values that the answer had no room for: they are asked for by themselves."""
        missing = [job.id for job in jobs if job is not None and job.withheld == "size"]
        if not missing:
            return replies
        found = await self._look_up(tenant, list(dict.fromkeys(missing)))
        whole = {job.id: job for job in found if job is not None}
        return [_whole(reply, whole) for reply in replies]

    async def _look_up(self, tenant: str, job_ids: Sequence[str]) -> list[Job | None]:
        found: list[Job | None] = []
        while len(found) < len(job_ids):  # an answer may have fewer than were asked for, if they are large
            body = {"job_ids": list(job_ids[len(found) : len(found) + LOOKUP_MAX])}
            answer = await self._of(tenant, JobsAnswer, "POST", "/v1/lookups", body=body, is_safe=True)
            if not answer.jobs:
                raise unreadable(self._address.url, "POST /v1/lookups", "it is empty", self._line.version)
            whole = list(takewhile(lambda job: job is None or job.withheld != "size", answer.jobs)) or answer.jobs[:1]
            found += [None if job is None else record_of(job) for job in whole]
        return found


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


def _whole(reply: Reply | DetentError, whole: Mapping[str, Job]) -> Reply | DetentError:
    """What was put into a job never changes. What came out of it is of the revision that it came out at."""
    if isinstance(reply, DetentError) or reply.job.id not in whole:
        return reply
    now, then = whole[reply.job.id], reply.job
    if now.created_at != then.created_at:  # its id was given to another since
        return reply
    return Reply(now if now.rev == then.rev else structs.replace(then, spec=now.spec), reply.answer)


def reply_of(job: JobRecord) -> Reply:
    return Reply(record_of(job), job.answer)


def refuse(tx: object) -> None:
    """A service commits what it is asked by itself: nobody else's transaction reaches that far."""
    if tx is not None:
        message = "tx= is a transaction in the store's own database, and a service has none to share"
        remedy = "connect to the database itself (postgresql://…) for that, or leave tx= out and give a request_id"
        raise InvalidArgument(f"{message}; {remedy}", code="bad_transaction")
