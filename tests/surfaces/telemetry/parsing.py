"""A strict reader of Prometheus' text format 0.0.4: what it takes, any scraper takes."""

import re
from collections import defaultdict
from math import inf, isnan
from typing import Final

from msgspec import Struct, field

TYPES: Final = ("counter", "gauge", "histogram")
_NAME: Final = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
_HELP: Final = re.compile(rf"# HELP ({_NAME}) (.+)")
_TYPE: Final = re.compile(rf"# TYPE ({_NAME}) (\w+)")
_LABEL: Final = r'[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\[\\"n])*"'
_SAMPLE: Final = re.compile(rf"({_NAME})(?:\{{((?:{_LABEL})(?:,{_LABEL})*)\}})? (\S+)")
_PAIR: Final = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_ESCAPED: Final = re.compile(r"\\(.)")

Labels = frozenset[tuple[str, str]]


class Metric(Struct):
    type: str
    samples: dict[tuple[str, Labels], float] = field(default_factory=dict)

    def value(self, suffix: str = "", **labels: str) -> float:
        return self.samples[suffix, frozenset(labels.items())]

    def sum(self) -> float:
        return sum(value for (suffix, _), value in self.samples.items() if suffix in ("", "_count"))


def parsed(text: str) -> dict[str, Metric]:
    """By full name."""
    assert text.endswith("\n"), "the last line ends like all others"
    metrics: dict[str, Metric] = {}
    helped, current = set[str](), ""
    for line in text[:-1].split("\n"):
        if line.startswith("# HELP"):
            current = _matched(_HELP, line)[1]
            assert current not in helped, f"{current} is told of twice"
            helped.add(current)
        elif line.startswith("#"):
            name, type_ = _matched(_TYPE, line).groups()
            assert name == current, f"{name} has no help above it"
            assert type_ in TYPES
            assert type_ != "counter" or name.endswith("_total"), name
            metrics[name] = Metric(type_)
        else:
            _take(line, current, metrics[current])
    for name, metric in metrics.items():
        if metric.type == "histogram":
            _check_buckets(name, metric)
    return metrics


def _take(line: str, name: str, metric: Metric) -> None:
    match = _matched(_SAMPLE, line)
    assert match[1].startswith(name), f"{line} stands below {name}"
    suffix = match[1].removeprefix(name)
    assert suffix in (("_bucket", "_sum", "_count") if metric.type == "histogram" else ("",)), line
    pairs = [(label, _ESCAPED.sub(_meant, value)) for label, value in _PAIR.findall(match[2] or "")]
    assert len(dict(pairs)) == len(pairs), f"a label twice: {line}"
    key, value = (suffix, frozenset(pairs)), float(match[3])
    assert key not in metric.samples, f"a series twice: {line}"
    assert not isnan(value)
    assert abs(value) < inf
    assert metric.type == "gauge" or value >= 0
    metric.samples[key] = value


def _check_buckets(name: str, metric: Metric) -> None:
    """They only grow, and the last is the count."""
    series: dict[Labels, list[tuple[float, float]]] = defaultdict(list)
    for (suffix, labels), value in metric.samples.items():
        if suffix == "_bucket":
            (bound,) = [text for label, text in labels if label == "le"]
            series[frozenset(each for each in labels if each[0] != "le")].append((float(bound), value))
    for labels, buckets in series.items():
        counts = [count for _, count in buckets]
        assert buckets == sorted(buckets), f"{name} is out of order"
        assert counts == sorted(counts), f"{name} shrinks"
        assert buckets[-1] == (inf, metric.samples["_count", labels])
        assert ("_sum", labels) in metric.samples


def _matched(pattern: re.Pattern[str], line: str) -> re.Match[str]:
    match = pattern.fullmatch(line)
    assert match is not None, f"not in the format: {line!r}"
    return match


def _meant(match: re.Match[str]) -> str:
    return {"n": "\n"}.get(match[1], match[1])
