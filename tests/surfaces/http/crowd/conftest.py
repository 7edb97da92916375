"""What these tests share: a store of each kind."""

from tests.store.processes.conftest import url

__all__ = ["url"]
