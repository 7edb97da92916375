"""TOML says the same as Python, in the same words; what it says wrongly is refused with its place and a remedy."""

from typing import Any

import msgspec
import pytest

from detent.errors import LifecycleError
from detent.lifecycle import Lifecycle, Policy, Retry, State, from_toml, move
from detent.lifecycle.digest import digest_of
from detent.lifecycles import BUILT_IN, STANDARD
from tests.lifecycle.declarations import declaration, with_rows
from tests.lifecycle.toml_writer import as_toml

TINY = """
name = "tiny"
version = 1
states = [
    {name = "waiting", phase = "ready"},
    {name = "working", phase = "active"},
    {name = "done", phase = "ended", outcome = "success"},
    {name = "broken", phase = "ended", outcome = "failure"},
]

[[moves]]
verb = "enqueue"
to = "waiting"
by = ["client"]

[[moves]]
from = ["waiting"]
verb = "claim"
to = "working"
by = ["worker"]

[[moves]]
from = ["working"]
verb = "complete"
to = "done"
by = ["owner"]

[[moves]]
from = ["working"]
verb = "expire"
to = "broken"
by = ["reconciler"]
"""


def refusal_of(text: str) -> LifecycleError:
    with pytest.raises(LifecycleError) as refused:
        from_toml(text)
    return refused.value


def test_toml_gives_the_lifecycle_that_python_gives() -> None:
    assert from_toml(TINY) == Lifecycle(**declaration())


@pytest.mark.requirement("ALL-14")
@pytest.mark.parametrize("lifecycle", BUILT_IN.values(), ids=list(BUILT_IN))
def test_digest_survives_toml_and_json(lifecycle: Lifecycle) -> None:
    through_json = msgspec.json.decode(msgspec.json.encode(lifecycle), type=Lifecycle)

    assert from_toml(as_toml(lifecycle)).digest == lifecycle.digest
    assert through_json.digest == lifecycle.digest


def test_sources_and_roles_may_be_one_string_as_in_python() -> None:
    rows = """
    [[moves]]
    from = "waiting, working"
    verb = "fail"
    to = "broken"
    by = "system, control plane"
    """
    in_python = with_rows(move("waiting, working", "fail", "broken", by="system, control plane"))

    assert from_toml(TINY + rows).digest == Lifecycle(**in_python).digest


def test_words_for_several_roles_may_stand_in_a_list() -> None:
    lifecycle = from_toml(TINY.replace('by = ["client"]', 'by = ["client", "control plane", "system"]'))

    assert lifecycle.moves[0].by == ("client", "operator", "gateway", "reconciler", "scheduler")


def test_enqueue_may_name_its_source_as_in_python() -> None:
    assert from_toml(TINY.replace('verb = "enqueue"', 'verb = "enqueue"\nfrom = "-"')).digest == from_toml(TINY).digest


@pytest.mark.requirement("ALL-14")
@pytest.mark.parametrize(
    "change",
    [
        {"version": 2},
        {"name": "other"},
        {"requires_rev": True},
        {"events": {"claim": "job_taken"}},
        {"aliases": {"old": "waiting"}},
        {"defaults": Policy(lease_s=90)},
        {"defaults": Policy(retry=Retry(max_attempts=4))},
        {"defaults": Policy(error_classes={"KeyError": "PermanentError"})},
        {"states": with_rows(State("done", "ended", "success", event="finished"))["states"]},
        {"moves": with_rows(move("working", "fail", "broken", by="owner"))["moves"]},
    ],
)
def test_other_content_has_another_digest(change: dict[str, Any]) -> None:
    assert Lifecycle(**declaration(**change)).digest != Lifecycle(**declaration()).digest


@pytest.mark.parametrize("change", [{"summary": "In other words."}, {"defaults": Policy(lease_s=60)}, {"events": {}}])
def test_what_changes_no_rule_changes_no_digest(change: dict[str, Any]) -> None:
    assert Lifecycle(**declaration(**change)).digest == Lifecycle(**declaration()).digest


