"""Rules from a TOML file. Whatever is wrong with it is told at once: the rule, the line, and what to write instead."""

import tomllib
from collections.abc import Iterator
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any, Final

from detent.errors import InvalidArgument, PolicyError, shown
from detent.runtime.gate.matching import Match
from detent.runtime.gate.places import Places
from detent.runtime.gate.reading import READERS, check_name_of_rule
from detent.runtime.gate.rules import DEFAULT_RULE, Rule, Rules
from detent.runtime.gate.verdicts import WORDS, Verdict

RULES_MAX: Final = 1_000
BYTES_MAX: Final = 1_000_000
TOP_KEYS: Final = ("default", "rule")
VERDICT_KEYS: Final = ("delay_s", "rate_max", "per_s", "verdict")
KEYS: Final = ("name", *READERS, *VERDICT_KEYS)


def read_rules(path: str | PathLike[str]) -> Rules:
    """The rules in a file. Raises `PolicyError`: `policy_unreachable` if it cannot be read, else `bad_rules`."""
    return rules_from_toml(read_text(path), f"'{path}'")


def read_text(path: str | PathLike[str]) -> str:
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        message = (
            f"the rules in '{path}' cannot be read: {error.strerror or error}; give a file that this program may read"
        )
        raise PolicyError(message, code="policy_unreachable") from error
    if len(content) > BYTES_MAX:
        raise PolicyError.of_rules(f"'{path}'", [f"it has {len(content):,} bytes; rules have at most {BYTES_MAX:,}"])
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise PolicyError.of_rules(f"'{path}'", ["it is not text in UTF-8; save it as UTF-8"]) from error


def rules_from_toml(text: str, where: str = "the text") -> Rules:
    """The rules that the text declares, in its order."""
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as wrong:
        raise PolicyError.of_rules(where, [f"this is not TOML: {wrong}; mend it there"]) from wrong
    return _Reader(data, Places(text)).rules(where)


class _Reader:
    """Goes through a file's content, and notes all that is wrong on the way."""

    def __init__(self, data: dict[str, Any], places: Places) -> None:
        self._data = data
        self._places = places
        self._problems: list[str] = []

    def rules(self, where: str) -> Rules:
        self._check_keys(self._data, TOP_KEYS, "the file")
        default = self._default()
        rules = [self._rule(number, row) for number, row in enumerate(self._rows())]
        self._check_names(rules)
        if self._problems:
            raise PolicyError.of_rules(where, self._problems)
        return Rules(tuple(rule for rule in rules if rule is not None), default)

    def _default(self) -> Verdict:
        word = self._data.get("default", "allow")
        if word not in WORDS or word == "throttle":
            self._problems.append(f"{self._places.top('default')}default is {shown(word)}; give allow, deny or hold")
            word = "hold"
        return Verdict(word, DEFAULT_RULE)

    def _rows(self) -> list[Any]:
        rows = self._data.get("rule", [])
        if not isinstance(rows, list):
            self._problems.append("rule is no list of tables; begin each rule with [[rule]]")
            return []
        if len(rows) > RULES_MAX:
            self._problems.append(f"there are {len(rows):,} rules; a file has at most {RULES_MAX:,}")
        return rows[:RULES_MAX]

    def _rule(self, number: int, row: Any) -> Rule | None:
        name = row.get("name") if isinstance(row, dict) else None
        called = f"rule '{name}'" if isinstance(name, str) else f"rule {number + 1}"
        if not isinstance(row, dict):
            self._problems.append(f"{called} is {shown(row)}; begin it with [[rule]]")
            return None
        before = len(self._problems)
        self._problems += [f"{self._places.of(number, key)}{called}: {wrong}" for key, wrong in _wrong_with(row)]
        if len(self._problems) > before:
            return None
        match = Match(**{key: READERS[key](row[key]) for key in READERS if key in row})
        verdict = Verdict(**{key: row[key] for key in VERDICT_KEYS if key in row})
        return Rule(row["name"], match, verdict, self._places.line(number))

    def _check_keys(self, row: dict[str, Any], known: tuple[str, ...], what: str) -> None:
        self._problems += [f"{self._places.top(key)}{wrong}" for key, wrong in _unknown(row, known, what)]

    def _check_names(self, rules: list[Rule | None]) -> None:
        """The record names a rule, so a name must mean one."""
        seen: dict[str, Rule] = {}
        for rule in rules:
            if rule is None:
                continue
            other = seen.setdefault(rule.name, rule)
            if other is not rule:
                where = "" if other.line is None else f", the first at line {other.line}"
                self._problems.append(f"two rules are called '{rule.name}'{where}; give one of them another name")


def _wrong_with(row: dict[str, Any]) -> Iterator[tuple[str | None, str]]:
    """What is wrong with a rule, each with the key where it stands."""
    yield from _unknown(row, KEYS, "a rule")
    for key, check in (("name", check_name_of_rule), *READERS.items()):
        if key not in row and key != "name":
            continue
        try:
            check(row.get(key))
        except InvalidArgument as wrong:
            yield (key if key in row else None), str(wrong)
    if "verdict" not in row:
        yield None, f"it has no verdict; add one of {', '.join(WORDS)}"
        return
    try:
        Verdict(**{key: row[key] for key in VERDICT_KEYS if key in row})
    except InvalidArgument as wrong:
        yield next((key for key in VERDICT_KEYS if key in row and key in str(wrong)), "verdict"), str(wrong)


def _unknown(row: dict[str, Any], known: tuple[str, ...], what: str) -> Iterator[tuple[str, str]]:
    for key in row:
        if key not in known:
            close = get_close_matches(key, known, n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"there are {', '.join(known)}"
            yield key, f"{what} has no key '{key}'; {hint}"
