"""Trials as users have them, on either store, and drained in either world: blocking, and on an event loop."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from detent.testing import Played, Trial
from detent.testing.plugin import detent_app, jobs

__all__ = ["detent_app", "jobs"]

Drain = Callable[..., list[Played]]


@pytest.fixture(params=["sqlite", "postgres"])
def detent_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/jobs.db?synchronous=normal"
    emptied: str = request.getfixturevalue("pg_emptied")
    return emptied


@pytest.fixture(params=["blocking", "on a loop"])
def drain(request: pytest.FixtureRequest, jobs: Trial) -> Drain:
    """`jobs.drain` or `jobs.adrain`: both have to do the same."""
    if request.param == "blocking":
        return jobs.drain

    def on_a_loop(*given: Any, **named: Any) -> list[Played]:
        return asyncio.run(jobs.adrain(*given, **named))

    return on_a_loop
