"""The gate in a worker: nothing of `dispatch` runs before the policy has said so, and what it said is on the record."""

import asyncio
import threading
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import detent
from detent import Gate, InvalidArgument, Job, PolicyError, State, Verdict, move
from detent.lifecycles.dispatch import DISPATCH
from detent.runtime import Worker
from detent.runtime.backing_off import FIRST_S
from tests.runtime.working import Working, handler, on_loop, until, working

RULES = """
[[rule]]
name = "no-deletes"
topic = "job.admin.*"
env = { stage = "prod" }
verdict = "deny"

[[rule]]
name = "costly"
kind = "scan"
priority = ["batch", 5]
queue = "default"
topic = "job.gpu.>"
verdict = "hold"

[[rule]]
name = "calm-down"
topic = "job.crawl"
verdict = "throttle"
delay_s = 3600
"""


async def scan() -> str:
    return "scanned"


async def mail() -> str:
    return "sent"


def verdict_of(job: Job) -> tuple[str, str | None, str | None]:
    return job.state, job.verdict, job.rule


async def judged(at: Working, job: Job) -> Job:
    async def is_judged() -> bool:
        return (await at.client.get(job.id)).verdict is not None

    await until(is_judged)
    return await at.client.get(job.id)


def rules_in(folder: Path, text: str = RULES) -> Path:
    path = folder / "rules.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.requirement("DSP-08")
def test_without_a_policy_the_rule_default_allows_and_is_recorded(url: str) -> None:
    async def scene() -> None:
        async with working(url, handler("scan", scan)) as at:
            job = await at.done("scan", lifecycle="dispatch")
            _, scheduled, *_ = await at.client.history(job.id)

            assert verdict_of(job) == ("SUCCEEDED", "allow", "default")
            assert scheduled.payload == {"verdict": "allow", "rule": "default"}
            assert (scheduled.actor, scheduled.role) == ("w", "scheduler")
            assert at.worker.tally.verdicts == {"allow": 1}

    on_loop(scene)


@pytest.mark.requirement("DSP-08")
def test_verdicts_of_a_rules_file_are_carried_out_and_recorded(url: str, tmp_path: Path) -> None:
    async def scene() -> None:
        async with working(url, handler("scan", scan), policy=rules_in(tmp_path)) as at:
            enqueue = at.client.enqueue
            denied = await enqueue("scan", lifecycle="dispatch", topic="job.admin.drop", env={"stage": "prod"})
            held = await enqueue("scan", lifecycle="dispatch", topic="job.gpu.big.one", priority=5)
            late = await enqueue("scan", lifecycle="dispatch", topic="job.crawl")
            free = await enqueue("scan", lifecycle="dispatch", topic="job.admin.drop", env={"stage": "test"})

            assert verdict_of(await at.ended(denied)) == ("DENIED", "deny", "no-deletes")
            assert verdict_of(await judged(at, held)) == ("SCHEDULED", "hold", "costly")
            assert verdict_of(await judged(at, late)) == ("SCHEDULED", "throttle", "calm-down")
            assert verdict_of(await at.ended(free)) == ("SUCCEEDED", "allow", "default")
            waits = (await at.client.get(late.id)).claim_at
            assert waits is not None
            assert 3500 < (waits - late.created_at).total_seconds() < 3700

    on_loop(scene)


@pytest.mark.requirement("DSP-08")
def test_held_job_runs_once_it_is_approved_and_never_if_it_is_denied(url: str, tmp_path: Path) -> None:
    async def scene() -> None:
        async with working(url, handler("scan", scan), policy=rules_in(tmp_path)) as at:
            first, second = [
                await judged(at, await at.client.enqueue("scan", lifecycle="dispatch", topic="job.gpu.a"))
                for _ in range(2)
            ]
            (reason, *_) = (await at.client.explain(first.id)).reasons
            await at.client.approve(first.id, actor="ada", role="operator")
            await at.client.deny(second.id, actor="ada", role="operator", reason="too dear")

            assert reason.code == "held_by_policy"
            assert "'costly'" in reason.text
            assert verdict_of(await at.ended(first)) == ("SUCCEEDED", "allow", "costly")
            assert verdict_of(await at.ended(second)) == ("DENIED", "deny", "costly")

    on_loop(scene)


