"""What these tests share: a way to print sums past pytest's capture, since what was done is part of the result."""

from collections.abc import Callable

import pytest

Show = Callable[[object], None]


@pytest.fixture
def show(capsys: pytest.CaptureFixture[str]) -> Show:
    def shown(what: object) -> None:
        with capsys.disabled():
            print(f"\n  {what}", end="")  # noqa: T201

    return shown
