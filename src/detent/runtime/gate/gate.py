"""A policy as a worker asks it: a file of rules, a function, or none. What it cannot be asked is not let through."""

import asyncio
import inspect
import os
import threading
from collections.abc import Awaitable, Callable, Sequence
from os import PathLike
from typing import Any, Final

from detent.client import Job
from detent.errors import InvalidArgument, PolicyError, shown
from detent.lifecycle.bounds import NAME_CHARS_MAX, check_more_than_zero
from detent.runtime.gate.loading import read_text, rules_from_toml
from detent.runtime.gate.rules import DEFAULT_RULE, Rules
from detent.runtime.gate.verdicts import Verdict, verdict_of
from detent.store.waiting import in_thread

TIMEOUT_S: Final = 5.0
ASKED_MAX: Final = 16  # calls of a function that are under way at once, those included that were given up

# What a function may return: a Verdict, its word, or the word with the rule and the delay.
Answer = Verdict | str | tuple[Any, ...]
Function = Callable[[Job], Answer | Awaitable[Answer]]


class Gate:
    """What decides on jobs of `dispatch`, and how long it may take: `timeout_s` for a job, or for reading the rules.

    A file is read each time it is asked, so that a change holds from then on. A function is given a `Job`, and runs on
    a thread of its own unless it is async. Without a policy the rule `default` allows everything.
    """

    def __init__(self, policy: "str | PathLike[str] | Function | None" = None, *, timeout_s: float = TIMEOUT_S) -> None:
        check_more_than_zero("timeout_s", timeout_s)
        self.policy = policy
        self.name = _name_of(policy)
        self._timeout_s = timeout_s
        self._rules = Rules()
        self._text: str | None = None
        self._free = threading.Semaphore(ASKED_MAX)

    @staticmethod
    def of(policy: "PolicySource | None") -> "Gate":
        return policy if isinstance(policy, Gate) else Gate(policy)

    def check(self) -> None:
        """Read the rules now, so that a wrong file is told of before anything waits for it. It blocks."""
        if isinstance(self.policy, str | PathLike):
            self._take_over(read_text(self.policy))

    async def judge(self, jobs: Sequence[Job]) -> list[Verdict | PolicyError]:
        """A verdict for each, or why there is none. Raises `PolicyError` if the policy as a whole is out of reach."""
        if callable(self.policy):
            room = asyncio.Semaphore(ASKED_MAX)
            return list(await asyncio.gather(*(self._call(self.policy, job, room) for job in jobs)))
        if self.policy is not None:
            await self._reload(self.policy)
        return [self._rules.judge(job) for job in jobs]

    async def _reload(self, path: "str | PathLike[str]") -> None:
        try:
            async with asyncio.timeout(self._timeout_s):
                text = await in_thread(lambda: read_text(path))
        except TimeoutError as late:
            message = f"the rules in '{path}' were not read within {self._timeout_s:g} s; is its disk there?"
            raise PolicyError(message, code="policy_unreachable") from late
        self._take_over(text)

    def _take_over(self, text: str) -> None:
        """A file that does not hold together decides nothing, and neither do the rules that it held before."""
        if text != self._text:
            self._text = None
            self._rules = rules_from_toml(text, f"'{self.name}'")
            self._text = text

    async def _call(self, function: Function, job: Job, room: asyncio.Semaphore) -> Verdict | PolicyError:
        async with room:
            try:
                async with asyncio.timeout(self._timeout_s):
                    answer = await self._answer(function, job)
                return verdict_of(answer, self.name)
            except PolicyError as error:
                return error
            except TimeoutError:
                return self._unreachable(f"has not answered within {self._timeout_s:g} s")
            except asyncio.CancelledError as error:
                if _is_cancelled():
                    raise
                return self._unreachable(f"raised {type(error).__name__}: {error}")
            except Exception as error:  # whatever a user's function raises
                return self._unreachable(f"raised {type(error).__name__}: {error}")

    async def _answer(self, function: Function, job: Job) -> Any:
        if _is_async(function):
            return await function(job)  # type: ignore[misc]  # it is awaitable then
        if not self._free.acquire(blocking=False):
            raise self._unreachable(f"has {ASKED_MAX} calls under way that do not come back")
        raised, answer = await in_thread(lambda: self._on_thread(function, job))
        if raised is not None:
            raise raised
        return await answer if inspect.isawaitable(answer) else answer

    def _on_thread(self, function: Function, job: Job) -> tuple[Exception | None, Any]:
        """What it came to, as values: not every exception can be handed from thread to loop."""
        try:
            return None, function(job)
        except PolicyError as error:
            return error, None
        except BaseException as error:
            return self._unreachable(f"raised {type(error).__name__}: {error}"), None
        finally:
            self._free.release()

    def _unreachable(self, what: str) -> PolicyError:
        return PolicyError(f"policy '{self.name}' {what}; jobs it was asked about wait", code="policy_unreachable")


PolicySource = str | PathLike[str] | Function | Gate


def _name_of(policy: object) -> str:
    if policy is None:
        return DEFAULT_RULE
    if isinstance(policy, str | PathLike):
        return os.fspath(policy)
    if not callable(policy):
        raise InvalidArgument(f"policy is {shown(policy)}; give the path of a rules file, a function, or a Gate")
    return str(getattr(policy, "__name__", type(policy).__name__))[:NAME_CHARS_MAX]


def _is_async(function: Function) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(type(function).__call__)


def _is_cancelled() -> bool:
    """Whether it is the asker who is to stop, and not something within a user's function."""
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
