"""Declaring jobs: what a function has to be, and what follows from its options. No store is touched."""

from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from detent import (
    App,
    Compensation,
    Context,
    Cron,
    DetentError,
    InvalidArgument,
    Lifecycle,
    Limit,
    PermanentError,
    Retry,
    TransientError,
)
from detent.app import EnqueueOptions, JobOptions
from detent.lifecycle import from_toml
from detent.runtime.handler import Handler
from tests.app import typed_calls

if TYPE_CHECKING:
    from tests.nowhere import Elsewhere  # type: ignore[import-not-found, import-untyped, unused-ignore]

ROOT = Path(__file__).parents[2]
ARTICLE = from_toml((ROOT / "docs/examples/article.toml").read_text(encoding="utf-8"))


def scan(path: str) -> None: ...


async def fetch(path: str) -> None: ...


def declare(function: Callable[..., Any] = scan, **options: Any) -> tuple[App, Any]:
    app = App()
    return app, app.job(**options)(function)


def handler_of(function: Callable[..., Any] = scan, **options: Any) -> Handler:
    app, _ = declare(function, **options)
    return app.handlers()[0]


def item_of(**options: Any) -> dict[str, Any]:
    _, job = declare(**options)
    item: dict[str, Any] = job.call("a.pdf").item
    return item


# -- what it is --------------------------------------------------------------------------------------------------------


def test_job_has_the_name_the_words_and_the_signature_of_its_function() -> None:
    job = typed_calls.extract

    assert (job.kind, job.__name__, job.__module__) == ("extract", "extract", typed_calls.__name__)  # type: ignore[attr-defined]
    assert repr(job) == "<JobFunction extract>"


def test_handler_is_what_a_worker_needs() -> None:
    handler = {each.kind: each for each in typed_calls.app.handlers()}["extract"]

    assert handler.function is typed_calls.extract.registration.function
    assert handler.wants_context
    assert handler.isolation == "async"
    assert handler.address == f"{typed_calls.__name__}:extract"
    assert handler.lifecycle == "standard"
    assert not handler.compensates


def test_context_is_known_by_its_type_wherever_it_is_named_so() -> None:
    def typed(job: Context, path: str) -> None: ...
    def quoted(job: "Context", path: str) -> None: ...
    def untyped(ctx, path: str) -> None: ...  # type: ignore[no-untyped-def]
    def without(path: str) -> None: ...

    assert [handler_of(each).wants_context for each in (typed, quoted, untyped, without)] == [True, True, True, False]


def test_context_that_only_the_type_checker_imports_is_understood() -> None:
    source = "def job(ctx: 'Context', path: 'str') -> None: ..."
    space: dict[str, Any] = {}
    exec(source, space)

    assert handler_of(space["job"]).wants_context


def test_function_runs_on_the_loop_if_it_is_async_and_in_a_thread_if_not() -> None:
    assert handler_of(fetch).isolation == "async"
    assert handler_of(scan).isolation == "thread"
    assert handler_of(scan, isolation="process").isolation == "process"
    assert handler_of(fetch, isolation="process").isolation == "process"


def test_handlers_can_be_asked_for_by_queue() -> None:
    app = App()
    app.job(queue="a")(scan)
    app.job(queue="b")(fetch)

    assert [each.kind for each in app.handlers()] == ["scan", "fetch"]
    assert [each.kind for each in app.handlers(["b", "c"])] == ["fetch"]


@pytest.mark.requirement("STD-19")
def test_compensation_is_on_the_record_with_all_that_its_job_needs() -> None:
    app = App()

    @app.job(queue="money", lifecycle="document", timeout_s=9)
    def refund(order: str, note: str = "") -> None: ...

    @app.job(compensate=refund)
    def charge(order: str) -> None: ...

    @app.job(compensate="elsewhere")
    def book(order: str) -> None: ...

    declared, by_kind = (each.policy and each.policy.compensate for each in app.registrations()[1:])

    assert declared == Compensation(
        kind="refund", queue="money", lifecycle="document", policy=app.registrations()[0].policy
    )
    assert by_kind == Compensation(kind="elsewhere")


@pytest.mark.requirement("STD-19")
def test_compensation_that_could_not_be_given_the_payload_is_refused() -> None:
    app = App()

    @app.job
    def refund(order: str, amount: int) -> None: ...

    def other(order: str, amount: int, currency: str) -> None: ...
    def fewer(order: str, amount: int = 5) -> None: ...

    with pytest.raises(InvalidArgument, match="has no parameter 'currency'"):
        app.job(compensate=refund)(other)
    with pytest.raises(InvalidArgument, match="needs 'amount', which may be missing there"):
        app.job(compensate=refund)(fewer)


