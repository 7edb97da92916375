"""What must not be seen in a log or on a screen: values by the names of their fields, and secrets in the midst of text.

Nothing here changes what it is given, or what is kept: only what is shown of it.
"""

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct

REDACTED: Final = "[redacted]"
TOO_MUCH: Final = "[…]"
DEPTH_MAX: Final = 32
VALUES_MAX: Final = 100_000
NAMES: Final = (
    "*password", "passwd", "pwd", "*passphrase", "secret", "token", "*authorization", "*api_key", "apikey",
    "*access_key", "*private_key", "cookie", "set_cookie", "session", "session_id", "credentials",
    "*_secret", "*_token",
)  # fmt: skip

_HUMP: Final = re.compile("(?<=[a-z0-9])(?=[A-Z])")
VALUE_CHARS_MAX: Final = 1_000_000  # of one value that is hidden; no key or certificate is longer
_MANY: Final = f"{{0,{VALUE_CHARS_MAX}}}"
_WORD: Final = rf"""[^\s,;&}}\])"'\[{{][^\s,;&}}\])"']{_MANY}"""
# Every repetition is bounded: whoever wrote the text must not decide how long it is looked at.
_PASSWORD_IN_URL: Final = re.compile(r"(://[^\s/:@]{0,256}:)[^\s/]{1,1024}@")
_BEARER: Final = re.compile(r"\b(bearer)\s{1,8}[\w.~+/=-]{1,4096}", re.IGNORECASE)
_OWN_TOKEN: Final = re.compile(r"\bdt_[A-Za-z0-9-]{1,64}_[\w-]{4,512}")
# The end may be missing, where a text was cut short. A list or an object is hidden up to the first end in it.
_VALUE: Final = (
    rf"""\\"[^"\\]{_MANY}(?:\\")?|"[^"\\]{_MANY}(?:\\[\s\S][^"\\]{_MANY}){_MANY}"?|"""
    rf"""'[^'\\]{_MANY}(?:\\[\s\S][^'\\]{_MANY}){_MANY}'?|[\[{{][^\]}}]{_MANY}[\]}}]?|"""
    rf"""(?:(?:basic|bearer|digest)\s{{1,8}})?{_WORD}(?:;\s{{0,8}}{_WORD})*"""
)


class Redaction(Struct, frozen=True):
    """Which fields are not shown, by name. `Api-Key` and `apiKey` are `api_key`, and `*` stands for anything."""

    fields: tuple[str, ...] = NAMES

    @staticmethod
    def of(more: str | None) -> "Redaction":
        """The usual names and these, with commas between them."""
        given = (name.strip() for name in (more or "").split(","))
        return Redaction((*NAMES, *(_plain(name) for name in given if name)))

    def hides(self, field: object) -> bool:
        return _pattern(self.fields).fullmatch(_plain(str(field)[:256])) is not None


def redacted(value: Any, rules: Redaction) -> Any:
    """The same, without what must not be seen: mappings and lists as copies, to a bounded depth and size."""
    return _Walk(rules).of(value, 0)


def redacted_text(text: str, rules: Redaction) -> str:
    """Without what stands after a name that is hidden, passwords in addresses, bearers' tokens and Detent's own."""
    text = _assignment(rules.fields).sub(rf"\g<name>{REDACTED}", text)
    text = _PASSWORD_IN_URL.sub(rf"\1{REDACTED}@", text)
    text = _BEARER.sub(rf"\1 {REDACTED}", text)
    return _OWN_TOKEN.sub(f"dt_{REDACTED}", text)


class _Walk:
    def __init__(self, rules: Redaction) -> None:
        self._rules = rules
        self._left = VALUES_MAX

    def of(self, value: Any, depth: int) -> Any:
        self._left -= 1
        if isinstance(value, str):
            return redacted_text(value, self._rules)
        if not isinstance(value, Mapping | list | tuple | set | frozenset):
            return value
        if depth >= DEPTH_MAX or self._left <= 0:
            return TOO_MUCH
        if isinstance(value, Mapping):
            return {key: self._shown(key, each, depth) for key, each in value.items() if self._left > 0}
        return self._listed(value, depth)

    def _shown(self, key: object, value: Any, depth: int) -> Any:
        return REDACTED if self._rules.hides(key) else self.of(value, depth + 1)

    def _listed(self, values: Iterable[Any], depth: int) -> list[Any]:
        return [self.of(each, depth + 1) for each in values if self._left > 0]


def _plain(name: str) -> str:
    return _HUMP.sub("_", name).lower().replace("-", "_")


@lru_cache(64)
def _pattern(fields: tuple[str, ...]) -> "re.Pattern[str]":
    return re.compile("|".join(re.escape(field).replace(r"\*", ".*") for field in fields), re.DOTALL)


@lru_cache(64)
def _assignment(fields: tuple[str, ...]) -> "re.Pattern[str]":
    """A name, `:` or `=`, and a value: as in a query, a header, JSON, or a dict of Python's."""
    names = "|".join(re.escape(field).replace(r"\*", r"[\w-]{0,64}").replace("_", "[_-]?") for field in fields)
    quoted = rf"""(?<![\w-])(?P<name>(?P<quote>\\?["']?)(?:{names})(?P=quote)\s{{0,8}}[:=]\s{{0,8}})"""
    return re.compile(f"{quoted}(?:{_VALUE})", re.IGNORECASE)
