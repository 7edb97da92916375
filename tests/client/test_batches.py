"""Batches from untrusted callers: each item stands or falls by itself, and none can say what is not its to say."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent import Policy
from detent.client import Job
from detent.client.sync import run
from detent.errors import InvalidArgument, NotFound, Refused
from tests.chance import examples
from tests.client.arguments import ENDLESS, NAN, Odd
from tests.client.places import Place
from tests.client.test_fuzz import anything, calls
from tests.client.world import CODES, World

MANY = ("enqueue_many", "start_many", "renew_many", "complete_many", "fail_many")
BAD_ITEMS = [
    5,
    None,
    "x",
    b"x",
    [],
    ["kind"],
    Odd(),
    NAN,
    ENDLESS,
    {1: 2},
    {"nonsense": 1},
    {None: None},
    {"": ""},
    {("a",): 1},
]


@pytest.mark.parametrize("verb", MANY)
@pytest.mark.parametrize("item", BAD_ITEMS, ids=lambda item: type(item).__name__)
def test_item_that_is_wrong_in_itself_is_answered_in_its_place(fresh: World, verb: str, item: Any) -> None:
    fresh.prepare("running", "held")
    good: dict[str, Any] = {"job_id": "held" if verb == "start_many" else "running", "worker": "w", "attempt": 1}
    if verb == "fail_many":
        good["error"] = {"type": "TransientError"}
    if verb == "enqueue_many":
        good = {"kind": "scan"}

    first, second, third = getattr(fresh.blocking, verb)([item, good, item])

    assert isinstance(first, InvalidArgument)
    assert isinstance(second, Job)
    assert isinstance(third, InvalidArgument)


@pytest.mark.parametrize("verb", MANY)
def test_unknown_key_of_an_item_is_an_invalid_argument(fresh: World, verb: str) -> None:
    fresh.prepare("running")
    good = {"kind": "scan"} if verb == "enqueue_many" else {"job_id": "running", "worker": "w", "attempt": 1}
    before = fresh.version()

    (answer,) = getattr(fresh.blocking, verb)([good | {"prioritty": 1}])

    assert isinstance(answer, InvalidArgument)
    assert answer.code in CODES
    assert fresh.version() == before


@pytest.mark.parametrize(
    "key",
    ["state", "phase", "rev", "owner", "lease_expires_at", "claim_at", "created_at", "failures", "crashes", "retries",
     "result", "error", "checkpoint", "progress", "rerun_of", "verdict", "order_at", "spec", "payload_digest", "tag",
     "job", "number", "__class__", "self", "items"],
)  # fmt: skip
def test_new_job_s_record_is_not_its_maker_s_to_say(fresh: World, key: str) -> None:
    before = fresh.version()

    (answer,) = fresh.blocking.enqueue_many([{"kind": "scan", key: 1}])

    assert isinstance(answer, InvalidArgument)
    assert fresh.version() == before


@pytest.mark.parametrize("key", ["attempt", "expected_rev", "worker", "verb", "tx"])
def test_what_other_verbs_take_has_no_effect_on_a_new_job(fresh: World, key: str) -> None:
    """Refused or ignored: the job is as any other."""
    values = {"attempt": 7, "expected_rev": 9, "worker": "w", "verb": "enqueue", "tx": None}

    (answer,) = fresh.blocking.enqueue_many([{"kind": "scan", key: values[key]}])

    if isinstance(answer, Job):
        (event,) = fresh.blocking.history(answer.id)
        assert (answer.attempt, answer.rev, answer.owner, answer.state) == (0, 1, None, "queued")
        assert (event.actor, event.role, event.worker) == ("client", "client", None)
    else:
        assert isinstance(answer, InvalidArgument)


@pytest.mark.requirement("ALL-18")
@pytest.mark.parametrize("is_batch", [True, False])
def test_client_of_one_tenant_makes_no_jobs_in_another(fresh: World, is_batch: bool) -> None:
    """`connect(tenant=)` scopes every verb; a caller who fills in the arguments cannot leave it."""
    client = fresh.beside(tenant="acme")
    if is_batch:
        (answer,) = client.enqueue_many([{"kind": "scan", "job_id": "a", "tenant": "other"}])
        assert isinstance(answer, InvalidArgument)
    else:
        with pytest.raises(InvalidArgument, match="acme"):
            client.enqueue("scan", job_id="a", tenant="other")

    assert fresh.beside(tenant="other").find().items == []


def test_client_of_the_default_tenant_may_make_jobs_for_others(fresh: World) -> None:
    fresh.blocking.enqueue("scan", job_id="a", tenant="acme")

    assert fresh.beside(tenant="acme").get("a").tenant == "acme"
    assert fresh.blocking.find().items == []


def test_client_s_own_tenant_may_be_named(fresh: World) -> None:
    assert fresh.blocking.enqueue("scan", tenant="default").tenant == "default"


def test_bad_settings_of_one_item_do_not_fail_the_others(fresh: World) -> None:
    impossible = Policy(timeouts={"nowhere": 1.0})

    first, second = fresh.blocking.enqueue_many([{"kind": "scan", "policy": impossible}, {"kind": "scan"}])

    assert isinstance(first, InvalidArgument)
    assert isinstance(second, Job)


def test_answers_of_a_batch_are_in_the_order_of_its_items(fresh: World) -> None:
    fresh.prepare("running", "ended")
    who = {"worker": "w", "attempt": 1}
    items = [
        {"job_id": "nobody", **who},
        {"job_id": "running", **who},
        {"job_id": "", **who},
        {"job_id": "ended", **who},
        {"job_id": "running", **who},
    ]

    answers = fresh.blocking.complete_many(items)

    kinds = [type(answer) for answer in answers]
    assert kinds == [NotFound, Job, InvalidArgument, Refused, Refused]


def test_large_payloads_are_found_in_a_batch(fresh: World) -> None:
    payload = "x" * 100_000
    for job_id in ("a", "b"):
        fresh.blocking.enqueue("scan", payload, job_id=job_id)
    fresh.blocking.claim(worker="w", limit=2, start=True)
    fresh.blocking.prune()

    answers = fresh.blocking.complete_many([{"job_id": each, "worker": "w", "attempt": 1} for each in ("a", "b")])

    assert [answer.state for answer in answers if isinstance(answer, Job)] == ["succeeded", "succeeded"]


def test_batch_of_nothing_is_nothing(fresh: World) -> None:
    assert [getattr(fresh.blocking, verb)([]) for verb in MANY] == [[]] * len(MANY)


def test_batch_of_more_than_fit_is_refused_whole(fresh: World) -> None:
    before = fresh.version()

    with pytest.raises(InvalidArgument):
        fresh.blocking.enqueue_many({"kind": "scan"} for _ in range(10_001))

    assert fresh.version() == before


def test_what_was_said_in_a_batch_is_noted_in_the_order_it_was_said(fresh: World) -> None:
    """A result that came too late is refused, and kept before what was said after it."""
    fresh.prepare("running")
    late = {"job_id": "running", "worker": "w", "attempt": 0, "result": 1}
    request = fresh.client._request
    say = request("progress", "running", {"worker": "w", "attempt": 1, "progress": {"fraction": 0.5}})
    run(fresh.client.store.apply([request("complete", "running", {**late, "job_id": None}), say]))

    assert [note.kind for note in fresh.blocking.notes("running")] == ["late_result", "progress"]


items = st.lists(
    st.one_of(calls("enqueue"), anything, st.dictionaries(st.text(max_size=8), anything, max_size=4)), max_size=5
)


@settings(max_examples=examples(40))
@given(given_items=items)
def test_whatever_the_items_each_is_answered(new_place: Callable[[], Place], given_items: list[Any]) -> None:
    world = World(new_place())
    try:
        answers = world.blocking.enqueue_many(given_items)
        report = world.blocking.verify(all_tenants=True)
    finally:
        world.close()

    assert len(answers) == len(given_items)
    assert all(isinstance(answer, Job) or answer.code in CODES for answer in answers)
    assert report.is_clean


def test_verbs_of_any_kind_are_carried_out_in_one_transaction_each_answered_by_itself(fresh: World) -> None:
    items = [
        {"verb": "enqueue", "kind": "scan", "job_id": "a"},
        {"verb": "dance", "job_id": "a"},
        {"verb": "cancel", "job_id": "nobody"},
        {"verb": "cancel", "job_id": "a", "mode": "hard"},
    ]
    made, wrong, missing, cancelled = run(fresh.client.apply(items))

    assert isinstance(made, Job)
    assert isinstance(cancelled, Job)
    assert (made.id, cancelled.state) == ("a", "cancelled")
    assert [getattr(each, "code", None) for each in (wrong, missing)] == ["unknown_verb", "not_found"]
