"""Asking in the open: what is about to be asked is said first, and then what was answered, or that nothing was."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final

from detent import DetentError, Refused, StoreError
from detent.client import Job
from tests.store.processes.programs.speaking import tell

Item = dict[str, Any]  # a verb and its arguments
Answered = Job | list[Job] | DetentError
LOST: Final = ("store_unavailable", "outcome_unknown")  # what an outage of the server may be answered with
PAUSE_S: Final = 0.05  # while it lasts, asking on and on helps nobody


class Asker:
    """`in_doubt` is what was lost on the way and can be asked again, since it has request ids."""

    def __init__(self) -> None:
        self.in_doubt: list[list[Item]] = []
        self._asked = 0

    async def ask(self, items: list[Item], call: Callable[[], Awaitable[Sequence[Answered]]]) -> Sequence[Answered]:
        """The answers; none, if there was an outage."""
        self._asked += 1
        number = self._asked
        tell(asked=number, at=time.monotonic_ns(), items=items)
        try:
            answers = await call()
        except StoreError as error:
            if error.code not in LOST:
                raise
            tell(lost=number, at=time.monotonic_ns(), code=error.code)
            self.in_doubt += [items] if all("request_id" in item["arguments"] for item in items) else []
            await asyncio.sleep(PAUSE_S)
            return []
        tell(answered=number, at=time.monotonic_ns(), answers=[_told(answer) for answer in answers])
        return answers


def arguments_of(item: Item) -> dict[str, Any]:
    arguments: dict[str, Any] = item["arguments"]
    return arguments


async def or_refusal(answer: Awaitable[Answered]) -> Answered:
    try:
        return await answer
    except Refused as refused:
        return refused


def _told(answer: Answered) -> dict[str, Any]:
    if isinstance(answer, Refused):
        return {"refused": answer.code}
    if isinstance(answer, DetentError):
        return {"failed": str(answer)}
    jobs = answer if isinstance(answer, list) else [answer]
    return {"jobs": [(job.id, job.rev, job.state) for job in jobs]}