@pytest.mark.requirement("STD-19")
def test_job_that_undoes_another_is_marked_as_such() -> None:
    app = App()

    @app.job
    def refund(order: str) -> None: ...

    @app.job(compensate=refund)
    def charge(order: str) -> None: ...

    @app.job(compensate="refund")
    def book(order: str) -> None: ...

    assert {each.kind: each.compensates for each in app.handlers()} == {"refund": True, "charge": False, "book": False}
    assert [each.compensate for each in app.registrations()] == [None, "refund", "refund"]


# -- options -----------------------------------------------------------------------------------------------------------


def test_defaults_are_those_of_the_client() -> None:
    item = item_of()

    assert (item["kind"], item["queue"], item["priority"], item["lifecycle"]) == ("scan", "default", 0, "standard")
    assert item["policy"] is None
    assert item["dedupe_key"] is None


@pytest.mark.requirement("STD-02", "STD-03", "STD-05", "STD-06")
def test_settings_make_the_policy_and_the_rest_is_as_the_lifecycle_has_it() -> None:
    policy = item_of(
        lifecycle="document", lease_s=90, timeout_s=300, grace_s=5, retry=Retry(max_attempts=4, base_s=0.5)
    )["policy"]

    assert (policy.lease_s, policy.heartbeat_s, policy.timeout_s, policy.grace_s) == (90, 30, 300, 5)
    assert policy.retry == Retry(max_attempts=4, base_s=0.5)
    kept = item_of(lifecycle="document", timeout_s=300)["policy"]
    assert kept.retry == Retry.fixed(delay_s=1, max_attempts=4)


@pytest.mark.requirement("DSP-04")
def test_priority_may_be_a_number_or_one_of_three_names() -> None:
    assert [item_of(priority=each)["priority"] for each in ("critical", "interactive", "batch", -3)] == [20, 10, 0, -3]


@pytest.mark.requirement("STD-20")
def test_errors_say_what_exceptions_mean_by_class_or_by_name() -> None:
    patient = Retry(max_attempts=10)

    policy = item_of(errors={ValueError: PermanentError, ConnectionError: patient, "Odd": TransientError})["policy"]

    assert policy.error_classes == {"ValueError": "PermanentError", "Odd": "TransientError"}
    assert policy.retry == Retry(by_error={"ConnectionError": patient})


def test_errors_are_added_to_those_of_the_retry() -> None:
    own = Retry(max_attempts=2, by_error={"Slow": Retry.never()})

    policy = item_of(retry=own, errors={OSError: Retry(max_attempts=7)})["policy"]

    assert policy.retry.max_attempts == 2
    assert policy.retry.by_error == {"Slow": Retry.never(), "OSError": Retry(max_attempts=7)}


def test_defaults_of_the_app_hold_unless_a_job_has_its_own() -> None:
    app = App(defaults={"queue": "slow", "lease_s": 90, "priority": "critical"})
    plain: Any = app.job(scan)
    own: Any = app.job(queue="quick", lease_s=45)(fetch)

    assert [plain.call("a").item[name] for name in ("queue", "priority")] == ["slow", 20]
    assert plain.call("a").item["policy"].lease_s == 90
    assert [own.call("a").item[name] for name in ("queue", "priority")] == ["quick", 20]
    assert own.call("a").item["policy"].lease_s == 45


def test_lifecycle_may_be_one_of_your_own() -> None:
    app = App(lifecycles=[ARTICLE])
    by_name: Any = app.job(lifecycle="article")(scan)
    itself: Any = App().job(lifecycle=ARTICLE)(scan)

    for job in (by_name, itself):
        item = job.call("a").item
        assert (item["lifecycle"], item["lifecycle_version"], item["policy"]) == ("article", 1, None)


def test_dedupe_key_follows_from_the_arguments_and_their_defaults() -> None:
    def render(scene: str, frame: int = 7) -> None: ...

    _, by_text = declare(render, dedupe="{scene}/{frame:03}")
    _, by_function = declare(render, dedupe=lambda scene, frame: f"{scene}-{frame}" if frame else None)

    assert by_text.call("a").item["dedupe_key"] == "a/007"
    assert by_function.call("a").item["dedupe_key"] == "a-7"
    assert by_function.call("a", frame=0).item["dedupe_key"] is None
    assert by_text.call("a", dedupe_key="mine").item["dedupe_key"] == "mine"


