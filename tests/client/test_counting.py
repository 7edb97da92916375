"""Counting, looking back and purging, as a program asks for them: both ways of asking, and what is refused how."""

import asyncio
from typing import Any

import pytest

from detent.errors import InvalidArgument
from detent.store.query import Counts
from tests.client.arguments import UNLIKELY
from tests.client.world import POSITIONS, World


@pytest.mark.requirement("DSP-11")
def test_count_is_by_what_was_asked_and_in_that_order(fresh: World) -> None:
    fresh.prepare()

    assert fresh.blocking.count() == {(): len(POSITIONS)}
    assert fresh.blocking.count(by=["outcome"], kind="scan") == {
        (None,): len(POSITIONS) - 2,
        ("success",): 1,
        ("failure",): 1,
    }
    assert fresh.blocking.count(by=("phase", "lifecycle"), lifecycle="dispatch") == {
        ("ready", "dispatch"): 1,
        ("parked", "dispatch"): 1,
    }
    assert fresh.blocking.count(owner="w", by=("state",)) == {("running",): 1, ("assigned",): 1}


def test_count_is_the_same_on_an_event_loop(fresh: World) -> None:
    fresh.prepare()

    async def counted() -> Counts:
        return await fresh.client.count(by=["lifecycle", "queue"])

    assert asyncio.run(counted()) == fresh.blocking.count(by=["lifecycle", "queue"])


@pytest.mark.parametrize("by", [["colour"], ["State"], "state", ["state"] * 2, None, {"state"}])
def test_count_by_something_else_is_refused_and_names_the_choices(fresh: World, by: Any) -> None:
    with pytest.raises(InvalidArgument, match="lifecycle, state, phase, outcome, queue, kind") as refused:
        fresh.blocking.count(by=by)

    assert refused.value.code == "invalid_argument"


def test_unknown_filter_of_a_count_is_refused_and_names_those_there_are(fresh: World) -> None:
    with pytest.raises(InvalidArgument, match="correlation_id"):
        fresh.blocking.count(colour="red")  # type: ignore[call-arg]


@pytest.mark.parametrize("text", [UNLIKELY, '" or 1=1 --', "%", ":tenant"])
@pytest.mark.parametrize("name", ["state", "queue", "lifecycle", "correlation_id", "workflow_id", "topic"])
def test_filter_that_looks_like_sql_counts_nothing(fresh: World, name: str, text: str) -> None:
    fresh.prepare("running")

    assert fresh.blocking.count(**{name: text}) == {(): 0}  # type: ignore[arg-type]


def test_recent_gives_the_last_ten_events_unless_told_otherwise(fresh: World) -> None:
    fresh.prepare()
    log = fresh.blocking.events(limit=1_000).items

    assert fresh.blocking.recent().items == log[-10:]
    assert fresh.blocking.recent(limit=3).items == log[-3:]
    assert fresh.blocking.recent(limit=1_000).items == log


def test_last_claim_on_a_queue_can_be_asked_for(fresh: World) -> None:
    fresh.prepare()
    for n in range(3):
        fresh.blocking.enqueue("scan", queue="running", job_id=f"j{n}")
    fresh.clock.pass_s(5)
    (last,) = fresh.blocking.claim(worker="w2", queues=["running"])
    (claim,) = fresh.blocking.recent(limit=1, queue="running", verb="claim")

    assert (claim.job_id, claim.worker, claim.at) == (last.id, "w2", last.claimed_at)
    assert fresh.blocking.recent(queue="waiting", verb="claim").items == []


def test_tail_hears_of_one_verb(fresh: World) -> None:
    fresh.prepare()

    heard = list(fresh.blocking.tail(after="0", timeout_s=0, verb="complete"))

    assert [event.job_id for event in heard] == ["ended"]


@pytest.mark.parametrize("gathered", [list, tuple, set, iter])
def test_ids_to_purge_may_come_as_anything_that_can_be_gone_through(fresh: World, gathered: Any) -> None:
    fresh.prepare()

    assert fresh.blocking.purge(gathered(["ended", "running"])).jobs == 1
    assert fresh.blocking.verify().is_clean


def test_purge_of_nothing_removes_nothing(fresh: World) -> None:
    fresh.prepare()

    assert fresh.blocking.purge([]).jobs == 0
    assert fresh.blocking.count() == {(): len(POSITIONS)}


def test_too_many_ids_at_once_are_refused_with_the_bound(fresh: World) -> None:
    fresh.prepare("ended")
    with pytest.raises(InvalidArgument, match="1000"):
        fresh.blocking.purge(["ended"] * 1_001)

    assert fresh.blocking.get("ended").state == "succeeded"


@pytest.mark.requirement("STD-13")
def test_purged_job_leaves_no_row_in_any_table(fresh: World) -> None:
    empty = fresh.snapshot()
    job = fresh.blocking.enqueue("scan", {"a": 1}, job_id="a", dedupe_key="k", correlation_id="c")
    fresh.blocking.claim(worker="w", start=True)
    fresh.blocking.renew("a", worker="w", attempt=1, progress=0.5, checkpoint=[1], request_id="r1")
    fresh.blocking.complete("a", result={"b": 2}, worker="w", attempt=1, request_id="r2")
    fresh.blocking.purge([job.id])
    after = fresh.snapshot()

    changed = {name for name in after if after[name] != empty[name]}
    assert changed - {"sqlite_sequence"} == {"detent_policies"}
