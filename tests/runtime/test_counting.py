"""What counts are kept in: bounded whatever comes, and exact as long as it is little."""

from random import Random

import pytest

from detent.runtime.counting import BOUNDS_S, LABELS_MAX, OTHER, SERIES_MAX, Histogram, Histograms, Table, quantile_s


def test_table_counts_by_its_labels_and_knows_nothing_of_what_was_not_counted() -> None:
    table = Table("kind", "outcome")
    table.add("scan", "success")
    table.add("scan", "success", count=2)

    assert table == {("scan", "success"): 3}
    assert table["mail", "success"] == 0
    assert len(table) == 1


@pytest.mark.requirement("STD-16")
def test_hostile_kinds_are_counted_and_do_not_take_memory() -> None:
    table = Table("kind", "outcome")
    for number in range(100_000):
        table.add(f"kind-{number}", "success" if number % 2 else "failure")

    assert len(table) <= 2 * (LABELS_MAX + 1)
    assert sum(table.values()) == 100_000
    assert table[OTHER, "success"] + table[OTHER, "failure"] == 100_000 - LABELS_MAX


def test_kinds_that_were_known_before_are_counted_apart_for_ever() -> None:
    table = Table("queue", "kind")
    table.add("ocr", "scan")
    for number in range(1_000):
        table.add("ocr", f"kind-{number}")
    table.add("ocr", "scan")
    table.add("mail", "scan")

    assert table["ocr", "scan"] == 2
    assert table["mail", "scan"] == 1


def test_combinations_are_bounded_as_well_as_labels() -> None:
    table = Table("verb", "queue", "kind")
    for verb in ("claim", "start", "complete"):
        for queue in range(LABELS_MAX):
            for kind in range(50):
                table.add(verb, f"q{queue}", f"k{kind}")

    assert len(table) <= SERIES_MAX + 3
    assert sum(table.values()) == 3 * LABELS_MAX * 50
    assert table["complete", OTHER, OTHER] == LABELS_MAX * 50  # the verb is ours, and is kept


def test_histograms_are_bounded_by_kind() -> None:
    histograms = Histograms()
    for number in range(10_000):
        histograms.took(f"kind-{number}", 1.0)

    assert len(histograms) == LABELS_MAX + 1
    assert sum(histograms[OTHER].counts) == 10_000 - LABELS_MAX


def test_quantile_lies_in_the_class_of_the_duration_that_is_meant() -> None:
    random, histogram = Random(1), Histogram()
    durations = sorted(random.lognormvariate(0, 2) for _ in range(5_000))
    for seconds in durations:
        histogram.took(seconds)
    for share in (0.05, 0.5, 0.95, 0.99):
        exact, told = durations[int(share * len(durations))], histogram.quantile_s(share)
        assert told is not None
        below, above = max([0.0, *(b for b in BOUNDS_S if b < exact)]), min(b for b in BOUNDS_S if b >= exact)

        assert below * 0.9 <= told <= above * 1.1


def test_quantile_of_nothing_is_none_and_beyond_all_bounds_is_the_last() -> None:
    histogram = Histogram()
    before = histogram.quantile_s(0.5)
    histogram.took(1e9)
    histogram.took(-1.0)  # of a clock that was set back

    assert before is None
    assert histogram.quantile_s(0.95) == BOUNDS_S[-1]
    assert histogram.quantile_s(0.5) == BOUNDS_S[0]
    assert histogram.sum_s == 1e9


def test_quantile_is_reckoned_as_prometheus_reckons_it() -> None:
    """Ten between 0.5 and 1 s: half of them lie below 0.75 s, if they lie evenly."""
    counts = [0] * (len(BOUNDS_S) + 1)
    counts[BOUNDS_S.index(1.0)] = 10

    assert quantile_s(counts, 0.5) == pytest.approx(0.75)
    assert quantile_s(counts, 0.95) == pytest.approx(0.975)
