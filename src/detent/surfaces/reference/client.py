"""The page of the client: every method with its signature, and what the methods return, read from the code itself."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any, Final, get_args, get_type_hints

from detent.audit import Report, Violation
from detent.client import Artifact, Client, Codec, Event, Job, Note, connect
from detent.client.applying import Applying
from detent.client.awaiting import Awaiting
from detent.client.client import CARRIED
from detent.client.dead_letters import DeadLetter, DeadLetters, LetterFilters
from detent.client.explaining import Budget, Explaining, Explanation
from detent.client.queues import Queue, Queues
from detent.client.reads import EventFilters, JobFilters, Reads
from detent.client.reasons import Reason
from detent.client.replaying import Difference, Replay
from detent.client.schedules import Schedule, Schedules
from detent.client.scope import Scoped, Who
from detent.client.tokens import NewToken, Token, Tokens
from detent.client.tree import Tree
from detent.client.upkeep import Upkeep
from detent.client.verbs import Verbs
from detent.client.views import Field, Moment, OptionalMoment, Trace, View
from detent.client.ways import Way
from detent.client.workers import Worker, Workers
from detent.store import Page, Pruned
from detent.surfaces.reference.markdown import code, fence, page, section, table
from detent.surfaces.reference.signatures import signature, type_name

Method = Callable[..., Any]
_BATCH: Final = "_many"
_VIEWS: Final = (Job, Event, Note, Schedule)
_ANSWERS: Final = (
    Page, Artifact, Tree, Explanation, Reason, Way, Budget, DeadLetter, Pruned, Report, Violation, Replay, Difference,
    Queue, Worker, NewToken, Token,
)  # fmt: skip
_KEYWORDS: Final = (Who, JobFilters, EventFilters, LetterFilters)
# Which class of the client holds what; a method is listed where it is written.
_GROUPS: Final = {
    "Opening": "`async with connect(…)` opens and closes by itself.",
    "Verbs": "Each answers with the job as it is then, or raises. `**who` is [below](#who).",
    "Batches": "One transaction, one verdict for each item: the job, or the error in its place.",
    "Reads": "They see everything that was acknowledged before. In a file they wait for no writer.",
    "Upkeep": "What keeps a store in order.",
    "Queues": "Queues as wholes. A paused one is passed over by claims; nothing else changes.",
    "Workers": "Each reports itself every few seconds; whoever asks sees who is there.",
    "Schedules": "Jobs that the calendar asks for. Whoever reads the calendar says when the next tick is.",
    "Tokens": "Who may do what over a service. The store keeps a digest of each; its text is shown once.",
}


def client_page() -> str:
    return page(
        "Client",
        "`detent.connect` opens a store and gives a `Client` of one tenant. With `with` instead of `async with` it "
        "gives a `SyncClient`: the same methods, blocking, without `await`. "
        "[Work with jobs](../how-to/work-with-jobs.md) shows them at work; "
        "the errors they raise are on [a page of their own](errors.md).",
        section("connect", fence("python", signature("connect", connect)), _said(connect)),
        *(section(name, _GROUPS[name], *map(_method, methods)) for name, methods in groups().items()),
        section("Keywords", *map(_keywords, _KEYWORDS)),
        section("What they return", *(_view(kind) for kind in _VIEWS), *map(_struct, _ANSWERS)),
        section("Codec", fence("python", signature("Codec", Codec.__init__)), _said(Codec)),
    )


def public_methods() -> dict[str, Method]:
    found = inspect.getmembers(Client, callable)
    return {name: method for name, method in found if not name.startswith("_") and name not in CARRIED}


def groups() -> dict[str, list[str]]:
    """Every public method under its heading, in the order of the code."""
    listed: dict[str, list[str]] = {name: [] for name in _GROUPS}
    homes = (
        Scoped,
        Client,
        Verbs,
        Applying,
        Reads,
        Awaiting,
        Explaining,
        DeadLetters,
        Upkeep,
        Queues,
        Workers,
        Schedules,
        Tokens,
    )
    for home in homes:
        for name in vars(home):
            if name in public_methods():
                listed[_heading(home, name)].append(name)
    return listed


def _heading(home: type, name: str) -> str:
    if home in (Scoped, Client):
        return "Opening"
    if home in (Awaiting, Explaining, DeadLetters):
        return "Reads"
    return "Batches" if home is Applying or name.endswith(_BATCH) else home.__name__


def _method(name: str) -> str:
    method = public_methods()[name]
    return _part(name, fence("python", signature(name, method)), _said(method))


def _keywords(kind: type) -> str:
    rows = ((code(name), code(type_name(given))) for name, given in get_type_hints(kind).items())
    return _part(kind.__name__, _said(kind), table(("keyword", "type"), rows))


def _struct(kind: type) -> str:
    fields = [(code(name), code(type_name(given))) for name, given in get_type_hints(kind).items() if name[0] != "_"]
    properties = [(code(name), code(_answer(each))) for name, each in vars(kind).items() if isinstance(each, property)]
    return _part(kind.__name__, _said(kind), table(("attribute", "type"), fields + properties))


def _view(kind: type[View]) -> str:
    rows = ((code(name), code(given), said) for name, given, said in attributes(kind))
    return _part(kind.__name__, _said(kind), table(("attribute", "type", ""), rows))


def _part(title: str, *blocks: str) -> str:
    return "\n\n".join([f"### {title}", *(block for block in blocks if block)])


def _said(what: object) -> str:
    """What its author wrote, not what it inherits: a TypedDict would quote the manual of dict."""
    return inspect.cleandoc(what.__doc__) if what.__doc__ and what.__doc__ != dict.__doc__ else ""


def _answer(found: property) -> str:
    return type_name(inspect.signature(found.fget or bool).return_annotation)


_MADE_WITH: Final = {"record": "the kernel's own record", "codec": "what its values are read with"}


def attributes(kind: type[View]) -> Iterator[tuple[str, str, str]]:
    """What can be read of a view: name, type, and what is said of it."""
    for name, found in vars(kind).items():
        if isinstance(found, Field):
            yield name, type_name(get_args(vars(found)["__orig_class__"])[0]), ""
        elif isinstance(found, Trace):
            yield name, "str | None", ""
        elif isinstance(found, Moment):
            yield name, "datetime", ""
        elif isinstance(found, OptionalMoment):
            yield name, "datetime | None", ""
        elif isinstance(found, property):
            yield name, _answer(found), _said(found)
    # What a view was made with, and shows as it is.
    for name, annotation in get_type_hints(kind).items():
        if name in kind.__struct_fields__:
            yield name, type_name(annotation), _MADE_WITH.get(name, "")
