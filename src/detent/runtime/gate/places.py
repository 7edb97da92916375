"""Where in the text of a rules file something stands. TOML's reader does not tell, and people want the line."""

import re
from typing import Final

_RULE: Final = re.compile(r"\s*\[\[\s*rule\s*\]\]")
_KEY: Final = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*[=.]""")


class Places:
    """Rules that are written in another way than under `[[rule]]` have no line; then there is none."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()
        self._rules = [number for number, line in enumerate(self._lines) if _RULE.match(line)]

    def line(self, rule: int) -> int | None:
        """Of the first line of that rule, counted as people count."""
        return self._rules[rule] + 1 if rule < len(self._rules) else None

    def of(self, rule: int, key: str | None) -> str:
        """`line 7: `, of a key of a rule, or else of the rule."""
        if rule >= len(self._rules):
            return ""
        first = self._rules[rule]
        last = self._rules[rule + 1] if rule + 1 < len(self._rules) else len(self._lines)
        return _told(self._find(key, first + 1, last), first)

    def top(self, key: str) -> str:
        return _told(self._find(key, 0, self._rules[0] if self._rules else len(self._lines)), None)

    def _find(self, key: str | None, first: int, last: int) -> int | None:
        for number in range(first, last):
            found = _KEY.match(self._lines[number])
            if found is not None and key is not None and key in found.groups():
                return number
        return None


def _told(number: int | None, otherwise: int | None) -> str:
    known = otherwise if number is None else number
    return "" if known is None else f"line {known + 1}: "
