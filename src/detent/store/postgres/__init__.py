"""The store for a fleet of machines: PostgreSQL, 13 or later. It needs the extra `detent[postgres]`."""

from detent.store.postgres.address import Address
from detent.store.postgres.opening import NotDurable
from detent.store.postgres.store import PostgresStore

__all__ = ["Address", "NotDurable", "PostgresStore"]
