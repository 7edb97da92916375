"""Whatever text and bytes are said of a job come back as they were said, wherever they are kept."""

from collections.abc import Callable
from itertools import cycle
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.client import Codec, Job
from detent.client.moments import to_moment
from detent.errors import InvalidArgument
from detent.lifecycle.bounds import NAME_BYTES_MAX
from tests.chance import examples
from tests.client.arguments import UNLIKELY
from tests.client.places import Place
from tests.client.world import World

NAMES: Final = (
    "kind", "queue", "request_id", "dedupe_key", "correlation_id", "trace_id", "parent_job_id", "workflow_id",
    "topic", "adapter_id", "actor",
)  # fmt: skip
TEXTS: Final = ("context_ptr", "reason")
HOSTILE_NAMES: Final = (
    "NULL", "null", "{}", "{a,b}", '{"a"}', '"', '""', "\\", "\\\\", '\\"', "\\x41", "\\N", ",", "'", "''", "$1",
    ":tenant", "%s", "%(x)s", "?1", UNLIKELY, "naïve", "漢字", "🙂", "e\u0301", "x" * 255, '"' * 255, "\\" * 255, " ",
)  # fmt: skip
HOSTILE_TEXTS: Final = (
    *HOSTILE_NAMES, "", "\n", "\t\r\n", "a\u202eb", "\u2028", "\ufeff", "\x01", "\x7f", "\\\n", "🙂" * 4_000,
)  # fmt: skip
names = st.sampled_from(HOSTILE_NAMES) | st.text(
    st.characters(exclude_categories=["C", "Zl", "Zp"]), min_size=1, max_size=NAME_BYTES_MAX // 4
).filter(str.isprintable)
texts = st.sampled_from(HOSTILE_TEXTS) | st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))


@st.composite
def jobs(draw: st.DrawFn) -> dict[str, Any]:
    """Some fields are left out, so that in a batch some have a value and others none."""
    given = {name: draw(names) for name in NAMES if name == "kind" or draw(st.booleans())}
    given |= {name: draw(texts) for name in TEXTS if draw(st.booleans())}
    return given | {"payload": draw(texts), "env": draw(st.dictionaries(names, texts, max_size=2))}


@settings(max_examples=examples(30))
@given(made=st.lists(jobs(), min_size=1, max_size=4))
def test_what_is_said_of_new_jobs_comes_back_unchanged(
    new_place: Callable[[], Place], made: list[dict[str, Any]]
) -> None:
    world = World(new_place())
    try:
        for asked, job in zip(made, world.blocking.enqueue_many(made), strict=True):
            if isinstance(job, Job) and job.answer == "applied":  # and no other one's request or key
                compare(world, asked, job)
        assert world.blocking.verify().is_clean
    finally:
        world.close()


def compare(world: World, asked: dict[str, Any], job: Job) -> None:
    read, (event,) = world.blocking.get(job.id), world.blocking.history(job.id)
    said = {"request_id": event.request_id, "actor": event.actor, "reason": event.cause}
    assert {name: said[name] if name in said else getattr(read, name) for name in asked} == asked
    filters = {
        name: asked[name] for name in ("kind", "queue", "correlation_id", "topic", "dedupe_key") if name in asked
    }
    assert job.id in [found.id for found in world.blocking.find(**filters).items]
    assert world.blocking.count(**filters)[()] > 0
    assert event.id in [found.id for found in world.blocking.events(kind=asked["kind"]).items]


@settings(max_examples=examples(20))
@given(worker=names, said=texts, pointer=texts, error=st.tuples(names, texts, names), checkpoint=texts, rule=names)
def test_what_is_said_along_the_way_comes_back_unchanged(
    new_place: Callable[[], Place],
    worker: str,
    said: str,
    pointer: str,
    error: tuple[str, str, str],
    checkpoint: str,
    rule: str,
) -> None:
    world = World(new_place())
    client = world.blocking
    owner: dict[str, Any] = {"worker": worker, "attempt": 1}
    try:
        client.enqueue_many([{"kind": "scan", "job_id": name} for name in ("good", "bad")])
        client.enqueue("scan", job_id="gated", lifecycle="dispatch", queue="gate")
        held = client.claim(worker=worker, limit=2, start=True)
        for job in held:
            client.renew(job.id, checkpoint=[checkpoint], progress={"fraction": 0.5, "message": said}, **owner)
        done = client.complete("good", result={said: said}, result_ptr=pointer, reason=said, **owner)
        kind, message, code = error
        failed = client.fail("bad", error={"type": kind, "message": message, "code": code}, **owner)
        client.schedule("gated", verdict="hold", rule=rule)
        good, bad, gated = [client.get(name) for name in ("good", "bad", "gated")]
    finally:
        world.close()

    assert {job.owner for job in held} == {worker}
    assert (good, bad) == (done, failed)
    assert (good.last_owner, good.result, good.result_ptr, good.checkpoint) == (
        worker,
        {said: said},
        pointer,
        [checkpoint],
    )
    assert good.progress is not None
    assert good.progress.message == said
    assert bad.last_error is not None
    assert (bad.last_error.type, bad.last_error.message, bad.last_error.code) == error
    assert gated.rule == rule


