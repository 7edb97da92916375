"""The campaign on a service, at full size and small."""

from typing import Final

from detent.surfaces.http.live import LiveSettings
from tests.store.processes.campaigns import Campaign, Sizes
from tests.surfaces.http.crowd.crowding import run_crowd
from tests.surfaces.http.crowd.judging import Size
from tests.surfaces.http.crowd.manners import Pace

FULL: Final = Size(
    jobs=10_000, queues=20, readers=200, claimers=64, processes=4, batch=200, live=LiveSettings(),
    pace=Pace(behind=1_700, late=700, patience=200), peak_mb_max=250.0, wait_s=900.0,
)  # fmt: skip
# Few events have to be enough for a reader to be cut off.
SMALL: Final = Size(
    jobs=300, queues=4, readers=20, claimers=8, processes=1, batch=25,
    live=LiveSettings(buffer_max=20, page_max=10), pace=Pace(behind=250, late=100, patience=30),
    peak_mb_max=120.0, wait_s=120.0,
)  # fmt: skip


def of_service(sizes: Sizes) -> dict[str, Campaign]:
    """On either store."""
    return {"crowd": lambda url: run_crowd(url, FULL, seed=sizes.seed)}
