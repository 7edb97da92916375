"""The page of the client is whole: every public method with its signature and a word on what it does."""

import inspect
import re

import pytest

from detent.client import Client, Codec, Event, Job, Note, SyncClient
from detent.client.views import View
from detent.surfaces.reference import client_page
from detent.surfaces.reference.client import attributes, groups, public_methods
from detent.surfaces.reference.signatures import signature, type_name

METHODS = sorted(public_methods())


def entry(name: str) -> str:
    """What the page has under a method's heading."""
    found = re.search(rf"^### {name}\n(.*?)(?=^##)", client_page(), re.MULTILINE | re.DOTALL)
    return "" if found is None else found[1]


def test_page_has_every_public_method_under_one_heading() -> None:
    listed = [name for names in groups().values() for name in names]

    assert sorted(listed) == METHODS
    assert all(groups().values())


@pytest.mark.parametrize("name", METHODS)
def test_method_has_its_signature_and_a_docstring_on_the_page(name: str) -> None:
    method = public_methods()[name]

    assert f"```python\n{name}(" in entry(name)
    assert method.__doc__, f"Client.{name} has no docstring"
    assert inspect.cleandoc(method.__doc__) in entry(name)


def test_every_method_has_a_blocking_twin_as_the_page_says() -> None:
    assert [name for name in METHODS if not callable(getattr(SyncClient, name, None))] == []


@pytest.mark.parametrize("kind", [Job, Event, Note])
def test_page_lists_what_can_be_read_of_a_view(kind: type[View]) -> None:
    listed = {name for name, _, _ in attributes(kind)}
    there = {name for name in dir(kind) if not name.startswith("_")}

    assert listed == there
    assert all(f"| `{name}` |" in entry(kind.__name__) for name in listed)


def test_moments_are_shown_as_datetimes() -> None:
    shown = {name: kind for name, kind, _ in attributes(Job)}

    assert (shown["created_at"], shown["ended_at"], shown["owner"]) == ("datetime", "datetime | None", "str | None")


def test_signature_is_read_as_it_is_called() -> None:
    assert signature("start", Client.start) == "start(job_id: str, **who: Who) -> Job"
    assert signature("limit_queue", Client.limit_queue) == "limit_queue(queue: str, *, depth_max: int | None) -> None"
    assert "    queues: Sequence[str] = ('default',),\n" in signature("claim", Client.claim)
    assert "bytes_max: int = 1048576" in signature("Codec", Codec.__init__)


@pytest.mark.parametrize(
    ("annotation", "name"), [(type(None), "None"), (int | None, "int | None"), (list[Job], "list[Job]"), (Job, "Job")]
)
def test_type_is_shown_without_its_module(annotation: object, name: str) -> None:
    assert type_name(annotation) == name
