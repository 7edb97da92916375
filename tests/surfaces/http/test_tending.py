"""What a service does without being asked concerns every tenant, also those that have not asked for anything yet."""

from detent.surfaces.http.settings import Settings
from detent.surfaces.http.tending import Tending
from detent.testing import MemoryStore
from tests.surfaces.http.stores import client_of, on_a_loop


@on_a_loop
async def test_what_is_old_is_removed_for_who_was_heard_of_and_for_who_has_a_token() -> None:
    store = MemoryStore()
    home = await client_of(store)
    for tenant in ("quiet", "loud"):
        await (await client_of(store, tenant)).create_token("t", scopes=["read"])
    await home.create_token("any", scopes=["admin"], any_tenant=True)

    tending = Tending(home, Settings(), lambda: ["default", "loud", "guest"])

    assert await tending.tenants() == ["default", "guest", "loud", "quiet"]
