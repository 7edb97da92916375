"""What claims found last, so that the next claim can be decided before it has found any."""

from typing import Final

from msgspec import Struct

from detent.kernel import Job
from detent.kernel.command import Claim
from detent.store.request import ClaimRequest

MODELS_MAX: Final = 1_000
LEAST: Final = 16  # jobs that are alike, and the next is taken to be so; of fewer it takes two claims

Names = tuple[str, ...]
Key = tuple[str, Claim, Names, Names | None, Names | None, frozenset[tuple[str, str, str]]]


class Model(Struct, frozen=True):
    """A job as it was when it was claimed, with the numbers of its definitions."""

    job: Job
    lifecycle: int
    policy: int

    def is_like(self, other: "Model") -> bool:
        return self._compared == other._compared

    @property
    def _compared(self) -> tuple[int, int, str, int, int]:
        return self.lifecycle, self.policy, self.job.state, self.job.rev, self.job.attempt


class Last(Struct, frozen=True):
    """The last claim of its kind. `is_short`: it got less than it asked for. `is_sure`: of its model."""

    is_short: bool
    model: Model | None = None
    is_sure: bool = False


class Models:
    """Shared by the threads of a store, without a lock: a model that does not hold costs a comparison."""

    def __init__(self) -> None:
        self._kept: dict[Key, Last] = {}

    def get(self, request: ClaimRequest) -> Model | None:
        last = self._last(request)
        return last.model if last is not None and last.is_sure else None

    def is_short(self, request: ClaimRequest) -> bool:
        last = self._last(request)
        return last is not None and last.is_short

    def keep(self, request: ClaimRequest, taken: int, model: Model | None) -> None:
        """After a claim. One that took nothing says nothing about what jobs are like."""
        if len(self._kept) >= MODELS_MAX:
            self._kept = {}
        before, is_short = self._last(request), taken < request.limit
        if not taken and before is not None:
            self._kept[_key(request)] = Last(is_short, before.model, before.is_sure)
        elif model is None:
            self._kept[_key(request)] = Last(is_short)
        else:
            is_again = before is not None and before.model is not None and before.model.is_like(model)
            self._kept[_key(request)] = Last(is_short, model, is_again or taken >= LEAST)

    def _last(self, request: ClaimRequest) -> Last | None:
        return self._kept.get(_key(request)) if self._kept else None


def _key(request: ClaimRequest) -> Key:
    return request.tenant, request.command, request.queues, request.kinds, request.adapters, request.spared
