"""The pictures show every move, and nothing that is not declared."""

import re

import pytest

from detent.lifecycle import Lifecycle, State, move
from detent.lifecycle.describe import rows
from detent.lifecycle.diagram import as_mermaid, as_text
from detent.lifecycles import BUILT_IN, CONTRACT
from tests.lifecycle.broken import back
from tests.lifecycle.declarations import declaration, with_rows

# (from, verb, to, is it recovery)
Drawn = tuple[str | None, str, str | None, bool]

ALL = pytest.mark.parametrize("lifecycle", BUILT_IN.values(), ids=list(BUILT_IN))


def declared(lifecycle: Lifecycle) -> set[Drawn]:
    return {(row["from"], row["verb"], row["to"], row["recovery"]) for row in rows(lifecycle)}


def read_text(picture: str) -> set[Drawn]:
    """What a reader of the picture would say is possible."""
    drawn: set[Drawn] = set()
    state: str | None = None
    for line in picture.splitlines():
        arrow = re.fullmatch(r" +(●)? ?[─┄]{2} (?P<verbs>[^─┄]+) [─┄]+(▶ (?P<to>\S+)|↺)(?P<back> \(recovery\))?", line)
        named = re.match(r"(parked|ready|held|active) +(?P<state>\S+)", line)
        if named:
            state = named["state"]
        if arrow:
            target = arrow["to"] or state
            drawn |= {(state, verb, target, bool(arrow["back"])) for verb in arrow["verbs"].split(", ")}
    return drawn


def read_mermaid(picture: str) -> set[Drawn]:
    names = dict(re.findall(r'state "(\S+) \(\w+\)" as (\w+)', picture))
    ids = {id_: name for name, id_ in names.items()}
    arrows = re.findall(r"(\S+) --> (\w+) : (.+?)( \(recovery\))?$", picture, re.MULTILINE)
    return {
        (ids.get(source), verb, ids[target], bool(back))
        for source, target, verbs, back in arrows
        for verb in verbs.split(", ")
    }


@ALL
def test_text_shows_exactly_the_moves_that_exist(lifecycle: Lifecycle) -> None:
    assert read_text(as_text(lifecycle)) == declared(lifecycle)


@ALL
def test_mermaid_shows_exactly_the_moves_that_exist(lifecycle: Lifecycle) -> None:
    assert read_mermaid(as_mermaid(lifecycle)) == declared(lifecycle)


@ALL
def test_text_names_every_end_with_its_outcome(lifecycle: Lifecycle) -> None:
    ends = [tuple(line.split()[1:]) for line in as_text(lifecycle).splitlines() if line.startswith("ended")]

    assert ends == [(state.name, state.outcome) for state in lifecycle.states if state.phase == "ended"]


@ALL
def test_mermaid_leads_every_end_out(lifecycle: Lifecycle) -> None:
    ends = sum(state.phase == "ended" for state in lifecycle.states)

    assert as_mermaid(lifecycle).startswith("stateDiagram-v2\n")
    assert as_mermaid(lifecycle).count("--> [*]\n") == ends


@ALL
def test_text_fits_a_terminal(lifecycle: Lifecycle) -> None:
    assert max(map(len, as_text(lifecycle).splitlines())) <= 80


@ALL
def test_pictures_depend_on_the_declaration_alone(lifecycle: Lifecycle) -> None:
    twin = Lifecycle(**{field: getattr(lifecycle, field) for field in Lifecycle.__struct_fields__})

    assert as_text(twin) == as_text(lifecycle)
    assert as_mermaid(twin) == as_mermaid(lifecycle)


def test_text_of_a_small_lifecycle_reads_as_a_picture() -> None:
    too_late = move("waiting", "time_out", "broken", by="reconciler")
    lifecycle = Lifecycle(**with_rows(State("waiting", "ready", timeout_s=30), back("expire"), too_late))

    assert as_text(lifecycle) == (
        "tiny v1\n"
        "\n"
        "        ● ── enqueue ──▶ waiting\n"
        "\n"
        "ready   waiting (at most 30 s)\n"
        "        ── claim ─────▶ working\n"
        "        ── time_out ──▶ broken\n"
        "\n"
        "active  working\n"
        "        ── complete ──▶ done\n"
        "        ── expire ────▶ broken\n"
        "        ┄┄ expire ┄┄┄┄▶ waiting (recovery)\n"
        "\n"
        "ended   done    success\n"
        "ended   broken  failure\n"
    )


def test_mermaid_draws_states_named_like_its_own_words() -> None:
    renamed = declaration(
        states=(State("end", "ready"), State("in-work", "active"), State("state", "ended", "success")),
        moves=(
            move("-", "enqueue", "end", by="client"),
            move("end", "claim", "in-work", by="worker"),
            move("in-work", "complete", "state", by="owner"),
            move("in-work", "expire", "end", by="reconciler", recovery=True),
            move("in-work", "fail", "lost", by="owner, reconciler"),
        ),
    )
    renamed["states"] += (State("lost", "ended", "failure"),)
    lifecycle = Lifecycle(**renamed)

    assert read_mermaid(as_mermaid(lifecycle)) == declared(lifecycle)
    assert re.search(r"^ +(end|in-work|state) -->", as_mermaid(lifecycle), re.MULTILINE) is None


def test_recovery_is_marked_in_both_pictures() -> None:
    assert "┄┄ stall ┄" in as_text(CONTRACT)
    assert ": stall (recovery)" in as_mermaid(CONTRACT)
