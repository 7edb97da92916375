"""Making jobs of calls: what stands on the record then, alone, in batches, and in transactions of the caller's."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from detent import App, DetentError, InvalidArgument, JobHandle, Refused, Retry
from detent.testing import Trial


@dataclass
class Page:
    number: int


def declare(app: App, **options: Any) -> Any:
    @app.job(**options)
    def scan(path: str, page: Page | None = None) -> dict[str, Any]:
        return {"path": path}

    return scan


def test_job_is_kept_as_it_was_declared_and_called(app: App) -> None:
    scan = declare(app, queue="ocr", priority="interactive", lease_s=90, retry=Retry(max_attempts=2))

    job = scan.enqueue("a.pdf", page=Page(3)).job()

    assert (job.kind, job.queue, job.priority, job.state) == ("scan", "ocr", 10, "queued")
    assert job.payload == {"path": "a.pdf", "page": {"number": 3}}
    assert (job.policy.lease_s, job.policy.retry.max_attempts) == (90, 2)


def test_options_of_a_call_come_before_those_of_the_declaration(app: App) -> None:
    scan = declare(app, queue="ocr", priority="interactive")
    at = datetime(2030, 1, 1, tzinfo=UTC)

    job = scan.enqueue(
        "a.pdf", priority="critical", queue="urgent", run_at=at, correlation_id="c", trace_id="t", job_id="42",
        parent_job_id="p", workflow_id="w", step_index=3, topic="job.scan", context_ptr="s3://a", adapter_id="gpu",
        env={"region": "eu"}, actor="ann", reason="asked to", request_id="r",
    ).job()  # fmt: skip

    assert (job.id, job.priority, job.queue, job.run_at) == ("42", 20, "urgent", at)
    assert (job.correlation_id, job.trace_id, job.parent_job_id, job.workflow_id) == ("c", "t", "p", "w")
    assert (job.step_index, job.topic, job.context_ptr, job.adapter_id) == (3, "job.scan", "s3://a", "gpu")
    assert job.env == {"region": "eu"}
    (first,) = app.handle("42").history()
    assert (first.actor, first.cause, first.request_id) == ("ann", "asked to", "r")


def test_delay_is_counted_from_the_stores_clock(app: App) -> None:
    job = declare(app).enqueue("a.pdf", delay_s=60).job()

    assert job.run_at == job.created_at + timedelta(seconds=60)


def test_actor_that_is_called_like_a_role_is_only_an_actor(app: App) -> None:
    (first,) = declare(app).enqueue("a.pdf", actor="worker").history()

    assert (first.actor, first.role) == ("worker", "client")


def test_document_is_submitted_in_the_same_transaction(app: App) -> None:
    handle = declare(app, lifecycle="document").enqueue("a.pdf")

    first, second = handle.history()
    assert (first.to_state, second.to_state) == ("CREATED", "QUEUED")
    assert first.at == second.at


def test_job_of_dispatch_waits_for_its_verdict(app: App) -> None:
    assert declare(app, lifecycle="dispatch").enqueue("a.pdf").state == "PENDING"


def test_live_job_of_a_dedupe_key_is_answered_with(jobs: Trial) -> None:
    scan = declare(jobs.app, dedupe="{path}")

    first, second, other = scan.enqueue("a.pdf"), scan.enqueue("a.pdf"), scan.enqueue("b.pdf")

    assert (first.answer, second.answer, other.answer) == ("applied", "duplicate", "applied")
    assert second == first
    assert other != first
    jobs.drain()
    assert scan.enqueue("a.pdf").answer == "applied"


def test_repeated_request_makes_no_second_job(app: App) -> None:
    scan = declare(app)

    first, again = scan.enqueue("a.pdf", request_id="r"), scan.enqueue("a.pdf", request_id="r")

    assert (again.id, again.answer) == (first.id, "repeat")
    with pytest.raises(Refused) as refused:
        scan.enqueue("b.pdf", request_id="r")
    assert refused.value.code == "request_conflict"


def test_wrong_call_leaves_nothing_behind(app: App) -> None:
    scan = declare(app)

    with pytest.raises(InvalidArgument) as refused:
        scan.enqueue("a.pdf", page=Page("three"))  # type: ignore[arg-type]

    assert "page.number: Expected `int`, got `str`" in str(refused.value)
    assert app.client().count() == {(): 0}


def test_wrong_option_is_refused_by_the_client(app: App) -> None:
    with pytest.raises(InvalidArgument, match="delay_s"):
        declare(app).enqueue("a.pdf", delay_s=-1)


# -- batches -----------------------------------------------------------------------------------------------------------


def test_batch_is_one_transaction_with_a_handle_for_each_call(app: App) -> None:
    scan = declare(app)

    handles = scan.enqueue_many(scan.call(f"{n}.pdf") for n in range(3))

    assert [handle.job().payload["path"] for handle in handles] == ["0.pdf", "1.pdf", "2.pdf"]


def test_call_that_is_refused_is_answered_with_its_error_and_stops_no_other(app: App) -> None:
    scan = declare(app)

    taken, refused, other = scan.enqueue_many(
        [scan.call("a", job_id="42"), scan.call("b", job_id="42"), scan.options(priority=3).call("c")]
    )

    assert (taken.id, other.job().priority) == ("42", 3)
    assert isinstance(refused, DetentError)
    assert refused.code == "job_exists"


def test_calls_of_several_types_can_be_made_together(app: App) -> None:
    scan = declare(app)

    @app.job(queue="mail")
    async def tell(name: str) -> None: ...

    handles = app.enqueue_many([scan.call("a"), tell.call("ann")])

    assert [handle.job().kind for handle in handles if isinstance(handle, JobHandle)] == ["scan", "tell"]


def test_transaction_of_a_call_in_a_batch_is_refused(app: App) -> None:
    scan = declare(app)

    with app.transaction() as tx, pytest.raises(InvalidArgument, match="enqueue_many"):
        scan.call("a", tx=tx)


# -- transactions ------------------------------------------------------------------------------------------------------


def enqueue_and_roll_back(app: App, scan: Any) -> Any:
    try:
        with app.transaction() as tx:
            handle = scan.enqueue("d", tx=tx)
            raise RuntimeError("no")
    except RuntimeError:
        return handle


def test_job_is_there_if_and_only_if_the_transaction_commits(app: App) -> None:
    scan = declare(app)

    with app.transaction() as tx:
        kept = scan.enqueue("a", tx=tx)
        kept_too = scan.options(tx=tx).enqueue("b")
        (in_batch,) = scan.enqueue_many([scan.call("c")], tx=tx)
    lost = enqueue_and_roll_back(app, scan)

    assert [handle.state for handle in (kept, kept_too, in_batch)] == ["queued"] * 3
    with pytest.raises(DetentError) as missing:
        lost.job()
    assert missing.value.code == "not_found"


def test_transaction_on_an_event_loop(app: App) -> None:
    scan = declare(app)

    async def both() -> str:
        async with app.atransaction() as tx:
            handle = await scan.aenqueue("a", tx=tx)
        state: str = await handle.astate()
        return state

    assert asyncio.run(both()) == "queued"


# -- tenants -----------------------------------------------------------------------------------------------------------


@pytest.mark.requirement("ALL-18")
def test_job_of_another_tenant_is_that_tenants_and_its_handle_finds_it(app: App) -> None:
    scan = declare(app, tenant="acme")

    declared, called = scan.enqueue("a"), scan.enqueue("b", tenant="other")

    assert (declared.tenant, called.tenant) == ("acme", "other")
    assert (declared.job().tenant, called.job().tenant) == ("acme", "other")
    assert called.cancel().state == "cancelled"
    assert len(called.history()) == 2
    assert app.client().count() == {(): 0}
    assert scan.handle(declared.id).state == "queued"


@pytest.mark.requirement("ALL-18")
def test_app_of_one_tenant_makes_no_jobs_for_another(url: str) -> None:
    with App(url, tenant="acme") as app:
        scan = declare(app)

        assert scan.enqueue("a").tenant == "acme"
        with pytest.raises(InvalidArgument, match="tenant 'acme'"):
            scan.enqueue("a", tenant="other")
