"""Immutable values: the same as `dataclass(frozen=True, slots=True)`, at a fraction of the cost.

One rule for all records: a `value`, or `mutable` while it is being built; a `NamedTuple` for a row that is also read by
position; a dataclass only in `formats`, which `import bough` does not load.

A frozen dataclass sets every field through `object.__setattr__`, which triples the cost of an instance; loading a path
makes three for every message. The `dataclasses` module and the code it generates take half the time that `import bough`
may take (docs/decisions/0008). Here a value is filled as an instance of a mutable twin with the same slots, and its
`__class__` is then set to the immutable one.

The standard library treats a value as a frozen dataclass: `dataclasses.fields`, `asdict` and `replace` work, and
`copy.replace` of Python 3.13. Pydantic accepts an instance as a field, and writes it as `asdict` does.

One field of a class may be `lazy`: computed at its first use (docs/decisions/0017). Its slot is empty until then, so
that a filled one is read at full speed.
"""

from __future__ import annotations

from binascii import b2a_base64
from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, dataclass_transform

T = TypeVar("T")


class Unset:
    """The type of `UNSET`: a parameter that was not given, where None has a meaning."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNSET"


UNSET = Unset()

_NEW = """
def __new__({signature}):
    made = twin()
    {fill}
    made.__class__ = cls
    {check}
    return made
