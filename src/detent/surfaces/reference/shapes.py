"""Shapes of JSON for a reader: a table of fields for each struct, with the structs that are in it."""

import inspect
from collections import Counter
from collections.abc import Iterable, Iterator
from types import UnionType
from typing import Any, Final, get_args

import msgspec
from msgspec import NODEFAULT, Struct
from msgspec import inspect as kinds

from detent.surfaces.reference.markdown import code, table

_PLAIN: Final[dict[type[kinds.Type], str]] = {
    kinds.NoneType: "null",
    kinds.BoolType: "boolean",
    kinds.IntType: "integer",
    kinds.FloatType: "number",
    kinds.StrType: "string",
    kinds.DateTimeType: "time",
    kinds.AnyType: "any JSON",
}


class Shapes:
    """All that a page speaks of, so that two structs of one name can be told apart."""

    def __init__(self, shapes: Iterable[object]) -> None:
        self.titles = _titles(structs_of(shapes))

    def name(self, shape: object) -> str:
        """What a shape is called, with links to the structs that it is made of."""
        return ", or ".join(self._name(kinds.type_info(each)) for each in _alternatives(shape))

    def parts(self) -> Iterator[str]:
        """For each struct its title, what its author says of it, and its fields."""
        for struct, title in self.titles.items():
            said = [inspect.cleandoc(struct.__doc__)] if struct.__doc__ else []
            yield "\n\n".join([f"### {title}", *said, self._fields(struct)])

    def _fields(self, struct: type[Struct]) -> str:
        info = kinds.type_info(struct)
        assert isinstance(info, kinds.StructType), "a struct is one"
        columns = [("field", [code(each.encode_name) for each in info.fields])]
        columns.append(("type", [self._name(each.type) for each in info.fields]))
        if struct.__struct_config__.omit_defaults:
            columns.append(("may be left out if", [_default(each) for each in info.fields]))
        return table([heading for heading, _ in columns], zip(*(cells for _, cells in columns), strict=True))

    def _name(self, kind: kinds.Type) -> str:
        match kind:
            case kinds.StructType():
                title = self.titles[kind.cls]
                return f"[{title}](#{title.lower().replace('.', '')})"
            case kinds.UnionType():
                return " or ".join(map(self._name, kind.types))
            case kinds.LiteralType():
                return " or ".join(code(str(value)) for value in kind.values)
            case kinds.ListType() | kinds.VarTupleType():
                return f"list of {self._name(kind.item_type)}"
            case kinds.DictType():
                return f"object of {self._name(kind.value_type)}"
            case _:
                return _PLAIN[type(kind)]


def structs_of(shapes: Iterable[object]) -> list[type[Struct]]:
    """Every struct in these shapes, each once, those that hold others before them."""
    found: dict[type[Struct], None] = {}
    for shape in shapes:
        for each in _alternatives(shape):
            _collect(kinds.type_info(each), found)
    return list(found)


def _titles(structs: list[type[Struct]]) -> dict[type[Struct], str]:
    """The name alone; where several have it, with the module's."""
    counts = Counter(struct.__name__ for struct in structs)
    homes = {struct: struct.__module__.rpartition(".")[2] for struct in structs}
    return {each: each.__name__ if counts[each.__name__] == 1 else f"{homes[each]}.{each.__name__}" for each in structs}


def _alternatives(shape: object) -> tuple[object, ...]:
    """msgspec takes no union of structs that have no tag: nobody reads these back, they are only written."""
    return get_args(shape) if isinstance(shape, UnionType) else (shape,)


def _collect(kind: kinds.Type, found: dict[type[Struct], None]) -> None:
    if isinstance(kind, kinds.StructType):
        if kind.cls in found:
            return
        found[kind.cls] = None
    for part in _parts(kind):
        _collect(part, found)


def _parts(kind: kinds.Type) -> Iterator[kinds.Type]:
    match kind:
        case kinds.StructType():
            yield from (each.type for each in kind.fields)
        case kinds.UnionType():
            yield from kind.types
        case kinds.ListType() | kinds.VarTupleType():
            yield kind.item_type
        case kinds.DictType():
            yield kind.value_type


def _default(field: kinds.Field) -> str:
    if field.required:
        return ""
    default: Any = field.default_factory() if field.default is NODEFAULT else field.default
    return "it is all defaults" if isinstance(default, Struct) else code(msgspec.json.encode(default).decode())
