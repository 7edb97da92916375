"""Numbers as people read them: in prose with their noun, in a table one below the other."""

from rich.text import Text


def counted(number: int, one: str, many: str = "") -> str:
    """`1 job`, `2,000 jobs`; `many` where it is not just an s more."""
    return f"{number:,} {one if number == 1 else many or f'{one}s'}"


def cell(number: int) -> Text:
    return Text(f"{number:,}", justify="right")
