"""Signatures and types as a reader wants them: no modules, one argument a line where they are many."""

import inspect
import re
from collections.abc import Callable
from typing import Any, Final, get_args, get_origin

WIDTH: Final = 100
_MODULES: Final = re.compile(r"\b(?:[a-z_]\w*\.)+(?=[A-Za-z_])")


def type_name(annotation: object) -> str:
    """`collections.abc.Sequence[str]` as `Sequence[str]`, a TypedDict of keywords as its name."""
    if annotation in (None, type(None)):
        return "None"
    if get_origin(annotation) is None and isinstance(annotation, type):
        return annotation.__name__
    return _MODULES.sub("", str(annotation)).replace("~", "").replace("NoneType", "None")


def signature(name: str, method: Callable[..., Any]) -> str:
    """As it is called, `self` left out."""
    told = inspect.signature(method)
    parts = _parts([each for each in told.parameters.values() if each.name != "self"])
    answer = "" if told.return_annotation is inspect.Parameter.empty else f" -> {type_name(told.return_annotation)}"
    flat = f"{name}({', '.join(parts)}){answer}"
    if len(flat) <= WIDTH:
        return flat
    return f"{name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){answer}"


def _parts(parameters: list[inspect.Parameter]) -> list[str]:
    parts: list[str] = []
    for parameter in parameters:
        is_first_keyword = parameter.kind is inspect.Parameter.KEYWORD_ONLY and not any(
            part.startswith("*") for part in parts
        )
        parts += ["*"] if is_first_keyword else []
        parts.append(_part(parameter))
    return parts


def _part(parameter: inspect.Parameter) -> str:
    if parameter.kind is inspect.Parameter.VAR_KEYWORD:
        (of,) = get_args(parameter.annotation) or (parameter.annotation,)
        return f"**{parameter.name}: {type_name(of)}"
    text = f"{parameter.name}: {type_name(parameter.annotation)}"
    if parameter.default is inspect.Parameter.empty:
        return text
    return f"{text} = {'…' if callable(parameter.default) else repr(parameter.default)}"
