"""Schedules: jobs that the calendar asks for. A worker reads the calendar; this keeps where it is."""

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Final

from msgspec import Struct, structs

from detent.client import Codec
from detent.client.arguments import check_text_name, listed
from detent.client.moments import to_micros
from detent.errors import DetentError, InvalidArgument
from detent.store import Request
from detent.store.fleet import Schedule
from detent.surfaces.http.ask import Ask
from detent.surfaces.http.bodies import kept_of
from detent.surfaces.http.operations.queues import PauseBody
from detent.surfaces.http.operations.verbs import BATCH_MAX, BatchAnswer, let_through, reply_shape
from detent.surfaces.http.route import Route
from detent.wire.http.jobs import unsealed
from detent.wire.http.schedules import ScheduleShape, payload_shape
from detent.wire.moments import to_moment, to_moment_or_none


class ScheduleItem(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`next_at` is the first tick, for one that is new or whose cron or zone has changed.

    `sealed`: a payload that a codec has sealed, in base64, instead of `payload`; `digest` is then that of the content,
    since nobody here can read it. With the same digest it is the same schedule.
    """

    name: str
    cron: str
    kind: str
    next_at: datetime
    zone: str = "UTC"
    payload: Any = None
    sealed: str | None = None
    digest: str | None = None


class SchedulesBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    schedules: list[ScheduleItem]


class SchedulesShape(Struct, frozen=True, kw_only=True):
    schedules: list[ScheduleShape]


class AdvanceBody(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The tick that is taken, the one after it, and the job of it, given as `POST /v1/jobs` takes it.

    Or instead of the job `requests`, as `POST /v1/batch` takes them: each is answered by itself then.
    """

    expected: datetime
    next_at: datetime
    job: dict[str, Any] | None = None
    requests: list[dict[str, Any]] = []


class AdvancedShape(Struct, frozen=True, kw_only=True):
    """Of all who try, one has the tick; false: somebody else had it, or the schedule is paused.

    `answers` are those to the requests, or to the job, if it is ours.
    """

    is_ours: bool
    answers: list[BatchAnswer] = []


async def schedules(ask: Ask) -> SchedulesShape:
    """All that are kept, by name."""
    return _shapes(await ask.client.store.keep_schedules(ask.grant.tenant, ()))


async def keep_schedules(ask: Ask, body: SchedulesBody) -> SchedulesShape:
    """Keep schedules under their names, and answer with all that are kept.

    One that is as it was goes on from the tick it was at.
    """
    records = ask.client.schedule_records([_item(each) for each in body.schedules])
    brought = [_as_brought(record, each) for record, each in zip(records, body.schedules, strict=True)]
    return _shapes(await ask.client.store.keep_schedules(ask.grant.tenant, brought))


async def advance_schedule(ask: Ask, schedule: str, body: AdvanceBody) -> AdvancedShape:
    """Take a tick, and enqueue its job in the same transaction."""
    if body.job is not None and body.requests:
        raise InvalidArgument("job and requests are both given; a tick has one or the other")
    asked = body.requests if body.job is None else [{"verb": "enqueue"} | body.job]
    replies = await ask.client.store.advance_schedule(
        ask.grant.tenant, check_text_name("schedule", schedule), requests=await _requests(ask, asked), **_ticks(body)
    )
    if replies is None:
        return AdvancedShape(is_ours=False)
    for refused in replies:
        if body.job is not None and isinstance(refused, DetentError):
            raise refused
    verbs = [str(each.get("verb", "")) for each in asked]
    answers = [reply_shape(ask, each, verb) for each, verb in zip(replies, verbs, strict=True)]
    return AdvancedShape(is_ours=True, answers=answers)


async def _requests(ask: Ask, asked: list[dict[str, Any]]) -> list[Request]:
    given = listed("requests", asked, of="requests", most=BATCH_MAX)
    made = [let_through(ask, each) for each in given]
    for wrong in made:
        if isinstance(wrong, DetentError):
            raise wrong
    return [await _request(ask, each) for each in made if isinstance(each, dict)]


async def _request(ask: Ask, item: dict[str, Any]) -> Request:
    if item.get("lifecycle") is not None:  # somebody may have registered it since
        await ask.client.lifecycle(item["lifecycle"], item.get("lifecycle_version"))
    return ask.client.request(item)


def _ticks(body: AdvanceBody) -> dict[str, int]:
    expected, next_at = to_micros("expected", body.expected), to_micros("next_at", body.next_at)
    if next_at <= expected:
        raise InvalidArgument("next_at is not after expected; a schedule moves on only")
    return {"expected": expected, "next_at": next_at}


async def pause_schedule(ask: Ask, schedule: str, body: PauseBody) -> None:
    """Let its ticks pass by, until it is resumed."""
    await ask.client.pause_schedule(schedule, actor=ask.grant.actor(body.actor), reason=body.reason)


async def resume_schedule(ask: Ask, schedule: str) -> None:
    """Go on with the next tick."""
    await ask.client.resume_schedule(schedule)


async def forget_schedule(ask: Ask, schedule: str) -> None:
    """Remove a schedule. A worker whose program still has it brings it again when it starts."""
    await ask.client.forget_schedule(schedule)


def _item(body: ScheduleItem) -> dict[str, Any]:
    if body.sealed is not None and (body.payload is not None or body.digest is None):
        raise InvalidArgument("sealed stands instead of a payload, and with the digest of the content; give both")
    named = ("name", "cron", "zone", "kind", "payload", "next_at")
    return {name: getattr(body, name) for name in named}


def _as_brought(record: Schedule, body: ScheduleItem) -> Schedule:
    if body.digest is not None:
        record = structs.replace(record, digest=check_text_name("digest", body.digest))
    if body.sealed is None:
        return record
    kept = kept_of("payload", unsealed("payload", body.sealed))
    return structs.replace(record, payload=Codec().encode(kept))


def _shapes(schedules: Iterable[Schedule]) -> SchedulesShape:
    return SchedulesShape(schedules=[_shape(each) for each in schedules])


def _shape(schedule: Schedule) -> ScheduleShape:
    payload, sealed = payload_shape(schedule.payload)
    return ScheduleShape(
        name=schedule.name, cron=schedule.cron, zone=schedule.zone, kind=schedule.kind, payload=payload, sealed=sealed,
        digest=schedule.digest, next_at=to_moment(schedule.next_at), last_at=to_moment_or_none(schedule.last_at),
        paused_at=to_moment_or_none(schedule.paused_at), paused_by=schedule.paused_by,
        paused_reason=schedule.paused_reason,
    )  # fmt: skip


_OPERATE: Final = ("operate",)
_PATH: Final = "/v1/schedules/{schedule}"
ROUTES: Final = (
    Route(method="GET", path="/v1/schedules", handler=schedules, scopes=("read", "operate"), tag="schedules"),
    Route(method="PUT", path="/v1/schedules", handler=keep_schedules, scopes=_OPERATE, tag="schedules"),
    Route(method="POST", path=f"{_PATH}/advance", handler=advance_schedule, scopes=_OPERATE, tag="schedules"),
    Route(method="POST", path=f"{_PATH}/pause", handler=pause_schedule, scopes=_OPERATE, tag="schedules"),
    Route(method="POST", path=f"{_PATH}/resume", handler=resume_schedule, scopes=_OPERATE, tag="schedules"),
    Route(method="DELETE", path=_PATH, handler=forget_schedule, scopes=_OPERATE, tag="schedules"),
)
