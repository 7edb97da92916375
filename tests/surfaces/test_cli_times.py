"""Times as people say them and as they write them; and how far along something is, for those who wait."""

from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest

from detent.surfaces.cli import chatter
from detent.surfaces.cli.chatter import watched
from detent.surfaces.cli.times import full, instant_of, moment, moment_of, relative, seconds_of, span

NOW = datetime(2026, 11, 16, 8, 30, 0, 123_456, tzinfo=UTC)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 ms"),
        (0.004, "4 ms"),
        (0.25, "0.2 s"),
        (9.5, "9.5 s"),
        (59, "59 s"),
        (119, "119 s"),
        (120, "2 min"),
        (7_100, "118 min"),
        (7_199, "2 h"),
        (119.7, "2 min"),
        (7_200, "2 h"),
        (172_799, "2 days"),
        (90, "90 s"),
        (172_800, "2 days"),
        (30 * 86_400, "30 days"),
        (-3, "-3.0 s"),
    ],
)
def test_length_of_time_is_said_in_one_unit(seconds: float, said: str) -> None:
    assert span(seconds) == said


def test_moment_is_said_as_seen_from_now() -> None:
    assert relative(NOW - timedelta(minutes=3), NOW) == "3 min ago"
    assert relative(NOW + timedelta(seconds=12), NOW) == "in 12 s"
    assert relative(NOW, NOW) == "0 ms ago"
    assert relative(None, NOW) == ""


def test_moment_has_its_day_where_that_is_another() -> None:
    assert moment(NOW, NOW + timedelta(hours=1)) == "08:30:00.123 UTC"
    assert moment(NOW, NOW + timedelta(days=1)) == full(NOW) == "2026-11-16 08:30:00.123 UTC"


@pytest.mark.parametrize(
    ("written", "seconds"),
    [
        ("90", 90),
        ("90s", 90),
        ("15m", 900),
        ("1.5h", 5_400),
        ("7d", 604_800),
        ("2w", 1_209_600),
        ("250ms", 0.25),
        (" 3 s", 3),
    ],
)
def test_length_of_time_is_written_with_its_unit(written: str, seconds: float) -> None:
    assert seconds_of(written) == seconds


@pytest.mark.parametrize("written", ["", "s", "-5s", "1e3", "5 minutes", "1.5.2s", "9999999999", "٣s", "nan", "inf"])
def test_what_is_no_length_of_time_is_told_apart(written: str) -> None:
    assert seconds_of(written) is None


def test_moment_is_written_as_a_time_or_as_how_long_ago() -> None:
    assert moment_of("15m", NOW) == moment_of(" 15m ago", NOW) == NOW - timedelta(minutes=15)
    assert moment_of("2026-11-16T09:30:00.123456+01:00", NOW) == NOW
    assert moment_of("2026-11-16", NOW) == datetime(2026, 11, 16, tzinfo=UTC)


@pytest.mark.parametrize("written", ["", "soon", "ago", "2026-11-16 ago", "2026-13-01", "999999999w", "25:00"])
def test_what_is_no_moment_is_told_apart(written: str) -> None:
    assert moment_of(written, NOW) is None


def test_instant_is_not_how_long_ago() -> None:
    assert instant_of("2026-11-16T08:30:00.123456Z") == NOW
    assert instant_of("15m") is None


class Terminal(StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("stderr", "patience_s", "is_shown"),
    [(Terminal(), 0, True), (Terminal(), 60, False), (StringIO(), 0, False)],
    ids=["long, in a terminal", "short", "in a pipe"],
)
def test_bar_is_for_what_takes_long_and_for_those_who_watch(
    monkeypatch: pytest.MonkeyPatch, stderr: StringIO, patience_s: float, is_shown: bool
) -> None:
    monkeypatch.setattr("sys.stderr", stderr)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.setattr(chatter, "PATIENCE_S", patience_s)

    with watched("removing", total=4) as watch:
        watch.step()
        watch.reach(2)

    shown = stderr.getvalue()
    assert ("removing" in shown and "2/4" in shown and "/s" in shown) == is_shown
    assert (shown == "") == (not is_shown)
