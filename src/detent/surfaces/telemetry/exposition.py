"""Families of metrics, and how they are written for Prometheus: its text format, version 0.0.4."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from math import isfinite
from typing import Final, Literal, Protocol

from msgspec import Struct

from detent.runtime.counting import BOUNDS_S

PREFIX: Final = "detent_"
CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"
_VALUE: Final = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
_ABOUT: Final = str.maketrans({"\\": r"\\", "\n": r"\n"})

Values = tuple[str, ...]  # of the labels of a family, in their order


class Family(Struct, frozen=True):
    """Metrics of one name. `about` is for who reads them; `labels` are never ids."""

    name: str
    type: Literal["counter", "gauge", "histogram"]
    about: str
    labels: tuple[str, ...] = ()

    @property
    def full_name(self) -> str:
        return f"{PREFIX}{self.name}"


class Spread(Protocol):
    """Durations, counted by the classes of `BOUNDS_S`."""

    @property
    def counts(self) -> list[int]: ...

    @property
    def sum_s(self) -> float: ...


# What a family has at a moment; that of a histogram are spreads.
Samples = Mapping[Values, float | Spread]


def encoded(families: Iterable[tuple[Family, Samples]]) -> bytes:
    """What cannot be written in UTF-8, as in the name of somebody's exception, is shown by a question mark."""
    return "".join(_block(family, samples) for family, samples in families).encode(errors="replace")


def alone(value: float) -> Samples:
    """That of a family without labels."""
    return {(): value}


def _block(family: Family, samples: Samples) -> str:
    name = family.full_name
    head = f"# HELP {name} {family.about.translate(_ABOUT)}\n# TYPE {name} {family.type}\n"
    return head + "".join(line for values in sorted(samples) for line in _lines(family, values, samples[values]))


def _lines(family: Family, values: Values, sample: float | Spread) -> Iterator[str]:
    labels = tuple(zip(family.labels, values, strict=True))
    if isinstance(sample, int | float):
        yield _line(family.full_name, labels, sample)
    else:
        yield from _spread(family.full_name, labels, sample)


def _spread(name: str, labels: tuple[tuple[str, str], ...], spread: Spread) -> Iterator[str]:
    counts = list(spread.counts)  # once: whoever counts goes on meanwhile, and all lines have to agree
    for bound, count in zip([*map(_number, BOUNDS_S), "+Inf"], accumulate(counts), strict=True):
        yield _line(f"{name}_bucket", (*labels, ("le", bound)), count)
    yield _line(f"{name}_sum", labels, spread.sum_s)
    yield _line(f"{name}_count", labels, sum(counts))


def _line(name: str, labels: tuple[tuple[str, str], ...], value: float) -> str:
    shown = ",".join(f'{label}="{text.translate(_VALUE)}"' for label, text in labels)
    return f"{name}{{{shown}}} {_number(value)}\n" if shown else f"{name} {_number(value)}\n"


def _number(value: float) -> str:
    assert isfinite(value), "what was counted or measured is a number"
    return str(int(value)) if value == int(value) else repr(float(value))
