"""A lifecycle with a hole is refused, in Python and in TOML alike, naming the state and what to do about it."""

from time import perf_counter

import pytest

from detent.errors import InvalidArgument, LifecycleError
from detent.lifecycle import SAME, Lifecycle, Policy, State, from_toml, move
from detent.lifecycle.problems import PROBLEMS
from detent.lifecycle.soundness import check_policy
from detent.lifecycles import BUILT_IN, CONTRACT, ENGINE
from tests.lifecycle.broken import ASIDE, HOLDING, OFF, SOUNDNESS, VOCABULARY, Case, back, enqueue_to, requeue
from tests.lifecycle.declarations import declaration, with_rows
from tests.lifecycle.toml_writer import as_toml

# Codes of declarations that cannot be built at all, or are built well and conflict with another.
OTHER_CODES = {"bad_type", "bad_toml", "unknown_key", "missing_key", "lifecycle_conflict"}


def ids(case: Case) -> str:
    return f"{case.code}-{case.names}"


def refusal_of(case: Case) -> LifecycleError:
    with pytest.raises(LifecycleError) as refused:
        Lifecycle(**case.declaration)
    return refused.value


@pytest.mark.requirement("ALL-02", "ALL-09", "ALL-10", "ALL-12")
@pytest.mark.parametrize("case", [*SOUNDNESS, *VOCABULARY], ids=ids)
def test_python_declaration_is_refused_naming_state_and_remedy(case: Case) -> None:
    refusal = refusal_of(case)

    messages = [message for code, message in refusal.problems if code == case.code]
    assert any(case.names in message and case.remedy in message for message in messages), refusal
    assert refusal.lifecycle == case.declaration["name"]


@pytest.mark.parametrize("case", SOUNDNESS, ids=ids)
def test_toml_declaration_is_refused_with_the_same_problems(case: Case) -> None:
    with pytest.raises(LifecycleError) as refused:
        from_toml(as_toml(case.declaration))

    assert refused.value.problems == refusal_of(case).problems


@pytest.mark.parametrize("case", VOCABULARY, ids=ids)
def test_toml_declaration_with_an_unknown_word_is_refused_under_the_same_code(case: Case) -> None:
    with pytest.raises(LifecycleError) as refused:
        from_toml(as_toml(case.declaration))

    assert refused.value.code == case.code
    assert case.remedy in str(refused.value)


@pytest.mark.parametrize("case", [*SOUNDNESS, *VOCABULARY], ids=ids)
def test_every_problem_says_what_is_wrong_and_then_what_to_do(case: Case) -> None:
    for code, message in refusal_of(case).problems:
        wrong, _, remedy = message.partition("; ")

        assert wrong
        assert remedy, f"{code}: {message}"


def test_every_code_is_shown_by_a_broken_lifecycle() -> None:
    shown = {case.code for case in (*SOUNDNESS, *VOCABULARY)}

    assert shown | OTHER_CODES == set(PROBLEMS)


def test_end_that_only_the_owner_can_declare_does_not_answer_a_time_limit() -> None:
    with pytest.raises(LifecycleError) as refused:
        Lifecycle(**with_rows(back("time_out"), move("working", "fail", "broken", by="owner")))

    assert refused.value.code == "no_used_up_answer"
    assert "by the reconciler" in str(refused.value)


def test_all_problems_of_a_kind_are_reported_at_once() -> None:
    with pytest.raises(LifecycleError) as refused:
        Lifecycle(**with_rows(ASIDE, OFF, without="expire"))

    codes = [code for code, _ in refused.value.problems]
    assert codes == ["no_expiry_answer", *["unreachable_state"] * 3, "no_path_to_end"]
    assert refused.value.code == "no_expiry_answer"


@pytest.mark.parametrize(
    "rows",
    [
        (),
        (back("expire"),),
        (back("time_out"), move("working", "fail", "broken", by="owner, reconciler")),
        (back("time_out"), move("working", "dead_letter", "broken", by="reconciler")),
        (ASIDE, back("stall", to="aside"), requeue("system, operator")),
        (ASIDE, back("stall", to="aside"), requeue("reconciler, client")),
        (move("working", "approve", "done", by="operator"),),
        (move("waiting", "approve", SAME, by="operator"),),
        (OFF, move("waiting, working", "cancel", "off", by="client")),
        (OFF, move("working", "cancel", "off", by="client"), move("working", "request_cancel", SAME, by="operator")),
    ],
)  # fmt: skip
def test_sound_variation_is_accepted(rows: tuple[State, ...]) -> None:
    lifecycle = Lifecycle(**with_rows(*rows))

    assert lifecycle.table.start.leg.state.name == "waiting"


def test_policy_gate_is_sound_where_what_is_scheduled_can_be_denied() -> None:
    gate = (ASIDE, enqueue_to("aside"), move("aside", "schedule", "waiting", by="scheduler"))

    assert Lifecycle(**with_rows(*gate, move("waiting", "deny", "broken", by="scheduler"), without="enqueue"))


def test_held_state_needs_its_own_answer_to_expiry() -> None:
    rows = (HOLDING, move("waiting", "claim", "holding", by="worker"), move("holding", "start", "working", by="owner"))

    with pytest.raises(LifecycleError, match="'holding' is leased") as refused:
        Lifecycle(**with_rows(*rows, without="claim"))

    assert refused.value.code == "no_expiry_answer"


@pytest.mark.requirement("ALL-12")
def test_job_limit_without_an_answer_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="'queued' has a time limit") as refused:
        check_policy(CONTRACT, Policy(timeouts={"queued": 5}))

    assert refused.value.code == "no_timeout_answer"
    check_policy(CONTRACT, Policy(timeout_s=5))
    check_policy(ENGINE, Policy(timeouts={"queued": 5}))


@pytest.mark.alone
@pytest.mark.parametrize("name", BUILT_IN)
def test_building_a_lifecycle_takes_at_most_five_milliseconds(name: str) -> None:
    fields = {field: getattr(BUILT_IN[name], field) for field in Lifecycle.__struct_fields__}

    # The best of several: what the machine does beside it is not the check's doing.
    assert min(_seconds_to_build(fields) for _ in range(5)) <= 0.005


def _seconds_to_build(fields: dict[str, object]) -> float:
    began = perf_counter()
    Lifecycle(**fields)  # type: ignore[arg-type]
    return perf_counter() - began


def test_smallest_lifecycle_is_sound_in_both_notations() -> None:
    assert from_toml(as_toml(declaration())).digest == Lifecycle(**declaration()).digest
