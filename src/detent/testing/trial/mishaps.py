"""What a test wants to go wrong: attempts that fail, workers that die, jobs that are cancelled while they run."""

from types import TracebackType
from typing import Final, Literal, Self

from detent.errors import InvalidArgument, TransientError

Way = Literal["fail", "crash", "cancel"]
_WORDS: Final[dict[Way, str]] = {"fail": "fail", "crash": "crash", "cancel": "be cancelled"}


class Mishap:
    """For the next `times` attempts at jobs of a kind. In a `with` block, no longer than that.

    One that never came to pass fails the test: what it was to show was not shown.
    """

    def __init__(
        self,
        kind: str,
        way: Way,
        *,
        times: int,
        after: bool = False,
        error: BaseException | None = None,
        mode: str = "soft",
    ) -> None:
        self.kind = kind
        self.way: Way = way
        self.after = after
        self.error = error
        self.mode = mode
        self.left = times
        self._times = times
        self._is_over = False

    @property
    def happened(self) -> int:
        """How often, so far."""
        return self._times - self.left

    def happens(self) -> bool:
        """Whether it happens to the attempt that begins now."""
        if self._is_over or not self.left:
            return False
        self.left -= 1
        return True

    def check(self) -> None:
        """That it came to pass, unless that was looked at before."""
        if not self._is_over:
            self._check_happened()

    def _check_happened(self) -> None:
        if self.happened == 0:
            often = "once" if self._times == 1 else f"{self._times} times"
            message = f"'{self.kind}' was to {_WORDS[self.way]} {often}, and no attempt was made at it"
            raise AssertionError(f"{message}; was it enqueued, and drained?")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        is_due, self._is_over = kind is None and not self._is_over, True
        if is_due:
            self._check_happened()

    def __repr__(self) -> str:
        return f"<Mishap {self.kind} {self.way} happened={self.happened} left={self.left}>"


class Mishaps:
    def __init__(self) -> None:
        self._armed: list[Mishap] = []

    def arm(self, mishap: Mishap) -> Mishap:
        if mishap.left < 1:
            raise InvalidArgument(f"times is {mishap.left}; a mishap happens at least once")
        self._armed.append(mishap)
        return mishap

    def take(self, kind: str) -> Mishap | None:
        """What is to happen to an attempt that begins now: the first that was asked for."""
        for mishap in self._armed:
            if mishap.kind == kind and mishap.happens():
                return mishap
        return None

    def check(self) -> None:
        for mishap in self._armed:
            mishap.check()


def error_of(given: BaseException | type[BaseException] | None) -> BaseException:
    if given is None:
        return TransientError("the test wanted this attempt to fail")
    return given() if isinstance(given, type) else given
