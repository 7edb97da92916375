"""What the jobs were like that claims took last, so that the next claim can be decided before it has found any."""

from typing import Final

from msgspec import Struct

from detent.kernel import Job
from detent.kernel.command import Claim
from detent.store.request import ClaimRequest

MODELS_MAX: Final = 1_000

Names = tuple[str, ...]
Key = tuple[str, Claim, Names, Names | None, Names | None, frozenset[tuple[str, str, str]]]


class Model(Struct, frozen=True):
    """A job as it was when it was claimed, with the numbers of its definitions."""

    job: Job
    lifecycle: int
    policy: int


class Models:
    """Shared by the threads of a store, without a lock: a model that does not hold costs a comparison."""

    def __init__(self) -> None:
        self._kept: dict[Key, Model] = {}

    def get(self, request: ClaimRequest) -> Model | None:
        return self._kept.get(_key(request)) if self._kept else None

    def drop(self, request: ClaimRequest) -> None:
        """It did not hold."""
        self._kept.pop(_key(request), None)

    def keep(self, request: ClaimRequest, model: Model) -> None:
        if len(self._kept) >= MODELS_MAX:
            self._kept = {}
        self._kept[_key(request)] = model


def _key(request: ClaimRequest) -> Key:
    return request.tenant, request.command, request.queues, request.kinds, request.adapters, request.spared
