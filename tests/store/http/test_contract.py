"""The published contract, kept over HTTP: by a service on a real port, on either store."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from detent.store import Store
from detent.store.clock import Clock, Random
from detent.store.http import Address, HttpStore
from detent.store.postgres import Address as Server
from detent.store.postgres import PostgresStore
from detent.store.sqlite import File, SqliteStore
from detent.store.tokens import Token
from detent.testing import StoreContract
from tests.store.contract_ids import with_ids
from tests.store.http.serving import Serving

ADMITTED: Final = "the suite's own"


class Admitted(HttpStore):
    """Over HTTP nobody comes in without a token, and it is kept where the scenarios keep theirs: it is left out."""

    async def tokens(self, tenant: str | None) -> list[Token]:
        return [token for token in await super().tokens(tenant) if token.name != ADMITTED]


class OverHttp(StoreContract):
    """Every scenario holds as it is published."""

    server: Serving

    def serve(self, store: Store) -> Store:
        client = self.server.open(store)
        token = self.server.token(client, "admin", any_tenant=True, name=ADMITTED)
        return Admitted(Address(url=self.server.url, token=token))


@with_ids
class TestHttpOnSqlite(OverHttp):
    @pytest.fixture(autouse=True)
    def _place(self, server: Serving, tmp_path: Path) -> Iterator[None]:
        self.server, self.path = server, tmp_path / "jobs.db"
        yield
        server.close()

    def make_store(self, clock: Clock, random: Random) -> Store:
        return self.serve(SqliteStore(File(str(self.path), synchronous="normal"), clock=clock, random=random))


@with_ids
class TestHttpOnPostgres(OverHttp):
    @pytest.fixture(autouse=True)
    def _place(self, server: Serving, pg_emptied: str) -> Iterator[None]:
        self.server, self.url = server, pg_emptied
        yield
        server.close()

    def make_store(self, clock: Clock, random: Random) -> Store:
        return self.serve(PostgresStore(Server(url=self.url), clock=clock, random=random))
