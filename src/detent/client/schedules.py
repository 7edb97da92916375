"""Schedules: jobs that the calendar asks for. Whoever reads the calendar says when the next tick is; this keeps it."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from detent.client.arguments import Item, check_actor, check_reason, check_text_name, listed
from detent.client.codec import Codec
from detent.client.moments import to_micros
from detent.client.scope import Scoped, raised
from detent.client.views import Field, Moment, OptionalMoment, View
from detent.errors import InvalidArgument, NotFound, shown
from detent.kernel.digest import digest_of
from detent.store import Request, fleet
from detent.store.fleet import SCHEDULES_MAX

UTC_ZONE: Final = "UTC"
_FIELDS: Final = ("name", "cron", "zone", "kind", "payload", "next_at")


class Schedule(View, frozen=True, eq=False, gc=False):
    """A job that the calendar asks for. `next_at` is the next tick, `last_at` the last one that somebody had."""

    record: fleet.Schedule
    codec: Codec

    name = Field[str]("name")
    cron = Field[str]("cron")
    zone = Field[str]("zone")
    kind = Field[str]("kind")
    digest = Field[str]("digest")
    next_at = Moment("next_at")
    last_at = OptionalMoment("last_at")
    paused_at = OptionalMoment("paused_at")
    paused_by = Field[str | None]("paused_by")
    paused_reason = Field[str | None]("paused_reason")

    @property
    def payload(self) -> Any:
        return self.codec.decode(self.record.payload)

    def __hash__(self) -> int:
        return hash((self.name, self.digest, self.record.next_at))

    def __repr__(self) -> str:
        return f"<Schedule {self.name} '{self.cron}' next_at={self.next_at.isoformat()}>"


class Schedules(Scoped):
    async def keep_schedules(self, items: Iterable[Item]) -> list[Schedule]:
        """Keep schedules under their names, and return them as they are kept, each with its next tick.

        Each is a dict of name, cron, zone (UTC, if it has none), kind, payload and `next_at`: the first tick after now,
        for one that is new or whose cron or zone has changed. One that is as it was goes on from the tick it was at.
        """
        given = self.schedule_records(items)
        kept = {each.name: each for each in await self.store.keep_schedules(self.tenant, given)}
        return [Schedule(kept[each.name], self._codec) for each in given]

    def schedule_records(self, items: Iterable[Item]) -> list[fleet.Schedule]:
        """What `keep_schedules` asks of the store, checked."""
        given = [self._schedule(item) for item in listed("schedules", items, of="dicts", most=SCHEDULES_MAX)]
        names = [each.name for each in given]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InvalidArgument(f"two of the schedules are called {shown(twice)}; give each a name of its own")
        return given

    async def schedules(self) -> list[Schedule]:
        """All that are kept, by name."""
        return [Schedule(each, self._codec) for each in await self.store.keep_schedules(self.tenant, ())]

    async def advance_schedule(
        self, name: str, *, expected: datetime, next_at: datetime, job: Item | None = None
    ) -> bool:
        """Take the tick `expected`: of all who try, one has it. `job` is enqueued in the same transaction.

        False: somebody else had it, or the schedule is paused; then it moves on all the same. A job that is refused,
        by a full queue for one, is raised, and the tick is over.
        """
        check_text_name("name", name)
        tick, after = to_micros("expected", expected), to_micros("next_at", next_at)
        if after <= tick:
            raise InvalidArgument("next_at is not after expected; a schedule moves on only")
        requests = [] if job is None else [await self._job_of(job)]
        replies = await self.store.advance_schedule(self.tenant, name, expected=tick, next_at=after, requests=requests)
        for reply in replies or ():
            raised(self._seen(reply))
        return replies is not None

    async def pause_schedule(self, name: str, *, actor: str | None = None, reason: str | None = None) -> None:
        """Let its ticks pass by, until it is resumed. One that is paused already stays as it is."""
        by, why = check_actor(actor), check_reason(reason)
        self._check_found(name, await self.store.pause_schedule(self.tenant, check_text_name("name", name), by, why))

    async def resume_schedule(self, name: str) -> None:
        """Go on with the next tick. Those that passed by are not made up for."""
        self._check_found(name, await self.store.resume_schedule(self.tenant, check_text_name("name", name)))

    async def forget_schedule(self, name: str) -> None:
        """Remove a schedule. A worker whose program still has it brings it again when it starts."""
        self._check_found(name, await self.store.forget_schedule(self.tenant, check_text_name("name", name)))

    def _check_found(self, name: str, is_found: bool) -> None:
        if not is_found:
            message = f"there is no schedule '{name}' in tenant '{self.tenant}'"
            raise NotFound(f"{message}; see: detent schedule list")

    async def _job_of(self, item: object) -> Request:
        if not isinstance(item, Mapping):
            raise InvalidArgument(f"job is {shown(item)}; give the arguments of enqueue as a dict")
        if item.get("lifecycle") is not None:
            await self.lifecycle(
                item["lifecycle"], item.get("lifecycle_version")
            )  # somebody else may have registered it
        return self._enqueue_request(item)

    def _schedule(self, item: object) -> fleet.Schedule:
        if not isinstance(item, Mapping):
            raise InvalidArgument(f"a schedule is {shown(item)}; give {', '.join(_FIELDS)} as a dict")
        unknown = [name for name in item if name not in _FIELDS]
        if unknown:
            raise InvalidArgument(f"a schedule has {shown(unknown[0])}; it has {', '.join(_FIELDS)}")
        payload = item.get("payload")
        content = {name: check_text_name(name, item.get(name, default)) for name, default in _NAMED.items()}
        next_at: Any = item.get("next_at")
        return fleet.Schedule(
            tenant=self.tenant,
            name=content["name"],
            cron=content["cron"],
            zone=content["zone"],
            kind=content["kind"],
            payload=self._codec.encode(payload),
            digest=digest_of((content, self._codec.digest([payload]))),
            next_at=to_micros("next_at", next_at),
        )


_NAMED: Final[dict[str, str | None]] = {"name": None, "cron": None, "zone": UTC_ZONE, "kind": None}
