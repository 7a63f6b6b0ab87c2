"""A filled-in instance of any of our message types, the same every time."""

import enum
from typing import Any, TypeVar

import msgspec
from msgspec import inspect as kinds

T = TypeVar("T", bound=msgspec.Struct)

_PLAIN: dict[type, Any] = {
    kinds.StrType: "text",
    kinds.IntType: 7,
    kinds.FloatType: 0.5,
    kinds.BoolType: True,
    kinds.BytesType: b"\x00bytes\xff",
    kinds.NoneType: None,
    kinds.AnyType: None,
    kinds.RawType: msgspec.Raw(b'{"type":"warning","what":"w","detail":"d"}'),
}


def sample(kind: type[T]) -> T:
    """An instance in which every field is set."""
    value = _value(kinds.type_info(kind))
    assert isinstance(value, kind)
    return value


def _value(info: kinds.Type) -> Any:  # noqa: PLR0911 - one line a kind
    if isinstance(info, kinds.StructType):
        return info.cls(**{field.name: _value(field.type) for field in info.fields})
    if isinstance(info, kinds.UnionType):
        known = [member for member in info.types if not isinstance(member, kinds.NoneType)]
        return _value(known[0])
    if isinstance(info, kinds.EnumType):
        first: enum.Enum = next(iter(info.cls))
        return first
    if isinstance(info, kinds.VarTupleType):
        return (_value(info.item_type),)
    if isinstance(info, kinds.ListType):
        return [_value(info.item_type)]
    if isinstance(info, kinds.DictType):
        return {"key": _value(info.value_type)}
    return _PLAIN[type(info)]
