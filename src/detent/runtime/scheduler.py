"""Making the jobs that the calendar asks for: once for each tick, however many schedulers there are.

The store keeps for each schedule the tick that comes next. Whoever moves it on has the tick, and makes its job in the
same transaction: there is no moment at which one is done and not the other. So any number of workers may try, and a
worker that dies has either done both or nothing, and then another does it.

Ticks that came while nobody was there are not all made up for: of those the last one has its job, if it is not too
long ago. Those that came while the schedule was paused have none, whether anybody was there or not. Time is the
store's.
"""

import asyncio
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from msgspec import Struct

from detent.client import Client
from detent.client.schedules import Schedule
from detent.errors import DetentError, StoreError
from detent.lifecycle.bounds import NAME_CHARS_MAX
from detent.runtime.backing_off import jittered
from detent.runtime.calendar import UTC_ZONE, last_tick, tick_after
from detent.runtime.duty import for_ever
from detent.runtime.observing import Observer
from detent.runtime.store_clock import StoreClock
from detent.store.query import DAY_S

SECOND: Final = timedelta(seconds=1)
LOOK_S: Final = 30.0  # how often it looks for schedules that others have changed
SPREAD_S: Final = 0.1  # so that not all workers try for a tick at once
REST_S: Final = 1.0  # after a tick that could not be had
# A program of another version has changed the schedule, and is to have its ticks: after so long without it, others do.
STRANGER_S: Final = 60.0


class CronJob(Struct, frozen=True, kw_only=True):
    """A job that is made at every tick of a cron expression. `job` are the arguments of `Client.enqueue`.

    `late_max_s` is how long after its tick it may still be made, where nobody was there in time.
    """

    name: str
    cron: str
    zone: str = UTC_ZONE
    job: Mapping[str, Any]
    late_max_s: float = DAY_S


class Scheduler:
    def __init__(self, client: Client, jobs: Iterable[CronJob], observer: Observer, clock: StoreClock) -> None:
        self._client = client
        self._jobs = {each.name: each for each in jobs}
        self._observer = observer
        self._clock = clock
        self._now = clock.now
        self._digests: dict[str, str] = {}  # of the schedules as this program has them

    async def run(self) -> None:
        await self._clock.known()
        await for_ever("schedule", self._round, self._observer)

    async def look(self) -> list[bool]:
        """Have the ticks that are due; for each, whether it is over."""
        await self.bring()
        kept = await self.kept()
        return [await self._tried(each) for each in kept if self._from(each) <= self._now()]

    async def kept(self) -> list[Schedule]:
        """Those of this program, as they are now."""
        return [each for each in await self._client.schedules() if each.name in self._jobs]

    async def _round(self) -> None:
        tries = await self.look()
        if not tries or not all(tries):  # else they have moved on: look again
            await asyncio.sleep(self._wait_s(await self.kept()))

    async def bring(self) -> None:
        """Once: a schedule that somebody removes later is to stay away until a program brings it anew."""
        if self._digests:
            return
        now = self._now()
        kept = await self._client.keep_schedules(
            {
                "name": each.name,
                "cron": each.cron,
                "zone": each.zone,
                "kind": each.job["kind"],
                "payload": each.job.get("payload"),
                "next_at": tick_after(each.cron, each.zone, now),
            }
            for each in self._jobs.values()
        )
        self._digests = {each.name: each.digest for each in kept}

    def _from(self, schedule: Schedule) -> datetime:
        """When this worker tries for the next tick."""
        is_own = schedule.digest == self._digests[schedule.name]
        return schedule.next_at if is_own else schedule.next_at + timedelta(seconds=STRANGER_S)

    async def _tried(self, schedule: Schedule) -> bool:
        """Whether the tick is over. That somebody else had it is as good."""
        try:
            await self._tick(schedule, self._jobs[schedule.name])
        except StoreError:
            raise
        except DetentError as error:  # the others have their ticks all the same
            self._observer.troubled(f"schedule '{schedule.name}'", error)
            return False
        return True

    async def _tick(self, schedule: Schedule, job: CronJob) -> None:
        now = self._now()
        tick = _tick_of(schedule, now)
        is_wanted = tick is not None and (now - tick).total_seconds() <= job.late_max_s
        is_had = await self._client.advance_schedule(
            schedule.name,
            expected=schedule.next_at,
            next_at=tick_after(schedule.cron, schedule.zone, now),
            job={**job.job, **_said(schedule.name, tick)} if tick is not None and is_wanted else None,
        )
        if is_had and is_wanted:
            self._observer.ticked(schedule.name)

    def _wait_s(self, kept: list[Schedule]) -> float:
        until_s = [(self._from(each) - self._now()).total_seconds() for each in kept]
        return min([LOOK_S, *(max(each, REST_S) if each <= 0 else each for each in until_s)]) + jittered(SPREAD_S)


def _tick_of(schedule: Schedule, now: datetime) -> datetime | None:
    """The last one up to now; None if there was none since the schedule was resumed, which is then where it stands."""
    cron, zone, stands_at = schedule.cron, schedule.zone, schedule.next_at
    tick = last_tick(cron, zone, now)
    if tick_after(cron, zone, stands_at - SECOND) == stands_at:
        return max(tick, stands_at)
    return tick if tick >= stands_at else None


def _said(name: str, tick: datetime) -> dict[str, str]:
    """For the record: what asked for the job, and which tick it is for."""
    return {"actor": f"schedule:{name}"[:NAME_CHARS_MAX], "reason": f"tick {tick:%Y-%m-%dT%H:%M:%SZ}"}
