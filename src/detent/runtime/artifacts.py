"""What a handler emits, on its way to the record."""

from typing import Any

from msgspec import Struct

from detent.runtime.run import Run


class Artifact(Struct, frozen=True):
    name: str
    pointer: str
    size: int | None = None
    digest: str | None = None


async def record(client: Any, run: Run, worker: str, artifact: Artifact) -> None:
    """As the owner of the attempt: final on success, partial until then."""
    await client.artifact(
        run.job.id,
        worker=worker,
        attempt=run.attempt,
        name=artifact.name,
        pointer=artifact.pointer,
        size=artifact.size,
        digest=artifact.digest,
    )
