"""Speed, as ratios within one run. What is claimed is more than what is asserted: the machine of CI is busy and small.

`detent bench --url postgresql://…` shows the figures themselves.
"""

from typing import Final

import pytest

from detent.testing.bench import BATCH, measure
from detent.testing.bench_postgres import compare_callers, compare_history, on_postgres
from tests.figures import Show
from tests.postgres.server import Server

ENDED: Final = 50_000
pytestmark = pytest.mark.alone


@pytest.fixture(scope="module")
def url(pg_server_on_disk: Server) -> str:
    return pg_server_on_disk.url()


def test_lives_in_batches_have_half_the_speed_of_plain_sql(url: str, show: Show) -> None:
    with on_postgres(url) as (raw, client):
        *_, life = measure(raw, client, BATCH, pairs=7)

    show(life)
    assert life.ratio >= 0.4


def test_single_enqueues_have_most_of_the_speed_of_plain_sql(url: str, show: Show) -> None:
    with on_postgres(url) as (raw, client):
        enqueue, *_ = measure(raw, client, 1, pairs=7)

    show(enqueue)
    assert enqueue.ratio >= 0.45


def test_many_callers_share_transactions(url: str, show: Show) -> None:
    figure = compare_callers(url, rounds=3)

    show(figure)
    assert figure.ratio >= 5


def test_claims_do_not_feel_the_history_that_was_just_loaded(url: str, show: Show) -> None:
    figure = compare_history(url, ENDED, rounds=5)

    show(figure)
    assert figure.ratio >= 0.7
