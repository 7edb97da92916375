"""What each key of a rule may hold, and how it is read. Each reader raises with what to write instead."""

from collections.abc import Callable
from typing import Any, Final

from detent.errors import InvalidArgument, shown
from detent.kernel.parse import PRIORITY_MAX
from detent.lifecycle.bounds import check_name, check_whole
from detent.wire.dispatch import PRIORITIES

VALUES_MAX: Final = 1_000


def check_name_of_rule(value: Any) -> None:
    if value is None:
        raise InvalidArgument("it has no name; give it one, which goes on the record with each of its verdicts")
    if not isinstance(value, str):
        raise InvalidArgument(f"name is {shown(value)}; give text")
    check_name("name", value)


def _listed(key: str, value: Any) -> list[Any]:
    listed = value if isinstance(value, list) else [value]
    if not 1 <= len(listed) <= VALUES_MAX:
        raise InvalidArgument(f"{key} lists {len(listed):,} values; give 1 to {VALUES_MAX:,}, or leave the key out")
    return listed


def _texts(key: str) -> Callable[[Any], tuple[str, ...]]:
    def read(value: Any) -> tuple[str, ...]:
        for each in _listed(key, value):
            if not isinstance(each, str) or not each:
                raise InvalidArgument(f"{key} is {shown(each)}; give text, or a list of texts")
        return tuple(_listed(key, value))

    return read


def _topics(value: Any) -> tuple[str, ...]:
    topics = _texts("topic")(value)
    for topic in topics:
        words = topic.split(".")
        if "" in words or ">" in words[:-1] or any(len(word) > 1 and ("*" in word or ">" in word) for word in words):
            how = "words between dots, where * stands for one whole word, and a last > for the rest: job.chat.*"
            raise InvalidArgument(f"topic is {shown(topic)}; give {how}")
    return topics


def _priority(key: str, value: Any) -> int:
    if isinstance(value, str):
        number = {str(name): number for name, number in PRIORITIES.items()}.get(value)
        if number is None:
            raise InvalidArgument(f"{key} is {shown(value)}; give a number, or one of {', '.join(PRIORITIES)}")
        return number
    return check_whole(key, value, least=-PRIORITY_MAX, most=PRIORITY_MAX)


def _env(value: Any) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise InvalidArgument(f'env is {shown(value)}; give keys with their values: env = {{ region = "eu" }}')
    return {key: _texts(f"env.{key}")(each) for key, each in value.items()}


READERS: Final[dict[str, Callable[[Any], Any]]] = {
    **{key: _texts(key) for key in ("tenant", "kind", "queue", "adapter_id")},
    "topic": _topics,
    "priority": lambda value: tuple(_priority("priority", each) for each in _listed("priority", value)),
    "priority_min": lambda value: _priority("priority_min", value),
    "priority_max": lambda value: _priority("priority_max", value),
    "env": _env,
}
