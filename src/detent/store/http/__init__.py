"""The store that is a service: what a store must do, asked of `detent serve` by its public routes."""

from detent.store.http.address import Address
from detent.store.http.store import HttpStore

__all__ = ["Address", "HttpStore"]
