"""A token as a store keeps it, in JSON: with the digest of its secret, from which nobody gets the secret back."""

from datetime import datetime

from msgspec import Struct


class TokenRecord(Struct, frozen=True, kw_only=True):
    """For another store, or a client that is one. `tenant` null: for any tenant; `expires_at` null: for ever."""

    id: str
    name: str
    tenant: str | None
    scopes: tuple[str, ...]
    worker: str | None
    digest: str
    created_at: datetime
    created_by: str
    expires_at: datetime | None
    revoked_at: datetime | None
    revoked_by: str | None


class KeptTokenShape(Struct, frozen=True, kw_only=True):
    """A token as it is kept, and what time it was by the store's clock when it was looked up."""

    token: TokenRecord
    now: datetime


class TokenRecords(Struct, frozen=True, kw_only=True):
    records: list[TokenRecord]