def test_digest_tells_numbers_apart_but_not_their_notations() -> None:
    def digest(lease_s: float) -> str:
        return digest_of(Policy(lease_s=lease_s), leave_out="")

    assert digest(60) == digest(60.0)
    assert digest(60) != digest(60.5)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("colour = 'red'\n" + TINY, "colour"),
        (TINY.replace('phase = "ready"', 'phase = "ready", colour = "red"'), "states[0]"),
        (TINY.replace('to = "done"', 'to = "done"\ncolour = "red"'), "moves[2]"),
        (TINY + "[defaults]\ncolour = 'red'", "defaults"),
        (TINY + "[defaults.retry]\ncolour = 'red'", "defaults.retry"),
        (TINY + "[defaults.retry.by_error.KeyError]\ncolour = 'red'", "by_error"),
        (TINY.replace('verb = "claim"', 'verb = "claim"\nsources = ["waiting"]'), "sources"),
    ],
)
def test_unknown_key_is_refused_at_every_level(text: str, place: str) -> None:
    refusal = refusal_of(text)

    assert refusal.code == "unknown_key"
    assert refusal.lifecycle == "tiny"
    assert place in str(refusal)
    assert "remove the key or mend its spelling" in str(refusal)


@pytest.mark.parametrize(
    ("old", "new", "code", "place"),
    [
        ('name = "tiny"', "", "missing_key", "`name`"),
        ('to = "done"', "", "missing_key", "`to`"),
        (', phase = "ready"', "", "missing_key", "states[0]"),
        ("version = 1", 'version = "1"', "bad_type", "version"),
        ("version = 1", "version = 1.5", "bad_type", "version"),
        ('by = ["owner"]', "by = 5", "bad_type", "moves[2].by"),
        ('by = ["owner"]', "by = [5]", "bad_type", "moves[2].by"),
        ('from = ["waiting"]', "from = 5", "bad_type", "moves[1].from"),
        ('"ready"', '"raedy"', "unknown_phase", "states[0].phase"),
        ('"success"', '"won"', "unknown_outcome", "states[2].outcome"),
        ('"claim"', '"clam"', "unknown_verb", "moves[1].verb"),
        ('["worker"]', '["wroker"]', "unknown_role", "moves[1].by[0]"),
        ('["worker"]', '"wroker"', "unknown_role", "moves[1].by[0]"),
        ("version = 1", 'version = 1\non_expiry = "lose"', "bad_answer", "on_expiry"),
    ],
)  # fmt: skip
def test_what_is_no_declaration_is_refused_at_its_place(old: str, new: str, code: str, place: str) -> None:
    refusal = refusal_of(TINY.replace(old, new))

    assert refusal.code == code
    assert place in str(refusal)
    assert "; " in refusal.problems[0][1]


@pytest.mark.parametrize("text", ["name = \n", "{}", "[[moves]\n", "name = 'a'\nname = 'b'\n"])
def test_what_is_not_toml_is_refused_with_its_line(text: str) -> None:
    refusal = refusal_of(text)

    assert refusal.code == "bad_toml"
    assert "line" in str(refusal)


def test_moves_that_are_no_list_are_refused() -> None:
    assert refusal_of("name = 'a'\nversion = 1\nstates = []\nmoves = 5").code == "bad_type"
    assert refusal_of("name = 'a'\nversion = 1\nstates = []\nmoves = [5]").code == "bad_type"


@pytest.mark.parametrize(
    ("settings", "code"),
    [
        ("lease_s = 5", "lease_out_of_range"),
        ("lease_s = 30\nheartbeat_s = 20", "heartbeat_too_long"),
        ("grace_s = -1", "invalid_argument"),
    ],
)
def test_defaults_out_of_bounds_are_refused_under_their_own_code(settings: str, code: str) -> None:
    refusal = refusal_of(TINY + f"[defaults]\n{settings}")

    assert refusal.code == code
    assert refusal.lifecycle == "tiny"
    assert "defaults: " in str(refusal)


def test_standard_in_toml_is_standard() -> None:
    assert from_toml(as_toml(STANDARD)) == STANDARD