def test_limit_key_follows_from_the_arguments_and_their_defaults() -> None:
    def render(scene: str, customer: str = "acme") -> None: ...

    limit = Limit(concurrency_max=2)
    _, by_text = declare(render, limit=limit, limit_key="{customer}")
    _, by_function = declare(render, limit=limit, limit_key=lambda scene, customer: customer or None)
    _, by_kind = declare(render, limit=limit)

    assert by_text.call("a").item["limit_key"] == "acme"
    assert by_text.call("a").item["policy"].limit == limit
    assert by_function.call("a", customer="duck").item["limit_key"] == "duck"
    assert by_function.call("a", customer="").item["limit_key"] is None
    assert by_kind.call("a").item["limit_key"] is None
    assert by_text.call("a", limit_key="mine").item["limit_key"] == "mine"


def test_cron_is_kept_with_its_arguments() -> None:
    def tick() -> None: ...

    app, _ = declare(tick, cron="*/5 * * * *")
    with_arguments, _ = declare(cron=Cron("0 3 * * 1", {"path": "a"}))

    assert app.registrations()[0].cron == Cron("*/5 * * * *")
    assert with_arguments.registrations()[0].cron == Cron("0 3 * * 1", {"path": "a"})


def test_cron_becomes_the_job_that_a_worker_makes_at_each_tick() -> None:
    app, _ = declare(cron=Cron("0 3 * * 1", {"path": "a"}, zone="Europe/Berlin", late_max_s=60), queue="ocr")
    (job,) = app.cron()

    assert (job.name, job.cron, job.zone, job.late_max_s) == ("scan", "0 3 * * 1", "Europe/Berlin", 60)
    assert (job.job["kind"], job.job["queue"], job.job["payload"]) == ("scan", "ocr", {"path": "a"})


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"zone": "Mars/Olympus"}, "zone is 'Mars/Olympus'"),
        ({"zone": 5}, "zone is 5"),
        ({"late_max_s": 1}, "late_max_s is 1"),
    ],
)
def test_cron_that_cannot_be_kept_is_told_of_where_it_is_written(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        Cron("0 3 * * *", **given)

    assert said in str(refused.value)


def test_parameter_that_is_called_like_an_option_is_the_parameter() -> None:
    def notify(priority: str, queue: str = "") -> None: ...

    _, job = declare(notify)
    item = job.options(priority=5).call(priority="high", queue="a", delay_s=3).item

    assert item["payload"] == {"priority": "high", "queue": "a"}
    assert (item["priority"], item["queue"], item["delay_s"]) == (5, "default", 3)


# -- refusals ----------------------------------------------------------------------------------------------------------


def many(*paths: str) -> None: ...
def anything(**options: str) -> None: ...
def unnamed(path: str, /) -> None: ...
def late(path: str, ctx: Context) -> None: ...
def method(self: Any, path: str) -> None: ...
def opened(file: Iterator[str]) -> None: ...
def made() -> Path: ...  # type: ignore[empty-body]
def either(value: "int | App") -> None: ...
def elsewhere(value: "Elsewhere") -> None: ...
def stream() -> Iterator[int]:
    yield 1


async def astream() -> AsyncIterator[int]:
    yield 1


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (many, "'*paths: str' has no name in a payload"),
        (anything, "'**options: str' has no name in a payload"),
        (unnamed, "has no name in a payload"),
        (late, "parameter 'ctx' is the Context; make it the first"),
        (method, "it is a method"),
        (opened, "parameter 'file' has a type that no payload can hold (Iterator)"),
        (made, "what it returns has a type that no payload can hold (Path)"),
        (either, "parameter 'value' has a type that no payload can hold"),
        (elsewhere, "its annotations name 'Elsewhere', which is not there at run time"),
        (stream, "it yields"),
        (astream, "it yields"),
        (lambda: None, "give the job a name"),
        (ARTICLE, "cannot be a job; decorate a function"),
        (len, "cannot be a job; decorate a function"),
    ],
)
def test_function_that_cannot_be_a_job_is_refused_when_it_is_declared(function: Any, said: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        App().job(function)

    assert refused.value.code == "bad_job_function"
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"retries": 3}, "has no option 'retries'; did you mean 'retry'?"),
        ({"lifecycle": "documents"}, "there is no lifecycle 'documents'"),
        ({"isolation": "async"}, "would block the event loop"),
        ({"isolation": "fibre"}, "isolation is 'fibre'"),
        ({"priority": "urgent"}, "priority is 'urgent'; give a number, or one of critical, interactive, batch"),
        ({"priority": 5_000}, "priority is 5000"),
        ({"queue": ""}, "queue is empty"),
        ({"queue": 5}, "queue is 5; give a name"),
        ({"kind": 5}, "kind is 5"),
        ({"lease_s": 5}, "a lease lasts 30 to 120 s"),
        ({"lease_s": 40, "heartbeat_s": 25}, "two heartbeats must fit into a lease"),
        ({"timeouts": {"nowhere": 5}}, "no state of lifecycle 'standard'"),
        ({"errors": {ValueError: ValueError}}, "errors says that ValueError is"),
        ({"errors": {5: PermanentError}}, "errors has the key 5"),
        ({"errors": {ValueError: PermanentError, "ValueError": PermanentError}}, "two exceptions called ValueError"),
        ({"dedupe": "{pth}"}, "dedupe names '{pth}'; its parameters are path"),
        ({"dedupe": "{path"}, "dedupe is '{path'"),
        ({"dedupe": 5}, "dedupe is 5"),
        ({"limit_key": "{pth}"}, "limit_key names '{pth}'; its parameters are path"),
        ({"limit": 5}, "limit is 5"),
        ({"cron": "daily"}, "cron is 'daily'; give five fields"),
        ({"cron": "61 3 * * *"}, "cron is '61 3 * * *'; bad minute"),
        ({"cron": "0 3 * * *"}, "missing a required argument: 'path'"),
        ({"cron": Cron("0 3 * * *", {"path": 5})}, "path: Expected `str`, got `int`"),
        ({"compensate": 5}, "compensate is 5"),
        ({"adapters": "gpu"}, "adapters is 'gpu'; give a list"),
    ],
)
def test_option_that_makes_no_sense_is_refused_when_it_is_declared(options: Any, said: str) -> None:
    with pytest.raises(DetentError) as refused:
        App().job(**options)(scan)

    assert said in str(refused.value)


