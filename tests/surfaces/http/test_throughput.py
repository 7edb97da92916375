"""How much of its store's speed a service has, measured in one run with it."""

from pathlib import Path

import pytest

from detent.surfaces.cli.bench.http import over_http
from detent.surfaces.cli.bench.places import Place
from tests.figures import Show

RATIO_MIN = 0.30

pytestmark = pytest.mark.alone


def judge(place: Place, show: Show) -> None:
    comparisons, _ = over_http(place, batch=100, pairs=7)
    for each in comparisons:
        show(f"{each.what} over HTTP: {each.per_s:,} a second, {each.ratio:.2f} of {each.beside_per_s:,} directly")

    assert min(each.ratio for each in comparisons) >= RATIO_MIN


def test_batches_over_http_have_three_tenths_of_the_speed_of_an_embedded_store(tmp_path: Path, show: Show) -> None:
    judge(Place(tmp_path), show)


def test_batches_over_http_have_three_tenths_of_the_speed_of_a_store_on_a_server(pg_url: str, show: Show) -> None:
    judge(Place(server=pg_url), show)
