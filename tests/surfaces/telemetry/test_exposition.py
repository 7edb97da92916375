"""The text that Prometheus reads: whatever is counted, a strict reader takes it, and finds what was meant."""

import pytest

from detent.runtime.counting import BOUNDS_S, Histogram
from detent.surfaces.telemetry.exposition import Family, alone, encoded
from tests.surfaces.telemetry.parsing import parsed

HOSTILE = [
    '"',
    "\\",
    "\\n",
    "\n",
    '"} 1\ndetent_forged_total 9',
    "kind,",
    "",
    " ",
    "ü 日本",
    "#",
    "\x00",
    "\r",
    "a" * 255,
]


def test_label_values_come_back_as_they_were_and_forge_nothing() -> None:
    family = Family("jobs_total", "counter", "Jobs.", ("kind", "queue"))
    counted: dict[tuple[str, ...], int] = {(kind, queue): len(kind) + 1 for kind in HOSTILE for queue in HOSTILE}

    read = parsed(encoded([(family, counted)]).decode())

    assert list(read) == ["detent_jobs_total"]
    for (kind, queue), count in counted.items():
        assert read["detent_jobs_total"].value(kind=kind, queue=queue) == count


def test_text_that_utf_8_does_not_have_does_not_stop_the_rest() -> None:
    family = Family("failures_total", "counter", "Failures.", ("error",))

    assert parsed(encoded([(family, {("Bad\udc80",): 1})]).decode())["detent_failures_total"].value(error="Bad?") == 1


def test_help_is_one_line_whatever_it_says() -> None:
    text = encoded([(Family("running", "gauge", "a\nb \\ c"), alone(3))]).decode()

    assert text == "# HELP detent_running a\\nb \\\\ c\n# TYPE detent_running gauge\ndetent_running 3\n"


def test_family_of_which_nothing_was_counted_is_told_of_all_the_same() -> None:
    assert (
        parsed(encoded([(Family("x_total", "counter", "X.", ("kind",)), {})]).decode())["detent_x_total"].samples == {}
    )


def test_histogram_has_every_bound_and_counts_upwards() -> None:
    histogram = Histogram()
    for seconds in (0.001, 0.005, 0.3, 0.4, 9_999.0):
        histogram.took(seconds)
    read = parsed(encoded([(Family("run_seconds", "histogram", "Runs.", ("kind",)), {("scan",): histogram})]).decode())
    runs = read["detent_run_seconds"]

    assert (min(BOUNDS_S), max(BOUNDS_S)) == (0.005, 3_600)
    assert len(runs.samples) == len(BOUNDS_S) + 3
    assert runs.value("_bucket", kind="scan", le="0.005") == 2
    assert runs.value("_bucket", kind="scan", le="0.5") == 4
    assert runs.value("_bucket", kind="scan", le="3600") == 4
    assert runs.value("_bucket", kind="scan", le="+Inf") == runs.value("_count", kind="scan") == 5
    assert runs.value("_sum", kind="scan") == pytest.approx(9_999.706)


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_what_is_no_number_is_not_written(value: float) -> None:
    with pytest.raises(AssertionError, match="is a number"):
        encoded([(Family("running", "gauge", "Running."), alone(value))])


@pytest.mark.parametrize(
    "text",
    [
        "detent_a 1",
        "# HELP detent_a A.\n# TYPE detent_a gauge\ndetent_a NaN\n",
        "# HELP detent_a A.\n# TYPE detent_a counter\ndetent_a 1\n",
        "# HELP detent_a A.\n# TYPE detent_a gauge\ndetent_a 1\ndetent_a 1\n",
        '# HELP detent_a A.\n# TYPE detent_a gauge\ndetent_a{kind="a"b"} 1\n',
        "# TYPE detent_a gauge\ndetent_a 1\n",
        '# HELP detent_a A.\n# TYPE detent_a histogram\ndetent_a_bucket{le="1"} 2\ndetent_a_bucket{le="+Inf"} 1\n',
    ],
)
def test_reader_of_these_tests_is_strict(text: str) -> None:
    with pytest.raises((AssertionError, KeyError)):
        parsed(text)
