"""Asking for moves: requests as a batch, and claims."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from detent.errors import DetentError, InvalidArgument, Refused, StoreError
from detent.kernel import Job
from detent.store.http.failing import unreadable
from detent.store.http.sharing import Sharing, refuse, replies_of, reply_of
from detent.store.protocol import Transaction
from detent.store.request import ClaimRequest, Replies, Request
from detent.wire.http.answers import BatchAnswers, ClaimedAnswer
from detent.wire.http.items import item_of
from detent.wire.http.jobs import record_of

BODY_BYTES_MAX: Final = 8 * 1_048_576  # of one batch, unless a single request has more
_CLAIM: Final = (
    "lease_s", "allow_unusual_lease", "start", "worker", "request_id", "actor", "role", "reason", "trace_id",
)  # fmt: skip
# What the owner of a job may say again without anything coming of it.
_HARMLESS: Final = ("renew", "progress")
_encode: Final = msgspec.json.Encoder().encode
Part = tuple[list[int], list[bytes]]  # the places of some requests among all, and what is sent of each


class Writing(Sharing):
    async def apply(self, requests: Sequence[Request], tx: Transaction | None = None) -> Replies:
        """In one transaction, as far as they are one tenant's and fit into one message."""
        refuse(tx)
        replies: dict[int, Any] = {}
        written = {place: _written(request) for place, request in enumerate(requests)}
        replies |= {place: wrong for place, wrong in written.items() if isinstance(wrong, DetentError)}
        sent = {place: item for place, item in written.items() if isinstance(item, bytes)}
        has_begun = False
        for tenant, (places, items) in _parts(requests, sent):
            is_safe = all(is_repeatable(requests[place]) for place in places)
            try:
                answers = await self._batch(tenant, items, is_safe=is_safe)
            except StoreError as error:
                raise _cut_short(error) if has_begun else error from error
            replies.update(zip(places, answers, strict=True))
            has_begun = True
        return [replies[place] for place in range(len(requests))]

    async def _batch(self, tenant: str, items: list[bytes], *, is_safe: bool) -> Replies:
        body = b'{"requests":[' + b",".join(items) + b"]}"
        answers = (await self._of(tenant, BatchAnswers, "POST", "/v1/batch", body=body, is_safe=is_safe)).answers
        if len(answers) != len(items):
            why = f"{len(answers)} answers to {len(items)} requests"
            raise unreadable(self._address.url, "POST /v1/batch", why, self._line.version, may_have_happened=True)
        return await self._made_whole(tenant, replies_of(answers), [each.job for each in answers])

    async def claim(self, request: ClaimRequest, tx: Transaction | None = None) -> Replies:
        refuse(tx)
        command = request.command
        body = {name: value for name in _CLAIM if (value := getattr(command, name)) is not None} | _wanted(request)
        is_safe = command.request_id is not None
        try:
            taken = await self._of(request.tenant, ClaimedAnswer, "POST", "/v1/claims", body=body, is_safe=is_safe)
        except Refused as refused:
            return [refused]
        return await self._made_whole(request.tenant, [reply_of(job) for job in taken.jobs], taken.jobs)

    async def claimable(self, request: ClaimRequest) -> list[Job]:
        answer = await self._of(
            request.tenant, ClaimedAnswer, "POST", "/v1/claimable", body=_wanted(request), is_safe=True
        )
        return [record_of(job) for job in answer.jobs]

    async def pace(self, tenant: str, rule: str, every: int, requests: Sequence[Request]) -> Replies:
        body = {"rule": rule, "every_s": every / 1e6, "requests": [_item(each) for each in requests]}
        return replies_of((await self._of(tenant, BatchAnswers, "POST", "/v1/paces", body=body)).answers)


def is_repeatable(request: Request) -> bool:
    """Whether asking twice does no more than asking once."""
    command = request.command
    return command.request_id is not None or (command.verb in _HARMLESS and command.expected_rev is None)


def _item(request: Request) -> Any:
    return item_of(request.job_id, request.command, request.lifecycle, is_fresh=request.is_fresh)


def _written(request: Request) -> bytes | DetentError:
    try:
        return _encode(_item(request))
    except InvalidArgument as wrong:
        return wrong


def _parts(requests: Sequence[Request], sent: dict[int, bytes]) -> Iterator[tuple[str, Part]]:
    """By tenant, and cut where a message would be too large."""
    for tenant in dict.fromkeys(requests[place].tenant for place in sent):
        part: Part = ([], [])
        size = 0
        for place, item in sent.items():
            if requests[place].tenant != tenant:
                continue
            if part[0] and size + len(item) > BODY_BYTES_MAX:
                yield tenant, part
                part, size = ([], []), 0
            part[0].append(place)
            part[1].append(item)
            size += len(item) + 1
        yield tenant, part


def _cut_short(error: StoreError) -> StoreError:
    """The first part stands, and whoever asks again would ask for it, too."""
    return StoreError(f"only a part of the requests was carried out: {error}", code="outcome_unknown")


def _wanted(request: ClaimRequest) -> dict[str, Any]:
    return {
        "queues": request.queues, "kinds": request.kinds, "adapters": request.adapters, "limit": request.limit,
        "spared": sorted(request.spared),
    }  # fmt: skip
