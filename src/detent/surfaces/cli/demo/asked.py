"""What was asked of a demo, and what follows from it."""

from pathlib import Path
from typing import Final
from urllib.parse import quote

from msgspec import Struct

CAPACITY: Final = (8, 40)  # of a worker: at the least, and at the most


class Asked(Struct, frozen=True, kw_only=True):
    file: Path
    jobs: int
    workers: int
    seed: int

    @property
    def url(self) -> str:
        return f"sqlite:///{quote(str(self.file))}"

    @property
    def capacity(self) -> int:
        """How many jobs a worker holds: more where there are fewer workers, so that all is done in time."""
        return min(max(self.jobs // self.workers // 10, CAPACITY[0]), CAPACITY[1])

    @property
    def quick_url(self) -> str:
        """Its processes sleep more than they work; waiting for the disk would only blur the picture."""
        return f"{self.url}?synchronous=normal"
