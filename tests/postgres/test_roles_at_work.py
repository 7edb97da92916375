"""Each role at its work, through the client: it does what it is for, and is told if it asks for something else."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

import pytest

from detent import Policy
from detent.lifecycle.toml import from_toml
from tests.postgres.casting import as_role
from tests.postgres.clients import opened
from tests.store.sqlite.files import ROOT, ids, raises, run_to_success

ARTICLE: Final = from_toml((ROOT / "docs/examples/article.toml").read_text())


def test_app_asks_every_verb_of_its_jobs(cast_url: str) -> None:
    with opened(as_role(cast_url, "web"), tenant="all-verbs") as client:
        client.limit_queue("default", depth_max=100)
        first = client.enqueue("scan", request_id="r1", dedupe_key="d", payload={"n": 1})
        client.enqueue_many([{"kind": "scan"} for _ in range(4)])
        jobs = client.claim(worker="w", limit=5, request_id="c1")
        fences: list[Any] = [{"job_id": job.id, "worker": "w", "attempt": 1} for job in jobs]
        client.start_many(fences)
        client.renew_many([{**fence, "checkpoint": "half"} for fence in fences])
        client.progress(first.id, 0.5, worker="w", attempt=1)
        client.complete(**fences[0], result="ok")
        client.fail(**fences[1], error={"type": "PermanentError", "message": "no"})
        client.release(**fences[2])
        client.cancel(jobs[3].id, mode="hard")
        client.rerun(jobs[1].id)
        client.enqueue("scan", lifecycle="document", job_id="parked")
        client.submit("parked")
        client.reconcile()

        assert client.enqueue("scan", request_id="r1", dedupe_key="d", payload={"n": 1}).id == first.id
        assert client.verify().is_clean
        assert client.explain("parked")
        assert len(client.find(limit=100).items) == 7


def test_app_pauses_queues_reports_workers_and_keeps_schedules(cast_url: str) -> None:
    now = datetime.now(UTC)
    with opened(as_role(cast_url, "web"), tenant="fleet") as client:
        client.pause_queue("ocr")
        client.resume_queue("ocr")
        client.pause_queue("mail")
        for _ in range(2):
            client.report_worker("w1", host="h", pid=1, started_at=now, queues=["mail"])
        client.report_worker("w2", host="h", pid=2, started_at=now, queues=["mail"])
        client.forget_worker("w2")
        client.keep_schedules([{"name": name, "cron": "* * * * *", "kind": "scan", "next_at": now} for name in "ab"])
        client.pause_schedule("b")
        client.resume_schedule("b")
        client.forget_schedule("b")

        assert client.advance_schedule("a", expected=now, next_at=now + timedelta(minutes=1), job={"kind": "scan"})
    with opened(as_role(cast_url, "ann"), tenant="fleet") as reader:
        assert [(queue.name, queue.paused_at is None) for queue in reader.queues()] == [
            ("default", True),
            ("mail", False),
        ]
        assert [worker.name for worker in reader.workers()] == ["w1"]
        assert [schedule.name for schedule in reader.schedules()] == ["a"]
        with raises("store_read_only"):
            reader.pause_queue("ocr")
        with raises("store_read_only"):
            reader.pause_schedule("a")


def test_app_gives_out_tokens_and_revokes_them(cast_url: str) -> None:
    with opened(as_role(cast_url, "web"), tenant="fleet") as client:
        kept, lost = (client.create_token(name, scopes=["submit"]).token for name in ("kept", "lost"))
        client.revoke_token(lost.id)
    with opened(as_role(cast_url, "ann"), tenant="fleet") as reader:
        assert {token.id: token.revoked_at is None for token in reader.tokens()} == {kept.id: True, lost.id: False}
        with raises("store_read_only"):
            reader.create_token("own", scopes=["admin"])
        with raises("store_read_only"):
            reader.revoke_token(kept.id)


def test_app_registers_lifecycles_and_policies_of_its_own(cast_url: str) -> None:
    with opened(as_role(cast_url, "web"), lifecycles=[ARTICLE]) as client:
        job = client.enqueue("edit", lifecycle=ARTICLE.name, policy=Policy(lease_s=77))

        assert (job.lifecycle, job.policy.lease_s) == (ARTICLE.name, 77)


def test_app_takes_part_in_a_transaction_of_its_own(cast_url: str) -> None:
    with opened(as_role(cast_url, "web")) as client, client.transaction() as tx:
        assert client.enqueue("scan", tx=tx).state == "queued"


@pytest.mark.parametrize("verb", ["prune", "purge"])
@pytest.mark.parametrize("person", ["web", "ann"])
def test_who_may_not_remove_is_told_so(cast_url: str, person: str, verb: str) -> None:
    with opened(as_role(cast_url, person)) as client:
        ended = [job.id for job in client.find(phase="ended", limit=1)]
        with raises("store_read_only") as refused:
            client.prune(successes_s=0) if verb == "prune" else client.purge(ended)

        assert "this role may not do that; use the role that may" in str(refused.value)
        assert "detent_ended" in str(refused.value)
        assert client.get(ended[0]).phase == "ended"


def test_maintenance_removes_what_has_ended_and_nothing_else(cast_url: str) -> None:
    with opened(as_role(cast_url, "web"), tenant="old") as client:
        run_to_success(client, 5)
        client.enqueue("scan", job_id="alive")
    with opened(as_role(cast_url, "janitor"), tenant="old") as client:
        ended = [job.id for job in client.find(phase="ended")]
        purged = client.purge(ended[:2])
        pruned = client.prune(successes_s=0, others_s=0)
        with raises("store_read_only"):
            client.enqueue("scan")
        with raises("store_read_only"):
            client.cancel("alive")

        assert (purged.jobs, pruned.jobs, pruned.events) == (2, 3, 12)
        assert ids(client) == ["alive"]
        assert client.verify().is_clean


def test_reader_looks_at_everything_and_changes_nothing(cast_url: str) -> None:
    with opened(as_role(cast_url, "ann")) as client:
        job = client.find(phase="ended", limit=1).items[0]
        seen = [client.count()[()] > 20, client.history(job.id), client.explain("waiting"), client.events().items]
        with raises("store_read_only"):
            client.enqueue("scan")
        with raises("store_read_only"):
            client.claim(worker="w")
        with raises("store_read_only"):
            client.reconcile()

        assert all(seen)
        assert client.verify().is_clean
        assert client.replay().is_same