def test_process_needs_a_function_that_it_can_import() -> None:
    def local() -> None: ...

    with pytest.raises(InvalidArgument, match="declare it at the top of a module"):
        App().job(isolation="process")(local)


def test_coroutine_function_is_not_run_in_a_thread() -> None:
    with pytest.raises(InvalidArgument, match="runs a plain function"):
        App().job(isolation="thread")(fetch)


def test_second_function_of_a_kind_is_refused_and_the_first_stays() -> None:
    app = App()
    app.job(scan)

    with pytest.raises(InvalidArgument) as refused:
        app.job(kind="scan")(fetch)

    assert refused.value.code == "kind_taken"
    assert f"{scan.__module__}.scan" in str(refused.value)
    assert [each.function for each in app.handlers()] == [scan]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"url": "mysql://x"}, "names a store 'mysql'"),
        ({"url": "sqlite:///a.db", "speed": 1}, "has a setting speed=1"),
        ({"defaults": {"kind": "x"}}, "App(defaults=…) has no option 'kind'"),
        ({"lifecycles": [5]}, "lifecycles is 5; give a Lifecycle"),
    ],
)
def test_app_that_could_never_work_is_refused_where_it_is_made(given: Any, said: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        App(**given)

    assert said in str(refused.value)


def test_key_that_is_no_text_is_refused() -> None:
    _, job = declare(dedupe=lambda path: 5)

    with pytest.raises(InvalidArgument, match="dedupe= returned 5"):
        job.call("a")


def test_every_option_of_a_job_is_one_of_its_registration_or_its_policy() -> None:
    """So that none is accepted and then forgotten."""
    from detent.app.policies import OF_POLICY
    from detent.app.registration import Registration

    elsewhere = {"errors", "dedupe", "limit_key"}  # in the policy, and as `dedupe_key_of` and `limit_key_of`

    assert {*JobOptions.__annotations__} == {*OF_POLICY, *elsewhere} | (
        {*Registration.__struct_fields__} & {*JobOptions.__annotations__}
    )


def test_every_option_is_on_the_page_about_declaring_jobs() -> None:
    page = (ROOT / "docs/how-to/declare-jobs.md").read_text(encoding="utf-8")

    assert [
        name for name in (*JobOptions.__annotations__, *EnqueueOptions.__annotations__) if f"`{name}`" not in page
    ] == []


def test_lifecycles_known_to_an_app_are_its_own() -> None:
    App().job(lifecycle=ARTICLE)(scan)

    with pytest.raises(InvalidArgument, match="there is no lifecycle 'article'"):
        App().job(lifecycle="article")(scan)
    assert isinstance(ARTICLE, Lifecycle)
