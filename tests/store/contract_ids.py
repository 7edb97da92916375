"""The ids that a scenario of the contract shows, as the markers that this repository's register reads."""

from typing import TypeVar

import pytest

from detent.testing import StoreContract

Suite = TypeVar("Suite", bound=type[StoreContract])


def scenarios_of(suite: type[StoreContract]) -> list[str]:
    return [name for name in dir(suite) if name.startswith("test_")]


def with_ids(suite: Suite) -> Suite:
    """Give the class tests of its own that carry the markers; the published ones stay free of pytest."""
    for name in scenarios_of(suite):
        setattr(suite, name, _marked(suite, name))
    return suite


def _marked(suite: type[StoreContract], name: str) -> object:
    published = getattr(suite, name)

    def test(self: StoreContract) -> None:
        published(self)

    test.__name__ = name
    return pytest.mark.requirement(*published.requirements)(test)