@settings(max_examples=examples(30))
@given(key=st.binary(min_size=1, max_size=40), values=st.lists(texts, min_size=1, max_size=4))
def test_bytes_that_are_neither_text_nor_json_come_back_unchanged(
    new_place: Callable[[], Place], key: bytes, values: list[str]
) -> None:
    """As an encryption makes them of payload, checkpoint and result."""

    def scramble(data: bytes) -> bytes:
        return bytes(byte ^ letter for byte, letter in zip(data, cycle(key), strict=False))

    world = World(new_place(), codec=Codec(encrypt=scramble, decrypt=scramble))
    client, who = world.blocking, {"worker": "w", "attempt": 1}
    try:
        client.enqueue_many([{"kind": "scan", "payload": value, "job_id": str(n)} for n, value in enumerate(values)])
        held = client.claim(worker="w", limit=4, start=True)
        client.renew_many([{"job_id": job.id, "checkpoint": job.payload, **who} for job in held])
        client.complete_many([{"job_id": job.id, "result": job.payload, **who} for job in held])
        jobs = [client.get(str(n)) for n in range(len(values))]
    finally:
        world.close()

    assert [(job.payload, job.checkpoint, job.result) for job in jobs] == [(value,) * 3 for value in values]


@settings(max_examples=examples(20))
@given(queue=names, actor=names, said=texts, served=st.lists(names, min_size=1, max_size=4), cron=names)
def test_what_is_said_beside_jobs_comes_back_unchanged(
    new_place: Callable[[], Place], queue: str, actor: str, said: str, served: list[str], cron: str
) -> None:
    world = World(new_place())
    client, moment = world.blocking, to_moment(world.clock())
    try:
        client.pause_queue(queue, actor=actor, reason=said)
        client.report_worker(actor, host=queue, pid=1, started_at=moment, queues=served, kinds=served, adapters=served)
        client.keep_schedules([{"name": queue, "cron": cron, "zone": actor, "kind": queue, "payload": said,
                                "next_at": moment}])  # fmt: skip
        client.pause_schedule(queue, actor=actor, reason=said)
        client.revoke_token(client.create_token(queue, scopes=["work"], worker=cron, actor=actor).token.id, actor=cron)
        paused, (worker,), (schedule,) = client.queue(queue), client.workers(), client.schedules()
        (token,) = client.tokens()
    finally:
        world.close()

    assert (paused.paused_by, paused.paused_reason) == (schedule.paused_by, schedule.paused_reason) == (actor, said)
    assert (worker.name, worker.host, worker.queues, worker.kinds, worker.adapters) == (
        actor, queue, *[tuple(served)] * 3,
    )  # fmt: skip
    assert (schedule.name, schedule.cron, schedule.zone, schedule.kind, schedule.payload) == (
        queue, cron, actor, queue, said,
    )  # fmt: skip
    assert (token.name, token.worker, token.created_by, token.revoked_by) == (queue, cron, actor, cron)


@pytest.mark.parametrize("tenant", ["default", "long"])
def test_longest_names_there_are_fit_wherever_they_are_looked_for(fresh: World, tenant: str) -> None:
    """Of characters that take four bytes each, at random, so that nothing can press them together."""
    rng = Random(1)

    def name() -> str:
        return "".join(chr(rng.randrange(0x20000, 0x2A6D0)) for _ in range(NAME_BYTES_MAX // 4))

    client = fresh.beside(tenant="default" if tenant == "default" else name())
    asked: dict[str, Any] = {each: name() for each in (*NAMES, "job_id")}
    made = client.enqueue(**asked)
    (claimed,) = client.claim(worker=name(), queues=[asked["queue"]], request_id=name())
    owner: dict[str, Any] = {"worker": claimed.owner, "attempt": 1}
    started = client.start(made.id, request_id=name(), **owner)
    client.limit_queue(asked["queue"], depth_max=1)
    client.pause_queue(asked["queue"], actor=name())
    moment = to_moment(fresh.clock())
    client.report_worker(name(), host=name(), pid=1, started_at=moment, queues=[name()] * 100, version=name())
    client.keep_schedules([{each: name() for each in ("name", "cron", "zone", "kind")} | {"next_at": moment}])
    client.create_token(name(), scopes=["work"], worker=name(), actor=name())
    again = client.enqueue(**asked)

    assert (made.answer, started.answer, again.answer) == ("applied", "applied", "repeat")
    assert [job.id for job in client.find(workflow_id=asked["workflow_id"]).items] == [made.id]
    with pytest.raises(InvalidArgument, match=r"takes 643 bytes in UTF-8; a name has at most 640"):
        client.enqueue(name() + "漢")
