"""Rows and tokens, each made from the other by position. The order is that of the .sql."""

from typing import Final

import msgspec

from detent.store.rows import Row, text
from detent.store.tokens import Token

_decode_scopes: Final = msgspec.json.Decoder(tuple[str, ...]).decode


def token_row(token: Token) -> Row:
    """As it is made; that it is revoked comes later."""
    return (
        token.id, token.tenant, token.name, text(token.scopes), token.worker, token.digest, token.created_at,
        token.created_by, token.expires_at,
    )  # fmt: skip


def token_of(row: Row) -> Token:
    (id_, tenant, name, scopes, worker, digest, created_at, created_by, expires_at, revoked_at, revoked_by) = row
    return Token(
        id=id_, tenant=tenant, name=name, scopes=_decode_scopes(scopes), worker=worker, digest=digest,
        created_at=created_at, created_by=created_by, expires_at=expires_at, revoked_at=revoked_at,
        revoked_by=revoked_by,
    )  # fmt: skip