@pytest.mark.requirement("DSP-08")
def test_changed_rules_hold_from_then_on(url: str, tmp_path: Path) -> None:
    async def scene() -> None:
        path = rules_in(tmp_path, "")
        async with working(url, handler("scan", scan), policy=str(path)) as at:
            before = await at.done("scan", lifecycle="dispatch", topic="job.admin.drop", env={"stage": "prod"})
            rules_in(tmp_path)
            after = await at.done("scan", lifecycle="dispatch", topic="job.admin.drop", env={"stage": "prod"})

            assert verdict_of(before) == ("SUCCEEDED", "allow", "default")
            assert verdict_of(after) == ("DENIED", "deny", "no-deletes")

    on_loop(scene)


@pytest.mark.requirement("DSP-08")
@pytest.mark.parametrize("text", [None, "[[rule]]\nname = 'half a ru"], ids=["missing", "broken"])
def test_rules_that_are_out_of_reach_let_nothing_pass_until_they_are_back(
    url: str, tmp_path: Path, text: str | None
) -> None:
    async def scene() -> None:
        path = rules_in(tmp_path)
        async with working(url, handler("scan", scan), policy=path) as at:
            path.unlink() if text is None else path.write_text(text, encoding="utf-8")
            job = await at.client.enqueue("scan", lifecycle="dispatch")
            await until(lambda: bool(at.seen.lines))
            await asked_again(at)
            waiting = await at.client.get(job.id)
            told = list(at.seen.lines)
            rules_in(tmp_path)

            assert verdict_of(waiting) == ("PENDING", None, None)
            assert len(told) == 1
            assert told[0].startswith(f"troubled gate the rules in '{path}'")
            assert verdict_of(await at.ended(job)) == ("SUCCEEDED", "allow", "default")

    on_loop(scene)


async def asked_again(at: Working) -> None:
    """Long enough for the policy to be asked a few more times: what has a verdict meanwhile ends."""
    with pytest.raises(detent.WaitTimedOut):
        await at.client.wait((await at.client.find(state="PENDING", limit=1)).items[0].id, timeout_s=0.5)


@pytest.mark.requirement("DSP-08")
def test_worker_with_rules_that_cannot_be_read_or_do_not_hold_together_does_not_start(tmp_path: Path) -> None:
    def connect() -> Any:
        raise AssertionError("it must not come to that")

    with pytest.raises(PolicyError) as missing:
        Worker(connect, [handler("scan", scan)], policy=tmp_path / "none.toml")
    with pytest.raises(PolicyError) as wrong:
        Worker(connect, [handler("scan", scan)], policy=rules_in(tmp_path, "[[rule]]\nverdict = 'alow'"))

    assert missing.value.code == "policy_unreachable"
    assert wrong.value.code == "bad_rules"


@pytest.mark.requirement("DSP-08")
def test_function_decides_by_the_job_it_is_shown(url: str) -> None:
    def by_payload(job: Job) -> Any:
        answers = {1: "allow", 2: ("deny", "two"), 3: ("throttle", "three", 3600), 4: Verdict("hold", "four")}
        return answers[job.payload["number"]]

    async def scene() -> None:
        async with working(url, handler("scan", lambda number: number, "thread"), policy=by_payload) as at:
            jobs = [await at.client.enqueue("scan", {"number": n}, lifecycle="dispatch") for n in (1, 2, 3, 4)]

            assert verdict_of(await at.ended(jobs[0])) == ("SUCCEEDED", "allow", "by_payload")
            assert verdict_of(await at.ended(jobs[1])) == ("DENIED", "deny", "two")
            assert verdict_of(await judged(at, jobs[2])) == ("SCHEDULED", "throttle", "three")
            assert verdict_of(await judged(at, jobs[3])) == ("SCHEDULED", "hold", "four")

    on_loop(scene)


