"""Anything for any argument of any verb: an answer, or an error of ours that leaves no trace."""

from collections.abc import Iterator
from datetime import UTC
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from detent.errors import DetentError, Refused, StoreError
from tests.chance import examples
from tests.client.arguments import BAD, DEEP, ENDLESS, GOOD, HUGE, KINDS, Odd, arguments_of
from tests.client.places import OnPostgres, OnSqlite, Place
from tests.client.verdicts import Verdict, answered, plain, refused
from tests.client.world import CODES, BlockingCaller, World

EXAMPLES = examples(30)  # for each of some sixty verbs
EXAMPLES_ON_BOTH = examples(25)

pytestmark = pytest.mark.hypothesis

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([HUGE, -HUGE, 2**63 - 1, 2**63, -1]),
    st.floats(),
    st.text(st.characters(), max_size=20),  # lone surrogates and controls too
    st.sampled_from(["held", "running", "ended", "default", "w", "soft", "owner", "allow", "contract", "engine"]),
    st.binary(max_size=8),
    st.datetimes(),
    st.datetimes(timezones=st.just(UTC)),
    st.builds(Odd),
)
keys = st.one_of(
    st.text(st.characters(), max_size=8), st.integers(), st.sampled_from(["kind", "job_id", "type", "fraction"])
)
anything = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.tuples(inner, inner),
        st.dictionaries(keys, inner, max_size=4),
        st.frozensets(st.one_of(st.integers(), st.text(max_size=3)), max_size=3),
    ),
    max_leaves=8,
)


@st.composite
def calls(draw: st.DrawFn, verb: str) -> dict[str, Any]:
    """The good call, with some arguments replaced by anything and some others added."""
    arguments = dict(GOOD[verb])
    names = [name for name in arguments_of(verb) if KINDS[name] != "anything"]
    for name in draw(st.lists(st.sampled_from(names), max_size=3, unique=True)):
        bad = [value for value in BAD[KINDS[name]] if is_printable(value)]
        arguments[name] = draw(st.one_of(anything, st.sampled_from(bad)))
    return arguments


def is_printable(value: object) -> bool:
    """Hypothesis shows what it draws, and these cannot be shown; test_bad_input has them."""
    is_long = value is DEEP or (isinstance(value, int) and value == ENDLESS)
    return not is_long and not isinstance(value, Iterator)


class Fresh:
    """A store in which every call finds its job as if nothing had been called before."""

    def __init__(self, place: Place) -> None:
        self.world = World(place)
        self._numbers = count()

    def call(self, verb: str, arguments: dict[str, Any]) -> Verdict:
        position = GOOD[verb].get("job_id")
        suffix = f"-{next(self._numbers)}"
        if position is not None:
            self.world.prepare(position, suffix=suffix)
            if arguments["job_id"] == position:
                arguments = arguments | {"job_id": position + suffix}
        return self._call(verb, arguments)

    def _call(self, verb: str, arguments: dict[str, Any]) -> Verdict:
        before, notes = self.world.version(), self._notes()
        try:
            return answered(verb, BlockingCaller(self.world).call(verb, arguments))
        except StoreError:
            raise
        except DetentError as error:
            self._check(error, before, notes)
            return refused(error)

    def _check(self, error: DetentError, before: object, notes: int) -> None:
        """Of what is refused nothing is written, but a result that came too late, as a note."""
        is_noted = isinstance(error, Refused) and self._notes() > notes
        assert error.code in CODES
        assert self.world.version() == before or is_noted

    def _notes(self) -> int:
        return len(self.world.snapshot_of("detent_notes"))


VERBS = sorted(verb for verb in GOOD.keys() - {"verify"} if arguments_of(verb))


@pytest.mark.parametrize("verb", VERBS)
def test_anything_is_answered_or_refused_without_a_trace(verb: str, tmp_path: Path) -> None:
    fresh = Fresh(OnSqlite(tmp_path))

    @settings(max_examples=EXAMPLES)
    @given(arguments=calls(verb))
    def fuzz(arguments: dict[str, Any]) -> None:
        fresh.call(verb, arguments)

    try:
        fuzz()
        report = fresh.world.blocking.verify(all_tenants=True)
    finally:
        fresh.world.close()

    assert report.is_clean, report.violations


@pytest.mark.parametrize("verb", VERBS)
def test_anything_gets_the_same_answer_or_refusal_on_both_stores(verb: str, tmp_path: Path, pg_emptied: str) -> None:
    """Without a trace on either, if it is refused."""
    one, other = Fresh(OnSqlite(tmp_path)), Fresh(OnPostgres(pg_emptied))

    @settings(max_examples=EXAMPLES_ON_BOTH)
    @given(arguments=calls(verb))
    def fuzz(arguments: dict[str, Any]) -> None:
        assert other.call(verb, arguments) == one.call(verb, arguments)

    try:
        fuzz()
        reports = [fresh.world.blocking.verify(all_tenants=True) for fresh in (one, other)]
    finally:
        for fresh in (one, other):
            fresh.world.close()

    assert plain(reports[0]) == plain(reports[1])
    assert reports[0].is_clean
