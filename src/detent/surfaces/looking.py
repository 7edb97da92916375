"""Which jobs wait for those that jobs are pushed to: engines and pools, each of which knows one lifecycle."""

from collections.abc import Collection
from typing import Final

from msgspec.structs import replace

from detent.kernel import Job
from detent.store import ClaimRequest, Store

LOOK_MAX: Final = 1_000


async def claimable_of(store: Store, request: ClaimRequest, lifecycle: str, beside: Collection[str] = ()) -> list[Job]:
    """What this claim would take, of this lifecycle, beside those ids. Jobs of others may stand before them: then it
    looks farther.
    """
    while True:
        page = await store.claimable(request)
        found = [job for job in page if job.spec.lifecycle == lifecycle and job.id not in beside]
        if found or len(page) < request.limit or request.limit >= LOOK_MAX:
            return found
        request = replace(request, limit=min(2 * request.limit, LOOK_MAX))
