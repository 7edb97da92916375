"""The embedded store: one SQLite file. Start at `store.py`; statements are in `sql/`, the schema in `migrations/`."""

from detent.store.sqlite.file import File
from detent.store.sqlite.store import SqliteStore
from detent.store.sqlite.transaction import Transaction

__all__ = ["File", "SqliteStore", "Transaction"]