class Refusing:
    """A policy that is an object, and asks somebody else."""

    async def __call__(self, job: Job) -> str:
        await asyncio.sleep(0)
        return "deny"


@pytest.mark.requirement("DSP-08")
def test_function_may_be_async(url: str) -> None:
    async def scene() -> None:
        async with working(url, handler("scan", scan), policy=Refusing()) as at:
            job = await at.done("scan", lifecycle="dispatch")

            assert verdict_of(job) == ("DENIED", "deny", "Refusing")

    on_loop(scene)


def raising(job: Job) -> str:
    raise LookupError("no such customer")


async def raising_on_the_loop(job: Job) -> str:
    raise asyncio.CancelledError("within")


def saying_nothing(job: Job) -> Any:
    return None


def saying_nonsense(job: Job) -> Any:
    return "maybe"


def saying_half(job: Job) -> Any:
    return "throttle", "slow"


async def never_answering(job: Job) -> str:
    await asyncio.Event().wait()
    return "allow"


def blocking(job: Job) -> str:
    threading.Event().wait(30)
    return "allow"


@pytest.mark.requirement("DSP-08")
@pytest.mark.parametrize(
    ("policy", "said"),
    [
        (raising, "raised LookupError: no such customer"),
        (raising_on_the_loop, "raised CancelledError: within"),
        (saying_nothing, "returned None, which is no verdict"),
        (saying_nonsense, "returned 'maybe': verdict is 'maybe'; give one of allow, deny, hold, throttle"),
        (saying_half, "'throttle' needs delay_s"),
        (never_answering, "has not answered within 0.1 s"),
        (blocking, "has not answered within 0.1 s"),
    ],
)
def test_function_that_gives_no_verdict_lets_nothing_pass(url: str, policy: Any, said: str) -> None:
    async def scene() -> None:
        async with working(url, handler("scan", scan), policy=Gate(policy, timeout_s=0.1)) as at:
            job = await at.client.enqueue("scan", lifecycle="dispatch")
            await until(lambda: bool(at.seen.lines))
            await asked_again(at)

            assert (await at.client.get(job.id)).state == "PENDING"
            assert len(at.seen.lines) == 1
            assert f"policy '{policy.__name__}'" in at.seen.lines[0]
            assert said in at.seen.lines[0]

    on_loop(scene)


@pytest.mark.alone
@pytest.mark.requirement("DSP-08")
def test_job_that_a_function_cannot_judge_keeps_no_other_waiting(url: str) -> None:
    asked: list[float] = []

    def choosy(job: Job) -> str:
        if job.kind == "scan":
            asked.append(time.monotonic())
            raise LookupError("not now" if len(asked) < 4 else "never")
        return "allow"

    async def scene() -> None:
        handlers = handler("scan", scan), handler("mail", mail)
        async with working(url, *handlers, policy=choosy, gate_max=1) as at:
            stuck = await at.client.enqueue("scan", lifecycle="dispatch")
            await until(lambda: bool(asked))
            others = [await at.done("mail", lifecycle="dispatch") for _ in range(5)]
            await until(lambda: len(at.seen.lines) == 2)

            assert {job.state for job in others} == {"SUCCEEDED"}
            assert (await at.client.get(stuck.id)).state == "PENDING"
            assert [line.partition("LookupError: ")[2][:5] for line in at.seen.lines] == ["not n", "never"]
            pauses = [later - before for before, later in pairwise(asked[:4])]
            assert all(pause >= FIRST_S / 2 * 2**place for place, pause in enumerate(pauses)), pauses  # at the least

    on_loop(scene)


@pytest.mark.requirement("DSP-08")
def test_worker_asks_about_what_it_would_run_itself_and_nothing_else(url: str) -> None:
    """So one that has no policy lets nothing pass that another one's policy is to judge."""

    async def scene() -> None:
        async with working(url, handler("mail", mail), queues=("post",)) as free:
            other_kind = await free.client.enqueue("scan", lifecycle="dispatch", queue="post")
            other_queue = await free.client.enqueue("mail", lifecycle="dispatch", queue="default")
            own = await free.done("mail", lifecycle="dispatch", queue="post")
            again = await free.done("mail", lifecycle="dispatch", queue="post")

            assert [own.rule, again.rule] == ["default", "default"]
            assert (await free.client.get(other_kind.id)).state == "PENDING"
            assert (await free.client.get(other_queue.id)).state == "PENDING"

    on_loop(scene)