"""


@dataclass_transform(frozen_default=True)
def value(cls: type[T]) -> type[T]:
    """Turns a class of annotated fields into one of immutable values. `__post_init__` may refuse a value."""
    dataclass: dict[str, Any] = {
        "__dataclass_fields__": _OfDataclass(),
        "__dataclass_params__": _OfDataclass(),
        "__replace__": replace,
    }
    pydantic: dict[str, Any] = {"__get_pydantic_core_schema__": classmethod(_core_schema)}
    return _build(cls, {"__setattr__": _refuse, "__delattr__": _refuse, **dataclass, **pydantic})


@dataclass_transform()
def mutable(cls: type[T]) -> type[T]:
    """Like `value`, with fields that can be assigned and without a hash."""
    return _build(cls, {"__hash__": None})


def replace(original: T, /, **changes: Any) -> T:
    """A copy of a value with some fields changed. Raises `TypeError` for a field that it does not have."""
    fields: tuple[str, ...] = original.__match_args__  # type: ignore[attr-defined]
    return type(original)(**{name: getattr(original, name) for name in fields} | changes)


def asdict(value: Any) -> Any:
    """A value as JSON: an object of its fields, also inside lists and other values; bytes are base64.

    A block has its `type`, as in the format `bough.jsonl`. Works as `default=` of `json.dumps`.
    """
    if fields := getattr(type(value), "__match_args__", None):
        found = {name: asdict(getattr(value, name)) for name in fields}
        if tag := getattr(type(value), "tag", None):
            found = {"type": tag} | {"of" if name == "type" else name: item for name, item in found.items()}
        return found
    if isinstance(value, Mapping):
        return {key: asdict(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [asdict(item) for item in value]
    return b2a_base64(value, newline=False).decode() if isinstance(value, bytes) else value


class _OfDataclass:
    """An attribute that the standard library reads from dataclasses, made when it is first read."""

    def __set_name__(self, _: type, name: str) -> None:
        self.name = name

    def __get__(self, _: object, cls: type[Any]) -> Any:
        from dataclasses import field, make_dataclass

        fields = []
        for name in cls.__match_args__:
            default = {"default": cls._defaults[name]} if name in cls._defaults else {}
            fields.append((name, cls.__annotations__[name], field(**default)))
        found = getattr(make_dataclass(cls.__name__, fields, frozen=True), self.name)
        setattr(cls, self.name, found)
        return found


def _core_schema(cls: type, *_: Any) -> Any:
    """What pydantic asks for: an instance of the class, written as `asdict` does."""
    from pydantic_core import core_schema

    written = core_schema.plain_serializer_function_ser_schema(asdict, return_schema=core_schema.dict_schema())
    return core_schema.json_or_python_schema(
        core_schema.dict_schema(), core_schema.is_instance_schema(cls), serialization=written
    )


def _build(cls: type[T], own: dict[str, Any]) -> type[T]:
    names = tuple(cls.__annotations__)
    inherited = {key: item for key, item in vars(cls).items() if key not in (*names, "__dict__", "__weakref__")}
    defaults = {name: vars(cls)[name] for name in names if name in vars(cls)}

    def __new__(_: type[T], *given: Any, **named: Any) -> T:
        return maker(made)(made, *given, **named)  # type: ignore[no-any-return]

    about = {"__slots__": names, "__match_args__": names, "__new__": __new__, "__repr__": _repr}
    about |= {"_maker": None, "_lazy_maker": None, "_defaults": defaults}
    if "lazy" in inherited:
        about["__slots__"] = *names, "_source"
    made: type[T] = type(cls.__name__, cls.__bases__, {**about, **_comparisons(names), **own, **inherited})
    if "lazy" in inherited:
        made.__getattr__ = _lazy_getattr(made)  # type: ignore[attr-defined]
    return made


def maker(cls: type[Any]) -> Callable[..., Any]:
    """The constructor of a class, compiled at its first use: a program makes values of few classes."""
    if cls._maker is None:  # two threads may both compile it; the results are the same
        cls._maker = cls.__new__ = _compile(cls, cls.__match_args__)
    return cls._maker  # type: ignore[no-any-return]


def lazy_maker(cls: type[Any]) -> Callable[..., Any]:
    """Like `maker`, with a tuple of a function and its arguments in place of the lazy field."""
    if cls._lazy_maker is None:
        cls._lazy_maker = _compile(cls, tuple("_source" if name == cls.lazy else name for name in cls.__match_args__))
    return cls._lazy_maker  # type: ignore[no-any-return]


def _compile(cls: type[Any], names: tuple[str, ...]) -> Callable[..., Any]:
    defaults = cls._defaults
    if getattr(cls, "lazy", None) in defaults:
        defaults = {**defaults, "_source": None}  # it stands between fields with defaults
    parameters = [f"{name}=_{name}" if name in defaults else name for name in names]
    source = _NEW.format(
        signature=", ".join(["cls", *parameters]),
        fill="; ".join(f"made.{name} = {name}" for name in names),
        check="made.__post_init__()" if "__post_init__" in vars(cls) else "",
    )
    scope: dict[str, Any] = {"twin": type(cls.__name__, (), {"__slots__": cls.__slots__})}
    scope |= {f"_{name}": default for name, default in defaults.items()}
    exec(source, scope)
    return scope["__new__"]  # type: ignore[no-any-return]


def _lazy_getattr(cls: type[Any]) -> Callable[[Any, str], Any]:
    field, slot = cls.lazy, getattr(cls, cls.lazy)
    fill, forget = slot.__set__, cls._source.__set__

    def __getattr__(self: Any, name: str) -> Any:
        """Called for an empty slot: computes the lazy field."""
        if name != field:
            raise AttributeError(f"{cls.__name__} has no {name!r}.")
        if (source := self._source) is None:  # another thread has just filled it
            return slot.__get__(self)
        computed = source[0](*source[1:])
        fill(self, computed)
        forget(self, None)
        return computed

    return __getattr__


def _comparisons(names: tuple[str, ...]) -> dict[str, Callable[..., Any]]:
    fields = attrgetter("__class__", *names)

    def __eq__(self: Any, other: object) -> Any:
        return fields(self) == fields(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: Any) -> int:
        return hash(fields(self))

    def __reduce__(self: Any) -> tuple[Any, ...]:
        cls, *values = fields(self)
        return cls, tuple(values)

    return {"__eq__": __eq__, "__hash__": __hash__, "__reduce__": __reduce__}


def _repr(self: Any) -> str:
    fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.__match_args__)
    return f"{type(self).__qualname__}({fields})"


def _refuse(self: Any, name: str, *_: Any) -> NoReturn:
    raise AttributeError(f"{type(self).__name__} is immutable; {name!r} cannot be changed. Make another one.")
