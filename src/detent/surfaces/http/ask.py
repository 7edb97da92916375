"""What a handler is given: who asks, in which tenant, and what the headers say."""

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Final, TypeVar

from starlette.requests import Request

from detent import kernel
from detent.client import Client
from detent.errors import InvalidArgument
from detent.kernel.change import Answer
from detent.surfaces.http.bodies import Inflating
from detent.surfaces.http.budget import SHOWN_BYTES_MAX
from detent.surfaces.http.grants import Grant
from detent.surfaces.http.matching import Match, match_of
from detent.surfaces.http.reading import header_of
from detent.telemetry import tracing
from detent.telemetry.traceparent import whole_of
from detent.wire.http.jobs import JobShape, job_shape, value_bytes, without_values

if TYPE_CHECKING:
    from detent.surfaces.http.service import Service

Result = TypeVar("Result")
NO_REV: Final = 0  # the first revision is 1


class Ask:
    """`status` and `headers` are those of the answer; a handler may set them."""

    def __init__(self, service: "Service", request: Request, grant: Grant, client: Client, status: int) -> None:
        self.service = service
        self.request = request
        self.grant = grant
        self.client = client
        self.status = status
        self.headers: dict[str, str] = {}
        self.inflating = Inflating()
        self._left = SHOWN_BYTES_MAX  # of the values of jobs
        self._is_other = False

    @property
    def is_looking(self) -> bool:
        return self.request.method in ("GET", "HEAD")

    @property
    def expected_rev(self) -> int | None:
        """If-Match: the revision that the asker has decided on. If that was of another job, one that no job has."""
        match = self.match
        if match is None:
            return None
        return NO_REV if self._is_other else match.rev

    @property
    def match(self) -> Match | None:
        return match_of(self.request.headers.get("if-match"))

    def compare(self, job: kernel.Job | None) -> None:
        """The job that is asked about with the one that If-Match was given out for."""
        match = self.match
        self._is_other = match is not None and job is not None and not match.is_of(job.created_at)

    @property
    def request_id(self) -> str | None:
        """Idempotency-Key: a repeat of the request has the same."""
        return header_of(self.request, "idempotency-key")

    def asked(self, verb: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """A verb's arguments with what the headers say, as the grant lets them through."""
        from_headers = {"expected_rev": self.expected_rev, "request_id": self.request_id}
        for name, value in from_headers.items():
            if value is None:
                continue
            if arguments.get(name) not in (None, value):
                header = "If-Match" if name == "expected_rev" else "Idempotency-Key"
                raise InvalidArgument(f"{name} is one thing in {header} and another in the body; say it once")
            arguments = arguments | {name: value}
        return self.let_through(verb, arguments)

    def let_through(self, verb: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """As the grant lets it. A new job belongs to the trace that the request came with, traced here or not."""
        if verb == "enqueue" and arguments.get("trace_id") is None and not tracing.is_loaded():
            arguments = arguments | {"trace_id": whole_of(self.request.headers.get("traceparent"))}
        return self.grant.asked(verb, arguments)

    def may_see(self, job: kernel.Job) -> bool:
        """A worker sees the jobs that it has, or had last."""
        return self.grant.may("read") or self.grant.is_own(job.owner or job.last_owner)

    def shape_of(self, job: kernel.Job, answer: Answer, verb: str) -> JobShape:
        """The job that a verb came to. Who may not read it is told how it stands, and not what others have put in."""
        is_its_own = verb == "enqueue" and answer in ("applied", "repeat")
        if self.may_see(job) or (is_its_own and answer == "applied"):
            return self.shown(job, answer)
        # Whoever repeats its request knows what it has put in, and not what became of it.
        return without_values(self.shown(job, answer), "scope", has_input=is_its_own)

    def shown(self, job: kernel.Job, answer: Answer = "applied") -> JobShape:
        """A job for whoever may see it. Once an answer is as large as it may be, jobs come without their values; the
        first one always has them, so that whoever asks for one gets it whole.
        """
        if self._left < 0:
            return without_values(job_shape(job, answer, is_opened=False), "size")
        shape, is_first = job_shape(job, answer), self._left == SHOWN_BYTES_MAX
        self._left -= max(value_bytes(shape), 1)
        return shape if self._left >= 0 or is_first else without_values(shape, "size")

    async def look_again(self) -> None:
        """`Unauthorized`, if the asker's token is good no more: for whoever has stayed for a while."""
        await self.service.door.look_again(self.request)

    async def unless_gone(self, awaitable: Awaitable[Result]) -> Result | None:
        """What was waited for, if the asker's token is still good then; or None as soon as the asker has gone."""
        result = await self.taken_unless_gone(awaitable)
        await self.look_again()
        return result

    async def taken_unless_gone(self, awaitable: Awaitable[Result]) -> Result | None:
        """The result, or None as soon as the asker has gone; then nothing more is done for it. The token is not looked
        at: what was taken for somebody is handed over, and who takes looks before.
        """
        task = asyncio.ensure_future(awaitable)
        gone = asyncio.ensure_future(self.gone())
        try:
            await asyncio.wait((task, gone), return_when=asyncio.FIRST_COMPLETED)
            return await task if task.done() else None
        finally:
            for each in (task, gone):
                each.cancel()
            await asyncio.gather(task, gone, return_exceptions=True)

    async def gone(self) -> None:
        """Wait until the asker has gone. What was sent has been read by then."""
        while (await self.request.receive())["type"] != "http.disconnect":
            continue
