"""Pools of `dispatch` in processes of their own: the policy, priorities, adapters, pointers and retries, end to end."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import detent
from detent import Job, Policy
from detent.client import SyncClient
from detent.surfaces.cli import main
from detent.wire.dispatch import PRIORITIES
from tests.runtime.program import WorkerProgram

WAIT_S = 30


class Pool(WorkerProgram):
    """One worker of it, at work."""

    def __init__(self, url: str, name: str = "w1", **more: Any) -> None:
        super().__init__("pool", url=url, name=name, **more)
        assert self.hear() == {"here": True}


def asked(client: SyncClient, kind: str = "chat", text: str = "hello", **more: Any) -> Job:
    return client.enqueue(kind, {"text": text}, lifecycle="dispatch", **more)


def ended(client: SyncClient, job: Job) -> Job:
    return client.wait(job.id, timeout_s=WAIT_S)


def judged(client: SyncClient, job: Job) -> Job:
    """Once its verdict is on the record."""
    for event in client.tail(after="0", timeout_s=WAIT_S, job_id=job.id):
        if event.verb == "schedule":
            return client.get(job.id)
    raise AssertionError(f"job {job.id} was not judged")


def verdict(job: Job) -> tuple[str, str | None, str | None]:
    return job.state, job.verdict, job.rule


def rules(folder: Path, text: str) -> str:
    path = folder / "rules.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


HOLDING = '[[rule]]\nname = "ask-first"\ntopic = "job.chat.*"\nverdict = "hold"\n'


@pytest.mark.requirement("DSP-08", "DSP-03")
def test_jobs_go_through_the_function_of_the_app(url: str) -> None:
    with detent.connect(url) as client, Pool(url) as pool:
        polite, shouted, unsure = asked(client), asked(client, text="HELLO"), asked(client, text="?")
        done, denied = ended(client, polite), ended(client, shouted)
        troubled = next(line for line in iter(pool.hear, None) if "troubled" in line)

        assert verdict(done) == ("SUCCEEDED", "allow", "polite")
        assert verdict(denied) == ("DENIED", "deny", "no-shouting")
        assert verdict(client.get(unsure.id)) == ("PENDING", None, None)
        assert troubled["troubled"] == "gate"
        assert "policy 'moderate' raised LookupError: the moderator is away" in troubled["error"]
        assert [event.verb for event in client.history(done.id)] == [
            "enqueue", "schedule", "claim", "start", "complete",
        ]  # fmt: skip
        assert client.verify().violations == ()


@pytest.mark.requirement("DSP-08")
def test_operator_approves_and_denies_on_the_command_line(url: str, tmp_path: Path) -> None:
    def told(*arguments: str) -> str:
        result = CliRunner(env={"DETENT_URL": url, "LOGNAME": "ann"}).invoke(main, arguments)
        assert result.exit_code == 0, result.output
        return " ".join(result.stdout.split())

    with detent.connect(url) as client, Pool(url, rules=rules(tmp_path, HOLDING)):
        first, second = (judged(client, asked(client, topic="job.chat.simple")) for _ in range(2))
        explained = told("job", "explain", first.id)
        told("job", "approve", first.id, "--reason", "harmless")
        told("job", "deny", second.id, "--reason", "not today")
        done, denied = ended(client, first), ended(client, second)

        assert verdict(first) == ("SCHEDULED", "hold", "ask-first")
        assert "rule 'ask-first' holds it until somebody approves or denies it" in explained
        assert verdict(done) == ("SUCCEEDED", "allow", "ask-first")
        assert verdict(denied) == ("DENIED", "deny", "ask-first")
        assert client.history(first.id)[2].actor == "ann"


@pytest.mark.requirement("DSP-08")
def test_pool_whose_rules_are_gone_runs_nothing_until_they_are_back(url: str, tmp_path: Path) -> None:
    path = rules(tmp_path, "")
    with detent.connect(url) as client, Pool(url, rules=path) as pool:
        before = ended(client, asked(client))
        Path(path).unlink()
        waiting = asked(client)
        troubled = next(line for line in iter(pool.hear, None) if "troubled" in line)
        state = client.get(waiting.id).state
        rules(tmp_path, '[[rule]]\nname = "closed"\nverdict = "deny"\n')
        after = ended(client, waiting)

        assert verdict(before) == ("SUCCEEDED", "allow", "default")
        assert "cannot be read" in troubled["error"]
        assert state == "PENDING"
        assert verdict(after) == ("DENIED", "deny", "closed")


@pytest.mark.requirement("DSP-07")
def test_retry_in_dispatch_is_a_new_job_that_is_judged_anew(url: str, tmp_path: Path) -> None:
    with detent.connect(url) as client, Pool(url, rules=rules(tmp_path, "")):
        failed = ended(client, asked(client, "refuse"))
        again = ended(client, client.rerun(failed.id))
        retried = client.get(failed.id)

        assert (failed.state, failed.attempt) == ("FAILED", 1)
        assert (again.id != failed.id, again.parent_job_id, again.rerun_of) == (True, failed.id, failed.id)
        assert verdict(again) == ("FAILED", "allow", "default")
        assert [event.verb for event in client.history(again.id)][:2] == ["enqueue", "schedule"]
        assert retried == failed


@pytest.mark.requirement("DSP-10")
def test_pointer_is_fetched_by_the_handler_that_wants_it_and_by_nobody_else(url: str, tmp_path: Path) -> None:
    with detent.connect(url) as client, Pool(url, rules=rules(tmp_path, "")) as pool:
        unread = ended(client, asked(client, "chat", context_ptr="mem://unread"))
        read = ended(client, asked(client, "read", context_ptr="mem://read"))
        pool.terminate()
        said = pool.ended()

        assert (unread.context_ptr, read.context_ptr) == ("mem://unread", "mem://read")
        assert read.result == "what mem://read leads to"
        assert [line["resolved"] for line in said if "resolved" in line] == ["mem://read"]


@pytest.mark.requirement("DSP-04")
def test_critical_goes_before_interactive_before_batch_and_batch_is_not_starved(url: str, tmp_path: Path) -> None:
    """A step of priority is worth 50 ms here, so that a second of waiting makes up for being critical."""
    aging = Policy(lease_s=60, timeout_s=3600, aging_s=0.05)
    with detent.connect(url) as client:
        client.pause_queue("default")
        with Pool(url, rules=rules(tmp_path, ""), concurrency=1) as pool:
            old = judged(client, asked(client, priority=PRIORITIES["batch"], policy=aging))
            with pytest.raises(detent.WaitTimedOut):
                client.wait(old.id, timeout_s=1.2)
            made = {
                name: judged(client, asked(client, priority=number, policy=aging))
                for name, number in sorted(PRIORITIES.items())
            }
            client.resume_queue("default")
            for job in (old, *made.values()):
                ended(client, job)
            pool.terminate()
            ran = [line["ran"] for line in pool.ended() if "ran" in line]

        assert ran == [old.id, made["critical"].id, made["interactive"].id, made["batch"].id]


@pytest.mark.requirement("DSP-12")
def test_job_goes_to_a_worker_with_its_adapter_where_there_is_one(url: str, tmp_path: Path) -> None:
    path = rules(tmp_path, "")
    with detent.connect(url) as client, Pool(url, "gpu", rules=path, adapters=("gpu",)):
        _report(client, "gpu", adapters=["gpu"])
        with Pool(url, "plain", rules=path):
            for_gpu = [ended(client, asked(client, adapter_id="gpu")) for _ in range(5)]
            hinted = [ended(client, asked(client, adapter_id="tpu")) for _ in range(2)]

        assert {job.last_owner for job in for_gpu} == {"gpu"}
        assert {job.last_owner for job in hinted} == {"plain"}  # nobody has that one: it is a hint


@pytest.mark.requirement("DSP-12")
def test_job_waits_if_all_who_serve_it_say_that_they_have_other_adapters(url: str, tmp_path: Path) -> None:
    path = rules(tmp_path, "")
    with detent.connect(url) as client, Pool(url, "gpu", rules=path, adapters=("gpu",)):
        _report(client, "gpu", adapters=["gpu"])
        waiting = judged(client, asked(client, adapter_id="tpu"))
        ended(client, asked(client, adapter_id="gpu"))
        (reason, *_) = client.explain(waiting.id).reasons

        assert client.get(waiting.id).state == "SCHEDULED"
        assert reason.code == "adapter_not_served"
        with Pool(url, "plain", rules=path):
            assert ended(client, waiting).last_owner == "plain"


def _report(client: SyncClient, name: str, *, adapters: list[str]) -> None:
    here: Any = {"host": "here", "pid": 1, "started_at": datetime.now(UTC), "slots": 100}
    client.report_worker(name, queues=["default"], kinds=["chat", "read", "refuse"], adapters=adapters, **here)