@pytest.mark.requirement("DSP-08")
def test_however_many_workers_ask_each_job_has_one_verdict(url: str) -> None:
    async def scene() -> None:
        policy, settings = (lambda job: ("allow", "either")), {"gate_max": 10}
        async with (
            working(url, handler("scan", scan), name="w1", policy=policy, **settings) as first,
            working(url, handler("scan", scan), name="w2", policy=policy, **settings) as second,
        ):
            items = [{"kind": "scan", "lifecycle": "dispatch"} for _ in range(100)]
            jobs = await first.client.enqueue_many(items)
            ended = [await first.ended(job) for job in jobs if isinstance(job, Job)]

            assert {verdict_of(job) for job in ended} == {("SUCCEEDED", "allow", "either")}
            assert {job.rev for job in ended} == {5}
            given = first.worker.tally.verdicts + second.worker.tally.verdicts
            assert given == {"allow": 100}
            assert first.seen.lines == second.seen.lines == []

    on_loop(scene)


@pytest.mark.requirement("DSP-08")
def test_rate_of_a_rule_holds_across_workers(url: str, tmp_path: Path) -> None:
    text = '[[rule]]\nname = "slow"\nverdict = "throttle"\nrate_max = 60\nper_s = 3600\n'

    async def scene() -> None:
        policy = rules_in(tmp_path, text)
        async with (
            working(url, handler("scan", scan), name="w1", policy=policy, gate_max=3) as first,
            working(url, handler("scan", scan), name="w2", policy=policy, gate_max=3),
        ):
            made = [await first.client.enqueue("scan", lifecycle="dispatch") for _ in range(10)]
            jobs = [await judged(first, job) for job in made]
            due = sorted(job.due_at for job in jobs if job.due_at is not None)
            apart = [(later - sooner).total_seconds() for sooner, later in pairwise(due)]

            assert {(job.verdict, job.rule) for job in jobs} == {("throttle", "slow")}
            assert [round(seconds) for seconds in apart] == [60] * (len(due) - 1)
            assert len(due) >= 9  # the first may have been run already

    on_loop(scene)


@pytest.mark.parametrize("policy", [7, object(), ["rules.toml"]])
def test_policy_that_is_neither_a_path_nor_a_function_is_refused(policy: Any) -> None:
    with pytest.raises(InvalidArgument, match="give the path of a rules file, a function, or a Gate"):
        detent.App(policy=policy)


@pytest.mark.requirement("DSP-08")
def test_worker_whose_jobs_need_a_verdict_hears_of_them_at_once(url: str) -> None:
    """And does not wait for its next look, which would be in a minute."""

    async def scene() -> None:
        async with working(url, replace(handler("scan", scan), lifecycle="dispatch"), gate_s=60) as at:
            await at.done("scan")
            jobs = [await at.done("scan", lifecycle="dispatch") for _ in range(3)]

            assert {verdict_of(job) for job in jobs} == {("SUCCEEDED", "allow", "default")}

    on_loop(scene)


@pytest.mark.requirement("DSP-08")
def test_jobs_of_any_lifecycle_that_asks_for_a_verdict_are_judged(url: str) -> None:
    """Also where the time to wait for one is limited."""
    states = (State("PENDING", "parked", timeout_s=60), *DISPATCH.states[1:])
    timed = move("PENDING", "time_out", "TIMEOUT", by="system")
    gated = replace(DISPATCH, name="gated", states=states, moves=(*DISPATCH.moves, timed))

    async def scene() -> None:
        async with detent.connect(url, lifecycles=[gated]):
            pass
        async with working(url, handler("scan", scan)) as at:
            job = await at.done("scan", lifecycle="gated")

            assert verdict_of(job) == ("SUCCEEDED", "allow", "default")

    on_loop(scene)
