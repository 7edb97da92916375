"""Random numbers that can be drawn again: who plans twice decides both times on the same."""

from detent.store.clock import Random


class Dice:
    def __init__(self, random: Random) -> None:
        self.random = random
        self._drawn: list[float] = []
        self._next = 0

    def __call__(self) -> float:
        if self._next == len(self._drawn):
            self._drawn.append(self.random())
        self._next += 1
        return self._drawn[self._next - 1]

    def again(self) -> None:
        self._next = 0
