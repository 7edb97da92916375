"""The blocking twins of the client's verbs: the one bridge, a line for each. No verb is written twice."""

from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import contextmanager
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec, TypeVar, Unpack

from detent.client.client import Client
from detent.client.reads import EventFilters
from detent.client.views import Event
from detent.errors import InvalidArgument
from detent.store.waiting import is_blocking

Given = ParamSpec("Given")
Result = TypeVar("Result")


def run(coroutine: Coroutine[Any, Any, Result]) -> Result:
    """Run a coroutine of the client to its end. Without an event loop it blocks instead of suspending itself."""
    if not is_blocking():
        coroutine.close()
        message = "an event loop runs on this thread, and a blocking call would stop it; await the client's own verbs"
        raise InvalidArgument(message, code="blocking_call")
    try:
        coroutine.send(None)
    except StopIteration as done:
        result: Result = done.value
        return result
    coroutine.close()
    raise AssertionError("a coroutine of a blocking store does not suspend itself")


def twin(
    method: Callable[Concatenate[Client, Given], Coroutine[Any, Any, Result]],
) -> Callable[Concatenate["SyncClient", Given], Result]:
    def blocking(self: "SyncClient", /, *args: Given.args, **kwargs: Given.kwargs) -> Result:
        return run(method(self.client, *args, **kwargs))

    update_wrapper(blocking, method)
    return blocking


class SyncClient:
    """A client for code without an event loop: the same verbs, each blocking until it is answered.

    Threads may share it.
    """

    def __init__(self, client: Client) -> None:
        self.client = client

    open = twin(Client.open)
    close = twin(Client.close)
    lifecycle = twin(Client.lifecycle)
    lifecycles = twin(Client.lifecycles)

    enqueue = twin(Client.enqueue)
    enqueue_many = twin(Client.enqueue_many)
    claim = twin(Client.claim)
    start = twin(Client.start)
    start_many = twin(Client.start_many)
    renew = twin(Client.renew)
    renew_many = twin(Client.renew_many)
    complete = twin(Client.complete)
    complete_many = twin(Client.complete_many)
    fail = twin(Client.fail)
    fail_many = twin(Client.fail_many)
    release = twin(Client.release)
    progress = twin(Client.progress)
    artifact = twin(Client.artifact)
    submit = twin(Client.submit)
    schedule = twin(Client.schedule)
    approve = twin(Client.approve)
    deny = twin(Client.deny)
    cancel = twin(Client.cancel)
    request_cancel = twin(Client.request_cancel)
    retry = twin(Client.retry)
    stall = twin(Client.stall)
    requeue = twin(Client.requeue)
    expire = twin(Client.expire)
    time_out = twin(Client.time_out)
    dead_letter = twin(Client.dead_letter)
    apply = twin(Client.apply)
    rerun = twin(Client.rerun)

    get = twin(Client.get)
    find = twin(Client.find)
    count = twin(Client.count)
    history = twin(Client.history)
    notes = twin(Client.notes)
    artifacts = twin(Client.artifacts)
    tree = twin(Client.tree)
    reruns = twin(Client.reruns)
    events = twin(Client.events)
    end = twin(Client.end)
    recent = twin(Client.recent)
    wait = twin(Client.wait)
    explain = twin(Client.explain)
    dead_letters = twin(Client.dead_letters)
    dead_letter_for = twin(Client.dead_letter_for)

    reconcile = twin(Client.reconcile)
    prune = twin(Client.prune)
    purge = twin(Client.purge)
    limit_queue = twin(Client.limit_queue)
    pause_queue = twin(Client.pause_queue)
    resume_queue = twin(Client.resume_queue)
    queue = twin(Client.queue)
    queues = twin(Client.queues)
    verify = twin(Client.verify)
    replay = twin(Client.replay)
    state_at = twin(Client.state_at)

    report_worker = twin(Client.report_worker)
    forget_worker = twin(Client.forget_worker)
    workers = twin(Client.workers)
    keep_schedules = twin(Client.keep_schedules)
    schedules = twin(Client.schedules)
    advance_schedule = twin(Client.advance_schedule)
    pause_schedule = twin(Client.pause_schedule)
    resume_schedule = twin(Client.resume_schedule)
    forget_schedule = twin(Client.forget_schedule)
    create_token = twin(Client.create_token)
    tokens = twin(Client.tokens)
    revoke_token = twin(Client.revoke_token)

    def tail(
        self, *, after: str | None = None, timeout_s: float | None = None, **filters: Unpack[EventFilters]
    ) -> Iterator[Event]:
        """Events as they are committed; see `Client.tail`."""
        events = self.client.tail(after=after, timeout_s=timeout_s, **filters)
        while True:
            try:
                yield run(_next(events))
            except StopAsyncIteration:
                return

    @contextmanager
    def transaction(self) -> Iterator[Any]:
        """A transaction of your own in the store's database; see `Client.transaction`."""
        opened = self.client.transaction()
        tx = run(opened.__aenter__())
        try:
            yield tx
        except BaseException as error:
            run(opened.__aexit__(type(error), error, error.__traceback__))
            raise
        run(opened.__aexit__(None, None, None))


async def _next(events: AsyncIterator[Event]) -> Event:
    return await anext(events)
