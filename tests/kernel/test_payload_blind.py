"""No move depends on what a payload, a result or a checkpoint says: only its digest differs in the log."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from detent.audit import check_job
from detent.errors import Refused
from detent.kernel import Change, Error, Event, Job
from detent.kernel.command import Cancel, Claim, Command, Complete, Fail, Release, Renew, Schedule, Start
from detent.kernel.due import due_command
from detent.lifecycle import Policy, Retry
from detent.lifecycles import BUILT_IN
from tests.chance import examples
from tests.driving import WAITS_S, WORKER, Life


class Content(NamedTuple):
    payload: bytes
    result: bytes
    checkpoint: bytes


Story = list[tuple[str, float]]
Act = Callable[[Life, Content], Command | None]

ACTS: Final[dict[str, Act]] = {
    "claim": lambda life, said: Claim(worker=WORKER),
    "start": lambda life, said: Start(**life.as_owner()),
    "heartbeat": lambda life, said: Renew(**life.as_owner(), checkpoint=said.checkpoint),
    "complete": lambda life, said: Complete(**life.as_owner(), result=said.result),
    "intrude": lambda life, said: Complete(**life.as_owner() | {"worker": "somebody-else"}, result=said.result),
    "fail": lambda life, said: Fail(**life.as_owner(), error=Error("TransientError")),
    "release": lambda life, said: Release(**life.as_owner(), checkpoint=said.checkpoint),
    "stop": lambda life, said: Cancel(mode="soft", expected_rev=life.job.rev),
    "reconcile": lambda life, said: due_command(life.lifecycle, life.job, life.now),
}
SCANT: Final = Policy(
    lease_s=30, heartbeat_s=10, timeout_s=12, rerun_failed=True, accept_amendments=True,
    retry=Retry(max_attempts=2, base_s=1, max_s=1),
)  # fmt: skip
# Bytes of any kind, and bytes that a curious kernel would stumble over.
blobs: Final = st.binary(max_size=40) | st.sampled_from(
    [
        b"",
        b"null",
        b"{",
        b'{"state": "FAILED", "final": true}',
        b'{"error": "PermanentError"}',
        b"\x00\xff",
        b"x" * 9_000,
    ]
)
contents: Final = st.builds(Content, blobs, blobs, blobs)
stories: Final = st.lists(st.tuples(st.sampled_from(sorted(ACTS)), st.sampled_from(WAITS_S)), max_size=12)
# Begun, so that most of what follows has somebody to say it.
BEGUN: Final[Story] = [("claim", 0), ("start", 0)]


def told(name: str, story: Story, said: Content, fields: dict[str, Any]) -> tuple[Life, list[str]]:
    """The life of a job with that content, and how each request was answered."""
    life = Life(BUILT_IN[name], submit=True, payload=said.payload, **fields)
    if name == "dispatch":
        life.do(Schedule(verdict="allow", rule="default"))
    answers = []
    for act, wait_s in story:
        life.wait(wait_s)
        command = ACTS[act](life, said)
        if command is not None:
            answers.append(in_short(life.ask(command)))
    return life, answers


def in_short(answer: Change | Refused) -> str:
    return answer.code if isinstance(answer, Refused) else answer.answer


def without_digests(events: list[Event]) -> list[Event]:
    return [replace(event, changes=undigested(event.changes)) for event in events]


def undigested(changes: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in changes.items() if not name.endswith("_digest")}


def without_content(job: Job) -> Job:
    """The record with every blob and digest taken out."""
    spec = replace(job.spec, payload=b"")
    bare: dict[str, Any] = {"spec": spec, "result": None, "checkpoint": None}
    digests = dict.fromkeys(("result_digest", "error_digest", "checkpoint_digest"))
    return replace(job, payload_digest="", **bare, **digests)


@pytest.mark.requirement("DOC-06")
@pytest.mark.parametrize("fields", [{}, {"policy": SCANT}], ids=["default", "scant"])
@pytest.mark.parametrize("name", BUILT_IN)
@settings(max_examples=examples(60), deadline=None)
@given(story=stories, one=contents, other=contents)
def test_same_requests_with_other_content_are_answered_and_logged_alike(
    fields: dict[str, Any], name: str, story: Story, one: Content, other: Content
) -> None:
    life, answers = told(name, BEGUN + story, one, fields)
    twin, twin_answers = told(name, BEGUN + story, other, fields)

    assert twin_answers == answers
    assert check_job(life.lifecycle, life.job, life.events, life.notes) == []
    assert without_digests(twin.events) == without_digests(life.events)
    assert [without_content(job) for job in twin.records] == [without_content(job) for job in life.records]
    assert [(note.kind, note.rev, note.at) for note in twin.notes] == [
        (note.kind, note.rev, note.at) for note in life.notes
    ]
    assert [without_content(change.job) for change in twin.spawned] == [
        without_content(change.job) for change in life.spawned
    ]


@pytest.mark.requirement("DOC-06")
@pytest.mark.parametrize("name", BUILT_IN)
def test_content_leaves_its_digest_in_the_log_and_nothing_else(name: str) -> None:
    secret = Content(b"SECRET-1", b"SECRET-2", b"SECRET-3")
    life, answers = told(name, [*BEGUN, ("heartbeat", 1), ("complete", 1)], secret, {})

    assert answers[-2:] == ["applied", "applied"]
    assert "SECRET" not in repr(life.events)
    assert (life.job.spec.payload, life.job.result, life.job.checkpoint) == secret
