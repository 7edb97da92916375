"""What is known of a declared job: checked when it is declared, read whenever one is made or run."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Struct

from detent.app.compensating import compensation_of
from detent.app.cron import Cron
from detent.app.hints import bad, signature_of
from detent.app.keys import KeyOf, key_of
from detent.app.options import JOB_OPTIONS, SETTINGS, check_options, priority_number
from detent.app.payload import Payload, Result
from detent.app.policies import lifecycle_of, policy_of
from detent.client.verbs import names
from detent.errors import InvalidArgument, shown
from detent.kernel.parse import PRIORITY_MAX
from detent.lifecycle import Lifecycle, Policy
from detent.lifecycle.bounds import check_name, check_whole
from detent.lifecycle.registry import Registry
from detent.runtime.handler import Handler, Isolation

QUEUE: Final = "default"
_NAMES: Final = ("kind", "queue", "tenant")


class Registration(Struct, frozen=True, kw_only=True):
    """One job type. `compensate` is the kind that undoes it; `tenant` None: that of the app."""

    kind: str
    function: Callable[..., Any]
    isolation: Isolation
    wants_context: bool
    address: str | None
    payload: Payload
    result: Result
    dedupe_key_of: KeyOf
    limit_key_of: KeyOf
    lifecycle: Lifecycle
    policy: Policy | None
    queue: str
    priority: int
    tenant: str | None
    adapters: tuple[str, ...]
    compensate: str | None
    cron: Cron | None

    def handler(self, *, compensates: bool) -> Handler:
        return Handler(
            kind=self.kind,
            function=self.function,
            isolation=self.isolation,
            wants_context=self.wants_context,
            arguments=self.payload.arguments,
            result=self.result.to_json,
            address=self.address,
            lifecycle=self.lifecycle.name,
            compensates=compensates,
        )


def declared(
    function: Callable[..., Any], own: Mapping[str, Any], defaults: Mapping[str, Any], known: Registry
) -> Registration:
    """The registration of a function, or an error that says what is wrong with it."""
    kind: str = own["kind"] if "kind" in own else getattr(function, "__name__", "")
    _check_function(kind, function)
    options = {**defaults, **own, "kind": kind}
    _check_names(options)
    signature = signature_of(function, kind)
    payload = Payload(kind, signature)
    lifecycle = lifecycle_of(kind, options.get("lifecycle", "standard"), known)
    compensation = compensation_of(kind, payload, options.get("compensate"))
    return Registration(
        kind=kind,
        function=function,
        isolation=_isolation(kind, function, options.get("isolation")),
        wants_context=signature.wants_context,
        address=_address(function),
        payload=payload,
        result=Result(kind, signature.returns),
        dedupe_key_of=key_of(kind, "dedupe", options.get("dedupe"), payload.signature.parameters),
        limit_key_of=key_of(kind, "limit_key", options.get("limit_key"), payload.signature.parameters),
        lifecycle=lifecycle,
        policy=policy_of(kind, lifecycle, options, compensation),
        queue=options.get("queue", QUEUE),
        priority=_priority(options.get("priority", 0)),
        tenant=options.get("tenant"),
        adapters=names("adapters", options.get("adapters")) or (),
        compensate=None if compensation is None else compensation.kind,
        cron=_cron(payload, options.get("cron")),
    )


def check_job_options(options: Mapping[str, Any]) -> None:
    check_options("@app.job", options, JOB_OPTIONS)


def check_defaults(defaults: Mapping[str, Any]) -> None:
    check_options("App(defaults=…)", defaults, SETTINGS)


def _check_function(kind: object, function: object) -> None:
    if not inspect.isfunction(function):
        raise InvalidArgument(f"{shown(function)} cannot be a job; decorate a function", code="bad_job_function")
    if not isinstance(kind, str) or not kind.isprintable() or kind == "<lambda>":
        raise InvalidArgument(f"kind is {shown(kind)}; give the job a name, kind=", code="bad_job_function")
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        raise bad(kind, "it yields; a job returns its result, and saves what it has so far with ctx.save")


def _check_names(options: Mapping[str, Any]) -> None:
    for name in _NAMES:
        value = options.get(name)
        if value is not None and not isinstance(value, str):
            raise bad(options["kind"], f"{name} is {shown(value)}; give a name")
        if value is not None:
            check_name(name, value)


def _priority(given: Any) -> int:
    return check_whole("priority", priority_number(given), least=-PRIORITY_MAX, most=PRIORITY_MAX)


def _isolation(kind: str, function: Callable[..., Any], asked: Any) -> Isolation:
    is_async = inspect.iscoroutinefunction(function)
    if asked is None:
        return "async" if is_async else "thread"
    if asked not in ("async", "thread", "process"):
        raise bad(kind, f"isolation is {shown(asked)}; use 'async', 'thread' or 'process'")
    if asked == "async" and not is_async:
        raise bad(kind, "isolation 'async' would block the event loop; make it `async def`, or use 'thread'")
    if asked == "thread" and is_async:
        raise bad(kind, "isolation 'thread' runs a plain function; make it `def`, or use 'async'")
    if asked == "process" and _address(function) is None:
        raise bad(kind, "isolation 'process' imports the function by its name; declare it at the top of a module")
    isolation: Isolation = asked
    return isolation


def _address(function: Callable[..., Any]) -> str | None:
    name = function.__qualname__
    return None if "<" in name else f"{function.__module__}:{name}"


def _cron(payload: Payload, given: Any) -> Cron | None:
    """Its arguments are checked now: at a tick nobody would hear of it."""
    if given is None:
        return None
    cron = given if isinstance(given, Cron) else Cron(given)
    payload.to_json(payload.of_call((), dict(cron.arguments)))
    return cron
